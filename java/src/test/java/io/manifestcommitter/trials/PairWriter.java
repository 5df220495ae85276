// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.testing.TableWrite;

/** Who adds rows to a table, with its name in them, or replaces some of it. */
abstract class PairWriter extends PairParty {
  private final TableWrite write;

  PairWriter(String name, String jobId, TableWrite write) {
    super(name, jobId);
    this.write = write;
  }

  final TableWrite write() {
    return write;
  }
}
