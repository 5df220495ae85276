// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.spark.DriverJob;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.SparkGround;
import java.io.IOException;

/** One Spark write of a kind, at the moment before its job commit. */
final class ReaderJob {
  static final String LAST_REPORT = "the last report";
  static final String JOB_ID = "7d0c2f9e-52a1-4a0b-9a44-6f7a31c8e2d5";
  static final String ATTEMPT = SparkGround.TABLE + "/_manifest_" + JOB_ID + "/00";

  private final SparkGround store;
  private final ReaderWrite write;
  private final DriverJob job;

  /** Fills a table, and has the tasks of a job write to it. */
  ReaderJob(SparkGround store, ReaderWrite write, String directoryRename, int threads)
      throws IOException {
    this.store = store;
    this.write = write;
    write.old().forEach(store::put);
    if (write.hasLastReport()) {
      store.put(SparkGround.TABLE + "/" + JobPaths.SUCCESS_MARKER, LAST_REPORT);
      store.put(SparkGround.TABLE + "/" + JobPaths.FILE_LIST, "the last list");
    }
    job =
        new DriverJob(store, JOB_ID)
            .with(CommitterConfig.DIRECTORY_RENAME, directoryRename)
            .with(CommitterConfig.IO_THREADS, Integer.toString(threads))
            .setUp(write.table())
            .runTasks();
  }

  SparkGround store() {
    return store;
  }

  ReaderWrite write() {
    return write;
  }

  void commit() throws IOException {
    job.commit();
  }

  /** As Spark does after a commit that failed. */
  void abort() {
    job.abort();
  }

  /** Recovers what was left of the job, if anything was. */
  void recover() throws IOException {
    Recoveries.all(
        Recoveries.of(store.configuration(), /* force= */ true),
        store.path(SparkGround.TABLE),
        Recovery.Direction.AS_MARKED);
  }
}
