// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.util.Locale;

/** The Spark writes that are measured. */
enum SparkBenchShape {
  /** What most writes of most users are. */
  ONE {
    @Override
    JobShape job() {
      return new JobShape(1, 1, 1, p -> "day=01");
    }
  },
  /** Few enough files for a committer that renames them one by one, 50 ms each. */
  SMALL {
    @Override
    JobShape job() {
      return new JobShape(16, 10, 10, p -> String.format(Locale.ROOT, "day=%02d", p + 1));
    }
  },
  /** Many files and no latency, for requests, CPU and heap. */
  WIDE {
    @Override
    JobShape job() {
      return new JobShape(1000, 100, 500, p -> JobShape.yearAndMonth(p, 12));
    }
  };

  abstract JobShape job();
}
