package io.manifestcommitter.store;

class MemoryAbfsStoreContractTest extends MemoryStoreContract {
  MemoryAbfsStoreContractTest() {
    super("abfs");
  }
}
