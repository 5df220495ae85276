// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.LifeSigns;
import io.manifestcommitter.jobs.LifeSigns.Pause;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.jobs.Recovery.Outcome;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.progress.CommitProgress.Waiting;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.Stores;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** What {@code manifest-committer recover} does. */
public final class Recoveries {
  /** Where a recovery of a dead driver's job may lead; a held job has others. */
  public static final List<Direction> OF_DEAD = List.of(Direction.AS_MARKED, Direction.COMPLETE);

  private Recoveries() {}

  /** With the settings of a job; by force, nobody is taken for alive. */
  public static Recovery of(Configuration conf, boolean force) {
    return of(new Stores(conf).all(), new CommitterConfig(conf), force);
  }

  /** As above, in a store. */
  public static Recovery of(Store store, CommitterConfig config, boolean force) {
    return of(store, config, force, new PassingTime());
  }

  /** As above, and while it watches something else happens. */
  public static Recovery of(Store store, CommitterConfig config, boolean force, Pause pause) {
    return new Recovery(
        store, config, new LifeSigns(store, config, pause::nanos), pause, force, counted -> {});
  }

  /** Recovers all that is unfinished in a table; how each ended. */
  public static List<Outcome> all(Recovery recovery, Path table, Recovery.Direction to)
      throws IOException {
    List<Outcome> outcomes = new ArrayList<>();
    for (StagingRoot root : recovery.find(table)) {
      outcomes.add(recovery.run(root, to));
    }
    return outcomes;
  }

  /** Settings of a program that does not watch for long whether a heartbeat stands still. */
  public static Configuration watchingBriefly(Configuration conf) {
    Configuration brief = new Configuration(conf);
    brief.set(CommitterConfig.HEARTBEAT_INTERVAL, "20ms");
    brief.set(CommitterConfig.HEARTBEAT_TIMEOUT, "60ms");
    return brief;
  }

  /** A process whose clock goes on by two seconds with each wait, or another time, and else not. */
  public static final class PassingTime implements Pause {
    private static final int STEP = 2;

    private final Pause meanwhile;
    private final long step;
    private long nanos;

    /**
     * A clock.
     *
     * @param meanwhile what happens while the process waits
     */
    public PassingTime(Pause meanwhile) {
      this(meanwhile, STEP);
    }

    /** As above, by so many seconds. */
    public PassingTime(Pause meanwhile, int step) {
      this.meanwhile = meanwhile;
      this.step = TimeUnit.SECONDS.toNanos(step);
    }

    /** A clock, while which nothing happens. */
    public PassingTime() {
      this(waiting -> {});
    }

    @Override
    public void pause(Waiting forWhat) throws IOException {
      meanwhile.pause(forWhat);
      nanos += step;
    }

    @Override
    public long nanos() {
      return nanos;
    }
  }
}
