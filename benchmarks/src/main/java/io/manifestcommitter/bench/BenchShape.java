// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.util.Locale;

/** The jobs that are measured. */
enum BenchShape {
  /** A small job on a store with the latency of a cloud store. */
  A(5.0) {
    @Override
    JobShape job() {
      return new JobShape(100, 10, 20, p -> String.format(Locale.ROOT, "day=%02d", p + 1));
    }
  },
  /** Tasks that write to many partitions, which is where task commits cost requests. */
  B(0.1) {
    @Override
    JobShape job() {
      return new JobShape(200, 100, 100, p -> JobShape.yearAndMonth(p, 4));
    }
  },
  /** Many files and no latency: what is left is the committer's own work. */
  C(0.0) {
    @Override
    JobShape job() {
      return new JobShape(1000, 100, 500, p -> JobShape.yearAndMonth(p, 12));
    }
  };

  private final double latencyMillis;

  BenchShape(double latencyMillis) {
    this.latencyMillis = latencyMillis;
  }

  abstract JobShape job();

  /** The latency of a request unless the command line says otherwise. */
  double latencyMillis() {
    return latencyMillis;
  }
}
