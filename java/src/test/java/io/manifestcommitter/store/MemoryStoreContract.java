package io.manifestcommitter.store;

import io.manifestcommitter.testing.MemoryFileSystem;
import org.apache.hadoop.fs.Path;

/** The store in memory, under the scheme that decides which family it is taken for. */
abstract class MemoryStoreContract extends StoreContract {
  private final String scheme;

  MemoryStoreContract(String scheme) {
    this.scheme = scheme;
  }

  @Override
  protected Store store() {
    return new Stores(MemoryFileSystem.configuration(), RequestRate.unlimited()).all();
  }

  @Override
  protected Path root() {
    MemoryFileSystem.state("contract-" + scheme).clear();
    return new Path(scheme + "://contract-" + scheme + "/a/root");
  }
}
