// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.spark.DriverJob;
import io.manifestcommitter.testing.MemoryFileSystem;
import java.io.IOException;
import org.apache.hadoop.fs.Path;

/** A write of the Spark protocol: its setup, its tasks, its commit; or its abort, if that fails. */
final class PairJob extends PairWriter {
  /** In seconds: a few looks are enough to take another one for dead. */
  private static final int STEP = 15;

  private static final String LOST = "injected after initiate ";

  private final CrashStore store;
  private final PairRace race;
  private String unfinishedJobs = "rollback";

  PairJob(CrashStore store, PairWrite write, String name, String jobId, PairRace race) {
    super(name, jobId, write.by(name));
    this.store = store;
    this.race = race;
  }

  /** What it does about unfinished commits of others. */
  PairJob settling(String mode) {
    unfinishedJobs = mode;
    return this;
  }

  @Override
  void act() throws IOException {
    DriverJob job =
        new DriverJob(store, jobId())
            .with(MemoryFileSystem.CLIENT, name())
            .with(CommitterConfig.UNFINISHED_JOBS, unfinishedJobs)
            .with(CommitterConfig.HEARTBEAT_INTERVAL, STEP + "s")
            .waiting(waiting -> race.waits(this))
            .waitingFor(STEP)
            .setUp(write());
    try {
      job.commit();
    } catch (IOException | RuntimeException e) {
      // If it is dead this changes nothing, and ends the heartbeat in this process.
      job.abort();
      if (!race.isDead(this)) {
        String failure = String.valueOf(e.getMessage());
        if (failure.startsWith(LOST)) {
          // Nobody was told the id of this upload; it goes when old uploads are cleaned.
          store.giveUp(new Path(failure.substring(LOST.length())));
        }
      }
      throw e;
    }
  }
}
