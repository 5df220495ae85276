// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.manifest.TaskManifest;
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
 * Keeps the manifests of a job for somebody to look at, where a directory for them is set
 * ("Manifest Committer Protocol", "Job Commit"). They are copied and not renamed, so that the
 * directory may be on any filesystem.
 */
public final class SaveManifests {
  private static final Logger LOG = LoggerFactory.getLogger(SaveManifests.class);

  private final Store store;
  private final Workers workers;
  private final CommitterConfig config;
  private final JobPaths paths;

  /** The manifests below {@code paths}. */
  public SaveManifests(Store store, Workers workers, CommitterConfig config, JobPaths paths) {
    this.store = store;
    this.workers = workers;
    this.config = config;
    this.paths = paths;
  }

  /** Saves them; what goes wrong is logged: the job's outcome does not hang on it. */
  public void run() {
    if (!config.diagnosticsManifestDirectory().isPresent()) {
      return;
    }
    Path directory = new Path(config.diagnosticsManifestDirectory().get(), paths.jobId());
    try {
      List<StoreEntry> manifests = new ArrayList<>();
      store.list(paths.manifestDirectory(), manifests::add);
      store.mkdirs(directory);
      workers.forEach(manifests, manifest -> copy(manifest, directory));
    } catch (FileNotFoundException e) {
      LOG.debug("Job {} has no manifests", paths.jobId(), e);
    } catch (IOException | RuntimeException e) {
      LOG.warn("The manifests of job {} could not be saved in {}", paths.jobId(), directory, e);
    }
  }

  private void copy(StoreEntry manifest, Path directory) throws IOException {
    byte[] json = store.read(manifest.path(), TaskManifest.MAX_BYTES);
    store.write(new Path(directory, manifest.name()), out -> out.write(json));
  }
}
