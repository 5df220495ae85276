// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;
import org.apache.hadoop.fs.statistics.MeanStatistic;
import org.apache.hadoop.util.functional.CallableRaisingIOE;

/**
 * Counts and measures while a job runs, as Hadoop's {@link IOStatisticsSnapshot}; and the JSON of
 * that. Safe for use by many threads.
 *
 * <p>An entry that says nothing is left out: a counter or gauge of 0, a mean without samples, a
 * minimum or maximum of -1. With -1 Hadoop marks one that was never set. Such entries make up most
 * of what Hadoop writes. So Hadoop's own writer is not used; what is written is sorted.
 */
public final class StatisticsRecorder {
  /** The kinds of requests to a store; each request counts as one of them. */
  public static final List<String> REQUESTS =
      List.of(
          StatisticNames.OP_GET_FILE_STATUS,
          StatisticNames.OP_LIST_STATUS,
          StatisticNames.OP_MKDIRS,
          StatisticNames.OP_RENAME,
          StatisticNames.OP_CREATE,
          StatisticNames.OP_OPEN,
          StatisticNames.OP_DELETE,
          StatisticNames.OP_GET_FILE_CHECKSUM,
          StatisticNames.OP_ACCESS,
          StatisticNames.MULTIPART_UPLOAD_PART_PUT,
          StatisticNames.MULTIPART_UPLOAD_COMPLETED,
          StatisticNames.MULTIPART_UPLOAD_ABORTED);

  /** The field of a manifest or report that holds statistics. */
  static final String FIELD = "iostatistics";

  private static final String FAILURES = ".failures";
  private static final String COUNTERS = "counters";
  private static final String GAUGES = "gauges";
  private static final String MINIMUMS = "minimums";
  private static final String MAXIMUMS = "maximums";
  private static final String MEANS = "meanstatistics";
  private static final String SAMPLES = "samples";
  private static final String SUM = "sum";

  /** Its maps are safe for use by many threads. */
  private final IOStatisticsSnapshot recorded = new IOStatisticsSnapshot();

  public void count(String key, long by) {
    recorded.counters().merge(key, by, Long::sum);
  }

  public void increment(String key) {
    count(key, 1);
  }

  /** Adds a sample to the key's mean, minimum and maximum. */
  public void sample(String key, long value) {
    recorded.minimums().merge(key + ".min", value, Math::min);
    recorded.maximums().merge(key + ".max", value, Math::max);
    recorded
        .meanStatistics()
        .computeIfAbsent(key + ".mean", mean -> new MeanStatistic())
        .addSample(value);
  }

  /**
   * Runs an action, counts it, and measures its milliseconds: under the key if it returns, under
   * the key with {@code .failures} if it throws, as Hadoop does.
   *
   * @throws IOException what the action throws, unchanged
   */
  public <T> T time(String key, CallableRaisingIOE<T> action) throws IOException {
    return time(key, action, millis -> {});
  }

  /** As {@link #time(String, CallableRaisingIOE)}; {@code took} hears the same milliseconds. */
  public <T> T time(String key, CallableRaisingIOE<T> action, LongConsumer took)
      throws IOException {
    increment(key);
    long start = System.nanoTime();
    String outcome = key + FAILURES;
    try {
      T result = action.apply();
      outcome = key;
      return result;
    } finally {
      if (!outcome.equals(key)) {
        increment(outcome);
      }
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      sample(outcome, millis);
      took.accept(millis);
    }
  }

  /** How many requests these statistics count, of all kinds. */
  public static long requests(IOStatistics statistics) {
    Map<String, Long> counters = statistics.counters();
    return REQUESTS.stream().mapToLong(kind -> counters.getOrDefault(kind, 0L)).sum();
  }

  /** How long the commit of a job took until its report, in milliseconds; null where unknown. */
  public static Long commitMillis(IOStatistics statistics) {
    MeanStatistic commit =
        statistics.meanStatistics().get(StatisticNames.COMMITTER_COMMIT_JOB + ".mean");
    return commit == null ? null : commit.getSum();
  }

  /** What was recorded so far. */
  public IOStatisticsSnapshot snapshot() {
    return new IOStatisticsSnapshot(recorded);
  }

  /** A copy of the entries that say something. */
  static IOStatisticsSnapshot telling(IOStatistics statistics) {
    IOStatisticsSnapshot telling = new IOStatisticsSnapshot(statistics);
    telling.counters().values().removeIf(value -> value == 0);
    telling.gauges().values().removeIf(value -> value == 0);
    telling.minimums().values().removeIf(value -> value == IOStatistics.MIN_UNSET_VALUE);
    telling.maximums().values().removeIf(value -> value == IOStatistics.MAX_UNSET_VALUE);
    telling.meanStatistics().values().removeIf(mean -> mean.getSamples() <= 0);
    return telling;
  }

  /** As fields of JSON, without the groups that are empty. */
  static Map<String, Object> toJson(IOStatistics all) {
    IOStatisticsSnapshot statistics = telling(all);
    Map<String, Object> means = new TreeMap<>();
    statistics
        .meanStatistics()
        .forEach(
            (name, mean) ->
                means.put(
                    name, new TreeMap<>(Map.of(SAMPLES, mean.getSamples(), SUM, mean.getSum()))));
    Map<String, Object> groups = new LinkedHashMap<>();
    groups.put(COUNTERS, new TreeMap<>(statistics.counters()));
    groups.put(GAUGES, new TreeMap<>(statistics.gauges()));
    groups.put(MINIMUMS, new TreeMap<>(statistics.minimums()));
    groups.put(MAXIMUMS, new TreeMap<>(statistics.maximums()));
    groups.put(MEANS, means);
    groups.values().removeIf(group -> ((Map<?, ?>) group).isEmpty());
    return groups;
  }

  /** What the field of a document says; nothing where it is not there. */
  static IOStatisticsSnapshot in(Record document) {
    Record groups = document.object(FIELD);
    IOStatisticsSnapshot read = new IOStatisticsSnapshot();
    read.counters().putAll(groups.numbers(COUNTERS));
    read.gauges().putAll(groups.numbers(GAUGES));
    read.minimums().putAll(groups.numbers(MINIMUMS));
    read.maximums().putAll(groups.numbers(MAXIMUMS));
    Record means = groups.object(MEANS);
    for (String name : means.fields.keySet()) {
      Record mean = means.object(name);
      read.meanStatistics()
          .put(name, new MeanStatistic(mean.number(SAMPLES), mean.wholeNumber(SUM)));
    }
    return telling(read);
  }
}
