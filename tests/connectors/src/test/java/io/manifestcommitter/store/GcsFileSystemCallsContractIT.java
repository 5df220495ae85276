// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.connectors.EmulatedStore;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** The store contract through gcs-connector where its own client is not used. */
class GcsFileSystemCallsContractIT extends StoreContract {
  @Override
  protected Store store() {
    Configuration conf = EmulatedStore.GS.conf();
    conf.set(GcsStore.REQUESTS, "filesystem");
    // Cached filesystems are of the first who asked, with other settings.
    conf.setBoolean("fs.gs.impl.disable.cache", true);
    return new Stores(conf).all();
  }

  @Override
  protected Path root() {
    return EmulatedStore.GS.newRoot("contract-by-filesystem");
  }
}
