// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.lakefs.LakefsUpload;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.progress.CommitSnapshot;
import io.manifestcommitter.store.RequestGate;
import java.io.IOException;
import java.util.List;

/** The driver's side of one write, behind the class that Spark calls. */
abstract class WriteJob {
  final WriteRequest write;
  private final RequestGate gate;
  private final String firstStage;

  /** How tasks upload to lakeFS, once the job is set up; null where the store is another one. */
  LakefsUpload.Way lakefsWay;

  private boolean isSetUp;
  private boolean commitTried;

  /**
   * A write that is not begun.
   *
   * @param firstStage of its commit
   */
  WriteJob(WriteRequest write, RequestGate gate, String firstStage) {
    this.write = write;
    this.gate = gate;
    this.firstStage = firstStage;
  }

  /** Makes what tasks write to. If that fails it leaves nothing. */
  final void setUp() throws IOException {
    StatisticsRecorder statistics = new StatisticsRecorder();
    CommitProgress progress =
        write.begin(gate, CommitSnapshot.Kind.SETUP, StatisticNames.JOB_STAGE_SETUP, statistics);
    progress.run(() -> setUp(progress));
    isSetUp = true;
  }

  /**
   * Publishes what the messages name, or nothing.
   *
   * @param messages the commit messages of the attempts that Spark says committed
   */
  final void commit(List<?> messages) throws IOException {
    if (!isSetUp || commitTried) {
      throw new IllegalStateException(
          "Job "
              + write.jobId
              + (isSetUp ? " was committed, or tried to, before" : " was not set up"));
    }
    commitTried = true;
    StatisticsRecorder statistics = new StatisticsRecorder();
    CommitProgress progress = write.begin(gate, CommitSnapshot.Kind.COMMIT, firstStage, statistics);
    progress.run(() -> commit(messages, write.workers(progress), statistics));
  }

  final boolean commitTried() {
    return commitTried;
  }

  /** Whether it has committed, and nothing is visible before somebody publishes it. */
  final boolean isHeld() {
    return ending() == Ending.HELD;
  }

  /** Whether there was no table before; known from {@link #setUp} on. */
  abstract boolean madeTable();

  /**
   * Notes that Spark says an attempt has committed: if the job is aborted, its uploads are aborted.
   *
   * @param message its commit message
   */
  abstract void taskCommitted(Object message);

  /** Removes what the job made, unless it committed. Never throws: Spark would lose the cause. */
  abstract void abort();

  abstract void setUp(CommitProgress progress) throws IOException;

  abstract void commit(List<?> messages, Workers workers, StatisticsRecorder statistics)
      throws IOException;

  abstract Ending ending();
}
