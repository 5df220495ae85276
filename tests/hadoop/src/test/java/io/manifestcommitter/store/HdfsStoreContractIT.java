// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.hadoop.Hdfs;
import io.manifestcommitter.hadoop.Hdfs.HdfsExtension;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.extension.ExtendWith;

/** The store contract on a real HDFS. */
@ExtendWith(HdfsExtension.class)
class HdfsStoreContractIT extends StoreContract {
  private final Hdfs hdfs;

  HdfsStoreContractIT(Hdfs hdfs) {
    this.hdfs = hdfs;
  }

  @Override
  protected Store store() {
    return new Stores(hdfs.conf(), RequestGate.open()).all();
  }

  @Override
  protected Path root() {
    return hdfs.newTable("contract");
  }

  /** HDFS takes no name with a colon. */
  @Override
  protected boolean allowsDirectory(String name) {
    return !name.contains(":");
  }
}
