package io.manifestcommitter.store;

import io.manifestcommitter.connectors.EmulatedStore;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.Path;

/** The store contract through gcs-connector in a bucket with hierarchical namespace. */
class GcsHierarchicalContractIT extends StoreContract {
  private static final AtomicInteger ROOTS = new AtomicInteger();

  @Override
  protected Store store() {
    return new Stores(EmulatedStore.GS.conf()).all();
  }

  @Override
  protected Path root() {
    return new Path(
        EmulatedStore.gcs().hierarchicalRoot().toString(), "contract-" + ROOTS.incrementAndGet());
  }
}
