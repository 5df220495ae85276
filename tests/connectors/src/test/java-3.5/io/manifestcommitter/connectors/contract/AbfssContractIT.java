// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors.contract;

import io.manifestcommitter.connectors.EmulatedStore;

/** Hadoop's contract tests on {@code abfs}, through TLS. */
class AbfssContractIT extends EmulatedContract {
  AbfssContractIT() {
    super(EmulatedStore.ABFSS);
  }
}
