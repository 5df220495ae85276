// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors.contract;

import io.manifestcommitter.connectors.EmulatedStore;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.contract.AbstractFSContract;

/**
 * What Hadoop's contract tests have to know of a store. What its connector promises is in {@code
 * contract/abfs.xml}, {@code contract/gs.xml} and {@code contract/s3a.xml}.
 */
public final class EmulatedContract extends AbstractFSContract {
  private final EmulatedStore store;

  /** The contract of a store; {@code conf} is changed to lead there. */
  public EmulatedContract(EmulatedStore store, Configuration conf) {
    super(conf);
    this.store = store;
    store.configure(conf);
    addConfResource("contract/" + (store == EmulatedStore.ABFSS ? "abfs" : getScheme()) + ".xml");
  }

  @Override
  public FileSystem getTestFileSystem() throws IOException {
    return FileSystem.get(store.root(), getConf());
  }

  @Override
  public String getScheme() {
    return store.root().getScheme();
  }

  @Override
  public Path getTestPath() {
    return new Path("/contract");
  }
}
