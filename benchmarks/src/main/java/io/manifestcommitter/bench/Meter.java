// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.io.IOException;

/** Measures a phase: its requests, and time or memory. */
interface Meter {
  /** Does the work and says what it cost. */
  Measurement measure(Phase phase, Work work) throws IOException;

  /** Something that makes requests. */
  @FunctionalInterface
  interface Work {
    /** Does it. */
    void run() throws IOException;
  }
}
