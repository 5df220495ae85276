// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

class MemoryGsStoreContractTest extends MemoryStoreContract {
  MemoryGsStoreContractTest() {
    super("gs");
  }
}
