// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.io.TempDir;

class LocalStoreContractTest extends StoreContract {
  @TempDir File directory;

  @Override
  protected Store store() {
    return new Stores(new Configuration()).all();
  }

  @Override
  protected Path root() {
    return new Path("file", null, directory.getPath());
  }

  /** Hadoop cannot name the checksum of a file whose name has a colon. */
  @Override
  protected boolean allowsFile(String name) {
    return !name.contains(":");
  }
}
