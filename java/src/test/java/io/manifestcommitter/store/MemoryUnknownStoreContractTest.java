package io.manifestcommitter.store;

class MemoryUnknownStoreContractTest extends MemoryStoreContract {
  MemoryUnknownStoreContractTest() {
    super("mem");
  }
}
