// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors.contract;

import io.manifestcommitter.connectors.EmulatedStore;

/** Hadoop's contract tests on {@code gs}. */
class GcsContractIT extends EmulatedContract {
  GcsContractIT() {
    super(EmulatedStore.GS);
  }
}
