// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.TaskManifest;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends a job of the Hadoop protocol. Keeps its manifests for somebody to look at, where a directory
 * for them is set ("Manifest Committer Protocol", "Job Commit"), and deletes the job's directory.
 */
final class CleanUpJob {
  private static final Logger LOG = LoggerFactory.getLogger(CleanUpJob.class);

  private final Store store;
  private final Workers workers;
  private final CommitterConfig config;
  private final JobPaths paths;

  /** The cleanup of the job below {@code paths}. */
  CleanUpJob(Store store, Workers workers, CommitterConfig config, JobPaths paths) {
    this.store = store;
    this.workers = workers;
    this.config = config;
    this.paths = paths;
  }

  /**
   * Saves the manifests; what goes wrong is logged: the job's outcome does not hang on it. They are
   * copied and not renamed, so that the directory may be on any filesystem.
   */
  void saveManifests() {
    if (!config.diagnosticsManifestDirectory.isPresent()) {
      return;
    }
    Path directory = new Path(config.diagnosticsManifestDirectory.get(), paths.jobId());
    try {
      List<StoreEntry> manifests = new ArrayList<>();
      store.list(paths.manifestDirectory(), manifests::add);
      store.mkdirs(directory);
      workers.forEach(
          manifests,
          manifest -> {
            byte[] json = store.read(manifest.path(), TaskManifest.MAX_BYTES);
            store.write(new Path(directory, manifest.name()), out -> out.write(json));
          });
    } catch (FileNotFoundException e) {
      LOG.debug("Job {} has no manifests", paths.jobId(), e);
    } catch (IOException | RuntimeException e) {
      LOG.warn("The manifests of job {} could not be saved in {}", paths.jobId(), directory, e);
    }
  }

  /**
   * Deletes the job's directory, unless that is switched off; a failure counts unless it is to be
   * ignored. {@code _temporary} itself goes only if no other job is in it.
   */
  void run() throws IOException {
    if (config.cleanupSkipped) {
      return;
    }
    workers.step(StatisticNames.JOB_STAGE_CLEANUP);
    try {
      Retries.few(this::deleteJobDirectory);
      Retries.few(() -> store.deleteEmptyDirectory(paths.temporaryDirectory()));
    } catch (IOException e) {
      if (!config.cleanupFailuresIgnored) {
        throw e;
      }
      LOG.warn("The cleanup of job {} failed: delete {}", paths.jobId(), paths.jobDirectory(), e);
    }
  }

  /**
   * Where deleting a tree costs a request a file, the task attempts go first, in parallel ("The
   * Manifest Committer for Azure and Google Cloud Storage", "Cleanup").
   */
  private void deleteJobDirectory() throws IOException {
    if (config.parallelDelete && config.parallelDeleteBaseFirst) {
      try {
        store.deleteTree(paths.jobDirectory());
        return;
      } catch (IOException e) {
        LOG.info("{} has to be deleted in parts", paths.jobDirectory(), e);
      }
    }
    if (config.parallelDelete) {
      try {
        List<StoreEntry> attempts = new ArrayList<>();
        store.list(paths.taskAttemptsDirectory(), attempts::add);
        workers.forEach(attempts, attempt -> store.deleteTree(attempt.path()));
      } catch (FileNotFoundException e) {
        // No task ran.
      } catch (IOException e) {
        // What failed here, the deletion of the job's directory tries again.
        LOG.debug("Parallel deletion below {} failed", paths.taskAttemptsDirectory(), e);
      }
    }
    store.deleteTree(paths.jobDirectory());
  }
}
