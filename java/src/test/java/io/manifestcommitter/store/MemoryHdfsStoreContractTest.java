package io.manifestcommitter.store;

class MemoryHdfsStoreContractTest extends MemoryStoreContract {
  MemoryHdfsStoreContractTest() {
    super("hdfs");
  }
}
