// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Store;
import java.io.IOException;
import org.apache.hadoop.fs.Path;

/**
 * Closes a staging tree to attempts that Spark gave up on and that go on writing, by renaming its
 * output directory away from them: one request. Where directories cannot be renamed atomically
 * there is no seal, and none is needed: only files that the driver named are renamed.
 */
final class SealStaging {
  private final Store store;

  SealStaging(Store store) {
    this.store = store;
  }

  /**
   * Seals a staging tree.
   *
   * @return the directory that now holds the output
   */
  Path run(StagingRoot staging) throws IOException {
    if (!store.traits(staging.root()).hasAtomicDirectoryRename()) {
      return staging.output();
    }
    RenameResult result = store.renameDirectory(staging.output(), staging.sealed());
    if (!result.isDone()) {
      throw new IOException(
          "Could not close the staging directory "
              + staging.output()
              + " before job commit: "
              + result.explanation()
              + ". If it is gone, another job or a cleaner deleted it. Nothing was published; run the job again.",
          result.cause().orElse(null));
    }
    return staging.sealed();
  }
}
