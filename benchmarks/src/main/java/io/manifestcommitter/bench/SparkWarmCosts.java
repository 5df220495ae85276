// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.util.ArrayList;
import java.util.List;

/** What the job commits of one committer cost, each the first, second ... of its JVM. */
final class SparkWarmCosts {
  private final List<Series> series = new ArrayList<>();
  private int next;
  private String verdict = "";

  /** Costs of so many commits a JVM. */
  SparkWarmCosts(int commits) {
    for (int i = 0; i < commits; i++) {
      series.add(new Series());
    }
  }

  /** A new JVM begins. */
  void begin() {
    next = 0;
  }

  /** Takes a line that {@link SparkWarmRun} printed. */
  void read(String line) {
    if (line.startsWith(SparkBenchRun.WRONG)) {
      verdict = line.substring(SparkBenchRun.WRONG.length());
    }
    Measurement.parse(line).ifPresent(measurement -> series.get(next++).round(measurement));
  }

  /** What is wrong with a table after the write; empty if nothing is. */
  String verdict() {
    return verdict;
  }

  /** Of a JVM that had only just started. */
  Series cold() {
    return series.get(0);
  }

  /** Of a JVM that had made the same commit before. */
  Series warm() {
    return series.get(series.size() - 1);
  }
}
