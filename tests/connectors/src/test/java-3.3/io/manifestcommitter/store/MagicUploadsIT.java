// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.connectors.EmulatedStore;
import org.junit.jupiter.api.Test;

/** Magic paths of a hadoop-aws that notes its uploads in the store only. */
class MagicUploadsIT {
  @Test
  void areRefused() {
    Stores stores = new Stores(EmulatedStore.S3A.conf());
    assertThatThrownBy(() -> stores.magicUploads(EmulatedStore.S3A.newRoot("magic")))
        .isInstanceOf(UnsupportedStoreException.class)
        .hasMessageContainingAll("3.4.1 or newer", "s3.write.to to disk");
  }
}
