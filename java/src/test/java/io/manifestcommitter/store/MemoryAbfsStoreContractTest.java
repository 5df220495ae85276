// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

class MemoryAbfsStoreContractTest extends MemoryStoreContract {
  MemoryAbfsStoreContractTest() {
    super("abfs");
  }
}
