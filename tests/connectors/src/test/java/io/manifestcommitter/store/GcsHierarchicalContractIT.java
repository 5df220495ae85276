// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.connectors.EmulatedStore;
import org.apache.hadoop.fs.Path;

/** The store contract through gcs-connector in a bucket with hierarchical namespace. */
class GcsHierarchicalContractIT extends StoreContract {
  @Override
  protected Store store() {
    return new Stores(EmulatedStore.GS_FOLDERS.conf()).all();
  }

  @Override
  protected Path root() {
    return EmulatedStore.GS_FOLDERS.newRoot("contract");
  }
}
