// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.CommitWork;
import io.manifestcommitter.commit.JobDescription;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.progress.CommitSnapshot;
import io.manifestcommitter.spark.TableRoot.JobStaging;
import io.manifestcommitter.spark.TableRoot.TableFile;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.Store;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver's side of one write: sets the staging directory up, commits or aborts. The Spark
 * protocol's class is the adapter in front of it.
 */
final class SparkJob implements WriteJob {
  private static final Logger LOG = LoggerFactory.getLogger(SparkJob.class);

  private final WriteRequest write;
  private final RequestGate gate;
  private final TableFile file;

  /** The messages of attempts that have committed. */
  private final List<Object> committed = new ArrayList<>();

  private JobStaging staging;
  private Optional<CommitSparkJob> commit = Optional.empty();
  private boolean commitTried;

  SparkJob(WriteRequest write, RequestGate gate) {
    this.write = write;
    this.gate = gate;
    this.file = new TableFile(write);
  }

  /** Makes the staging directory: see {@link SetUpSparkJob}. */
  @Override
  public void setUp() throws IOException {
    StatisticsRecorder statistics = new StatisticsRecorder();
    CommitProgress progress =
        write.begin(gate, CommitSnapshot.Kind.SETUP, StatisticNames.JOB_STAGE_SETUP, statistics);
    progress.run(() -> staging = new SetUpSparkJob(write, file, progress).run());
  }

  @Override
  public boolean madeTable() {
    return staging.isNewTable();
  }

  @Override
  public void taskCommitted(Object message) {
    committed.add(message);
  }

  @Override
  public void commit(List<?> messages) throws IOException {
    if (staging == null || commitTried) {
      throw new IllegalStateException(
          "Job "
              + write.jobId
              + (staging == null ? " was not set up" : " was committed, or tried to, before"));
    }
    commitTried = true;
    // Not every writer has told of each before.
    committed.clear();
    committed.addAll(messages);
    StatisticsRecorder statistics = new StatisticsRecorder();
    CommitProgress progress =
        write.begin(
            gate, CommitSnapshot.Kind.COMMIT, StatisticNames.JOB_STAGE_SEAL_OUTPUT, statistics);
    progress.run(() -> commit(messages, write.workers(progress), statistics));
  }

  private void commit(List<?> messages, Workers workers, StatisticsRecorder statistics)
      throws IOException {
    try {
      Store guarded = staging.heartbeat.guard(write.store);
      JobDescription job = write.description(staging.root, staging.isNewTable());
      CommitWork work = new CommitWork(job, guarded, write.config, workers, statistics);
      commit = Optional.of(new CommitSparkJob(write, staging, work, guarded, workers));
      commit.get().run(messages);
    } catch (IOException | RuntimeException | Error e) {
      if (staging.replacesFile) {
        e.addSuppressed(file.advice());
      }
      staging.heartbeat.close();
      if (ending() == Ending.LEFT_BEHIND) {
        cleanUp(workers).giveUp(commit);
      }
      throw e;
    }
    if (ending() == Ending.SKIPPED) {
      // As an abort does: what fails there is logged, and must not leave a heartbeat behind.
      staging.heartbeat.close();
      cleanUp(workers).afterAbort(commit, commitTried, committed);
    } else if (ending() == Ending.HELD) {
      staging.heartbeat.close();
      cleanUp(workers).giveUp(commit);
    } else {
      cleanUp(workers).afterCommit(commit.get());
    }
  }

  @Override
  public boolean isHeld() {
    return ending() == Ending.HELD;
  }

  private Ending ending() {
    return commit.map(CommitSparkJob::ending).orElse(Ending.NOTHING_VISIBLE);
  }

  private CleanUpSparkJob cleanUp(Workers workers) {
    return new CleanUpSparkJob(write, staging, file, workers);
  }

  /** Removes the staging directory and a table directory that only this job made. */
  @Override
  public void abort() {
    if (staging == null) {
      return;
    }
    staging.heartbeat.close();
    switch (ending()) {
      case COMMITTED:
      case HELD:
      case SKIPPED:
        LOG.warn("Job {} is committed: what failed after its commit does not undo it", write.jobId);
        return;
      case LEFT_BEHIND:
        LOG.error(
            "Job {} could not be rolled back{}",
            write.jobId,
            cleanUp(write.workers()).whatIsKept());
        return;
      case NOTHING_VISIBLE:
        cleanUp(write.workers()).afterAbort(commit, commitTried, committed);
    }
  }
}
