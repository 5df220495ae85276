// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

class MemoryHdfsStoreContractTest extends MemoryStoreContract {
  MemoryHdfsStoreContractTest() {
    super("hdfs");
  }
}
