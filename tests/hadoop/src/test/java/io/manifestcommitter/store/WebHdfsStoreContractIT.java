// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.hadoop.Hdfs;
import org.apache.hadoop.fs.Path;

/** The store contract on a real HDFS, by HTTP. */
class WebHdfsStoreContractIT extends HdfsStoreContractIT {
  private final Hdfs hdfs;

  WebHdfsStoreContractIT(Hdfs hdfs) {
    super(hdfs);
    this.hdfs = hdfs;
  }

  @Override
  protected Path root() {
    return hdfs.byHttp(super.root());
  }
}
