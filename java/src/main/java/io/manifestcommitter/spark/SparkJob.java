// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.CommitWork;
import io.manifestcommitter.commit.JobDescription;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.spark.TableRoot.JobStaging;
import io.manifestcommitter.spark.TableRoot.TableFile;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.Store;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver's side of one write: sets the staging directory up, commits or aborts. The Spark
 * protocol's class is the adapter in front of it.
 */
final class SparkJob extends WriteJob {
  private static final Logger LOG = LoggerFactory.getLogger(SparkJob.class);

  private final TableFile file;

  /** The messages of attempts that have committed. */
  private final List<Object> committed = new ArrayList<>();

  private JobStaging staging;
  private Optional<CommitSparkJob> commit = Optional.empty();

  SparkJob(WriteRequest write, RequestGate gate) {
    super(write, gate, StatisticNames.JOB_STAGE_SEAL_OUTPUT);
    this.file = new TableFile(write);
  }

  /** Makes the staging directory: see {@link SetUpSparkJob}. */
  @Override
  void setUp(CommitProgress progress) throws IOException {
    staging = new SetUpSparkJob(write, file, progress).run();
  }

  @Override
  boolean madeTable() {
    return staging.isNewTable();
  }

  @Override
  void taskCommitted(Object message) {
    committed.add(message);
  }

  @Override
  void commit(List<?> messages, Workers workers, StatisticsRecorder statistics) throws IOException {
    // Not every writer has told of each before.
    committed.clear();
    committed.addAll(messages);
    try {
      Store guarded = staging.heartbeat.guard(write.store);
      JobDescription job = write.description(staging.root, staging.isNewTable(), Map.of());
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
      cleanUp(workers).afterAbort(commit, commitTried(), committed);
    } else if (ending() == Ending.HELD) {
      staging.heartbeat.close();
      cleanUp(workers).giveUp(commit);
    } else {
      cleanUp(workers).afterCommit(commit.get());
    }
  }

  @Override
  Ending ending() {
    return commit.map(CommitSparkJob::ending).orElse(Ending.NOTHING_VISIBLE);
  }

  private CleanUpSparkJob cleanUp(Workers workers) {
    return new CleanUpSparkJob(write, staging, file, workers);
  }

  /** Removes the staging directory and a table directory that only this job made. */
  @Override
  void abort() {
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
        cleanUp(write.workers()).afterAbort(commit, commitTried(), committed);
    }
  }
}
