// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Store;
import java.io.IOException;
import org.apache.hadoop.fs.Path;

/**
 * Seals a staging directory against attempts that Spark gave up on and that go on writing, by
 * renaming its output directory away from them: one request. Where directories cannot be renamed
 * atomically there is no seal, and none is needed: only files that the driver named are renamed.
 */
final class SealStaging {
  private final Store store;

  SealStaging(Store store) {
    this.store = store;
  }

  /**
   * Seals a staging directory.
   *
   * @return the directory that now holds the output
   */
  Path run(StagingRoot staging) throws IOException {
    if (!store.traits(staging.root()).hasAtomicDirectoryRename()) {
      return staging.output();
    }
    RenameResult result = store.renameDirectory(staging.output(), staging.sealed());
    if (!result.isDone()) {
      throw result.failure(
          "Could not seal the staging directory "
              + staging.root()
              + ". If it is gone, another job or a cleaner deleted it. Nothing was published: run"
              + " the job again");
    }
    return staging.sealed();
  }
}
