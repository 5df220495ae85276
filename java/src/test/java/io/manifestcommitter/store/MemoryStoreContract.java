// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.testing.MemoryFileSystem;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** The store in memory, under the scheme that decides which family it is taken for. */
abstract class MemoryStoreContract extends StoreContract {
  private final String scheme;
  private final Configuration conf = MemoryFileSystem.configuration();

  MemoryStoreContract(String scheme) {
    this.scheme = scheme;
  }

  /** Sets an option of the store. */
  final void set(String key, String value) {
    conf.set(key, value);
  }

  @Override
  protected Store store() {
    return new Stores(conf, RequestGate.open()).all();
  }

  @Override
  protected Path root() {
    MemoryFileSystem.state("contract-" + scheme).clear();
    return new Path(scheme + "://contract-" + scheme + "/a/root");
  }
}
