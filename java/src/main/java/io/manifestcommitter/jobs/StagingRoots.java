// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.Store;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The jobs of the Spark protocol that have something in a table. */
public final class StagingRoots {
  private static final Logger LOG = LoggerFactory.getLogger(StagingRoots.class);

  private StagingRoots() {}

  /**
   * Their staging directories. One request.
   *
   * @throws java.io.FileNotFoundException if there is no table
   */
  static List<StagingRoot> list(Store store, Path table) throws IOException {
    List<StagingRoot> roots = new ArrayList<>();
    store.list(
        table,
        entry -> {
          Optional<String> job = StagingRoot.jobOf(entry.name());
          if (entry.isDirectory() && job.isPresent()) {
            roots.add(new StagingRoot(table, job.get()));
          }
        });
    return roots;
  }

  /**
   * Removes a staging directory without any file in it, on a store that has no directories of its
   * own. Some servers of S3's protocol keep a directory after its last object is deleted, and each
   * later job would ask about it. A job that lives has a file there. One request where there is a
   * file, and none on other stores. What fails is left to the next job.
   *
   * @return whether the directory is gone
   */
  public static boolean removeEmpty(Store store, Path root) {
    try {
      return store.traits(root).completesUploads() && removeDirectories(store, root);
    } catch (IOException e) {
      LOG.debug("{} may be empty, and was not removed", root, e);
      return false;
    }
  }

  private static boolean removeDirectories(Store store, Path directory) throws IOException {
    List<Path> within = new ArrayList<>();
    boolean[] holdsFile = {false};
    try {
      store.list(
          directory,
          entry -> {
            holdsFile[0] |= !entry.isDirectory();
            within.add(entry.path());
          });
    } catch (FileNotFoundException e) {
      return true;
    }
    if (holdsFile[0]) {
      return false;
    }
    for (Path each : within) {
      if (!removeDirectories(store, each)) {
        return false;
      }
    }
    return store.deleteEmptyDirectory(directory);
  }
}
