package io.manifestcommitter.store;

class MemoryGsStoreContractTest extends MemoryStoreContract {
  MemoryGsStoreContractTest() {
    super("gs");
  }
}
