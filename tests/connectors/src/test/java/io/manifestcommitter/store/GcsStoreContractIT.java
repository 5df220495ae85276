// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.connectors.EmulatedStore;
import org.apache.hadoop.fs.Path;

/** The store contract through gcs-connector. */
class GcsStoreContractIT extends StoreContract {
  @Override
  protected Store store() {
    return new Stores(EmulatedStore.GS.conf()).all();
  }

  @Override
  protected Path root() {
    return EmulatedStore.GS.newRoot("contract");
  }
}
