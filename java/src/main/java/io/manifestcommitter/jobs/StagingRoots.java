// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.Store;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/** The jobs of the Spark protocol that have something in a table. */
final class StagingRoots {
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
}
