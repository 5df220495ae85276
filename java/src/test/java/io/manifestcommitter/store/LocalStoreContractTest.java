// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.io.File;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.io.TempDir;

class LocalStoreContractTest extends StoreContract {
  @TempDir File directory;

  @Override
  protected Store store() throws IOException {
    return new LocalStore(FileSystem.getLocal(new Configuration()), RequestGate.open());
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
