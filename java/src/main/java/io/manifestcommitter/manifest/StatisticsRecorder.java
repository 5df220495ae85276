// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;
import org.apache.hadoop.fs.statistics.MeanStatistic;

/** Counts and measures while a job runs. Safe for use by many threads. */
public final class StatisticsRecorder {
  private static final String FAILURES = ".failures";

  private final Map<String, LongAdder> counters = new ConcurrentHashMap<>();
  private final Map<String, Samples> samples = new ConcurrentHashMap<>();

  /** Adds to a counter. */
  public void count(String key, long by) {
    counters.computeIfAbsent(key, k -> new LongAdder()).add(by);
  }

  /** Adds one to a counter. */
  public void increment(String key) {
    count(key, 1);
  }

  /** Adds a sample to the key's mean, minimum and maximum. */
  public void sample(String key, long value) {
    samples.computeIfAbsent(key, k -> new Samples()).add(value);
  }

  /**
   * Runs an action, counts it, and measures its milliseconds: under the key if it returns, under
   * the key with {@code .failures} if it throws, as Hadoop does.
   *
   * @throws IOException what the action throws, unchanged
   */
  public <T> T time(String key, Timed<T> action) throws IOException {
    increment(key);
    long start = System.nanoTime();
    String outcome = key + FAILURES;
    try {
      T result = action.run();
      outcome = key;
      return result;
    } finally {
      if (!outcome.equals(key)) {
        increment(outcome);
      }
      sample(outcome, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
    }
  }

  /** As {@link #time}, for an action without a result. */
  public void timeVoid(String key, TimedVoid action) throws IOException {
    time(
        key,
        () -> {
          action.run();
          return key;
        });
  }

  /** What was recorded so far. */
  public IOStatisticsSnapshot snapshot() {
    Map<String, Long> counts = new TreeMap<>();
    counters.forEach((key, count) -> counts.put(key, count.sum()));
    Map<String, Long> minimums = new TreeMap<>();
    Map<String, Long> maximums = new TreeMap<>();
    Map<String, MeanStatistic> means = new TreeMap<>();
    samples.forEach(
        (key, values) -> {
          synchronized (values) {
            // None is there while another thread is about to add the first.
            if (values.mean.getSamples() > 0) {
              minimums.put(key + ".min", values.minimum);
              maximums.put(key + ".max", values.maximum);
              means.put(key + ".mean", values.mean.copy());
            }
          }
        });
    return Statistics.of(counts, Map.of(), minimums, maximums, means);
  }

  /** An action with a result. */
  @FunctionalInterface
  public interface Timed<T> {
    /** Runs it. */
    T run() throws IOException;
  }

  /** An action without a result. */
  @FunctionalInterface
  public interface TimedVoid {
    /** Runs it. */
    void run() throws IOException;
  }

  private static final class Samples {
    private final MeanStatistic mean = new MeanStatistic();
    private long minimum = Long.MAX_VALUE;
    private long maximum = Long.MIN_VALUE;

    synchronized void add(long value) {
      mean.addSample(value);
      minimum = Math.min(minimum, value);
      maximum = Math.max(maximum, value);
    }
  }
}
