// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.Audit;
import io.manifestcommitter.commit.JobDescription;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.LifeSigns;
import io.manifestcommitter.jobs.LifeSigns.Pause;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.store.Store;
import java.util.Map;
import java.util.function.LongSupplier;
import org.apache.hadoop.fs.Path;

/** What Spark asks for: one job's write into one table, and what it is done with. */
final class WriteRequest {
  /** The class that Spark called. */
  static final String PROTOCOL = "io.manifestcommitter.spark.ManifestCommitProtocol";

  final String jobId;
  final Path table;
  final Overwrite overwrite;
  final Store store;
  final CommitterConfig config;

  /** Between two looks at another job. */
  final Pause pause;

  /** This machine's clock, which goes on evenly. */
  final LongSupplier nanos;

  /** Of the lives of other jobs' drivers. */
  final LifeSigns signs;

  WriteRequest(String jobId, Path table, Overwrite overwrite, Store store, CommitterConfig config) {
    this(jobId, table, overwrite, store, config, Pause.sleeping(config), System::nanoTime);
  }

  WriteRequest(
      String jobId,
      Path table,
      Overwrite overwrite,
      Store store,
      CommitterConfig config,
      Pause pause,
      LongSupplier nanos) {
    this.jobId = jobId;
    this.table = table;
    this.overwrite = overwrite;
    this.store = store;
    this.config = config;
    this.pause = pause;
    this.nanos = nanos;
    this.signs = new LifeSigns(store, config, pause::nanos);
  }

  Workers workers() {
    return workers(CommitProgress.unwatched());
  }

  Workers workers(CommitProgress progress) {
    return new Workers(config.ioThreads(), () -> {}, Audit.job(jobId), progress);
  }

  /** The job as its report tells of it. */
  JobDescription description(StagingRoot staging) {
    Map<String, String> facts = Application.facts();
    facts.put("write", overwrite.kind(table, config.conflictMode()));
    return new JobDescription(
        jobId,
        "FileCommitProtocol.jobId",
        PROTOCOL,
        table,
        staging.old(),
        Recovery.advice(staging),
        facts);
  }
}
