// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.util.EnumMap;
import java.util.Map;

/** What one kind of write cost with one committer. */
final class SparkCosts {
  private final Map<Phase, Series> series = new EnumMap<>(Phase.class);
  private final Series driver = new Series();
  private final Series whole = new Series();
  private Measurement setup;
  private Measurement tasks;
  private String verdict = "";

  /** Takes a line that {@link SparkBenchRun} printed. */
  void read(BenchRun.Subject subject, String line) {
    if (line.startsWith(SparkBenchRun.WRONG)) {
      verdict = line.substring(SparkBenchRun.WRONG.length());
    }
    Measurement.parse(line).ifPresent(measurement -> add(subject, measurement));
  }

  /** What is wrong with the table after the write; empty if nothing is. */
  String verdict() {
    return verdict;
  }

  Series of(Phase phase) {
    return series.get(phase);
  }

  /** What the driver does: job setup, with the deletion of an overwrite, and job commit. */
  Series driver() {
    return driver;
  }

  /** All phases. */
  Series whole() {
    return whole;
  }

  private void add(BenchRun.Subject subject, Measurement measurement) {
    Series one = series.computeIfAbsent(measurement.phase(), unused -> new Series());
    if (subject == BenchRun.Subject.HEAP) {
      one.heap(measurement);
      return;
    }
    one.round(measurement);
    switch (measurement.phase()) {
      case JOB_SETUP:
        setup = measurement;
        break;
      case TASK_COMMIT:
        tasks = measurement;
        break;
      case JOB_COMMIT:
        driver.round(measurement.plus(setup));
        whole.round(measurement.plus(setup).plus(tasks));
        break;
    }
  }
}
