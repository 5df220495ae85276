// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

class MemoryGsWithChecksumsStoreContractTest extends MemoryStoreContract {
  MemoryGsWithChecksumsStoreContractTest() {
    super("gs");
    set("fs.gs.checksum.type", "CRC32C");
  }
}
