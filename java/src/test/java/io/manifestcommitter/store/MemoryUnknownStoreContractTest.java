// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

class MemoryUnknownStoreContractTest extends MemoryStoreContract {
  MemoryUnknownStoreContractTest() {
    super("mem");
  }
}
