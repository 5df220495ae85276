// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes the directory of a job of the Hadoop protocol. Where deleting a tree costs a request a
 * file, its task attempts go first, in parallel ("The Manifest Committer for Azure and Google Cloud
 * Storage", "Cleanup"). Unlike there, {@code _temporary} itself goes only if no other job is in it.
 */
public final class CleanupJob {
  private static final Logger LOG = LoggerFactory.getLogger(CleanupJob.class);

  private final Store store;
  private final Workers workers;
  private final CommitterConfig config;
  private final JobPaths paths;

  /** The cleanup of the job below {@code paths}. */
  public CleanupJob(Store store, Workers workers, CommitterConfig config, JobPaths paths) {
    this.store = store;
    this.workers = workers;
    this.config = config;
    this.paths = paths;
  }

  /** Cleans up, unless that is switched off; a failure counts unless it is to be ignored. */
  public void run() throws IOException {
    if (config.cleanupSkipped()) {
      return;
    }
    workers.step(StatisticNames.JOB_STAGE_CLEANUP);
    try {
      Retries.few(this::deleteJobDirectory);
      Retries.few(() -> store.deleteEmptyDirectory(paths.temporaryDirectory()));
    } catch (IOException e) {
      if (!config.cleanupFailuresIgnored()) {
        throw e;
      }
      LOG.warn("The cleanup of job {} failed: delete {}", paths.jobId(), paths.jobDirectory(), e);
    }
  }

  private void deleteJobDirectory() throws IOException {
    if (config.parallelDelete() && config.parallelDeleteBaseFirst()) {
      try {
        store.deleteTree(paths.jobDirectory());
        return;
      } catch (IOException e) {
        LOG.info("{} has to be deleted in parts", paths.jobDirectory(), e);
      }
    }
    if (config.parallelDelete()) {
      deleteTaskAttempts();
    }
    store.deleteTree(paths.jobDirectory());
  }

  /**
   * Makes the deletion of the job's directory cheap; what fails here, that deletion tries again.
   */
  private void deleteTaskAttempts() {
    try {
      List<StoreEntry> attempts = new ArrayList<>();
      store.list(paths.taskAttemptsDirectory(), attempts::add);
      workers.forEach(attempts, attempt -> store.deleteTree(attempt.path()));
    } catch (FileNotFoundException e) {
      // No task ran.
    } catch (IOException e) {
      LOG.debug("Parallel deletion below {} failed", paths.taskAttemptsDirectory(), e);
    }
  }
}
