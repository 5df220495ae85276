// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;
import org.apache.hadoop.fs.statistics.MeanStatistic;

/**
 * What was counted and measured, as Hadoop's {@link IOStatisticsSnapshot}, and its JSON.
 *
 * <p>An entry that says nothing is left out: a counter or gauge of 0, a mean without samples, a
 * minimum or maximum of -1. With -1 Hadoop marks one that was never set. Such entries make up most
 * of what Hadoop writes. So Hadoop's own writer is not used; what is written is sorted.
 */
public final class Statistics {
  /** The field of a manifest or report that holds them. */
  static final String FIELD = "iostatistics";

  /** How Hadoop marks a minimum or maximum that was never set. */
  private static final long UNSET = IOStatistics.MIN_UNSET_VALUE;

  private static final String COUNTERS = "counters";
  private static final String GAUGES = "gauges";
  private static final String MINIMUMS = "minimums";
  private static final String MAXIMUMS = "maximums";
  private static final String MEANS = "meanstatistics";
  private static final String SAMPLES = "samples";
  private static final String SUM = "sum";

  private Statistics() {}

  /** A snapshot of the entries that say something. */
  public static IOStatisticsSnapshot of(
      Map<String, Long> counters,
      Map<String, Long> gauges,
      Map<String, Long> minimums,
      Map<String, Long> maximums,
      Map<String, MeanStatistic> means) {
    IOStatisticsSnapshot snapshot = new IOStatisticsSnapshot();
    copy(counters, snapshot.counters(), value -> value != 0);
    copy(gauges, snapshot.gauges(), value -> value != 0);
    copy(minimums, snapshot.minimums(), value -> value != UNSET);
    copy(maximums, snapshot.maximums(), value -> value != UNSET);
    copy(means, snapshot.meanStatistics(), mean -> mean.getSamples() > 0);
    return snapshot;
  }

  private static <V> void copy(Map<String, V> from, Map<String, V> to, Predicate<V> says) {
    to.putAll(from);
    Collection<V> values = to.values();
    values.removeIf(says.negate());
  }

  /** As fields of JSON, without the groups that are empty. */
  static Map<String, Object> toJson(IOStatistics statistics) {
    Map<String, Object> means = new TreeMap<>();
    statistics
        .meanStatistics()
        .forEach(
            (name, mean) -> {
              Map<String, Object> parts = new LinkedHashMap<>();
              parts.put(SAMPLES, mean.getSamples());
              parts.put(SUM, mean.getSum());
              means.put(name, parts);
            });
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
    Record means = groups.object(MEANS);
    Map<String, MeanStatistic> byName = new TreeMap<>();
    for (String name : means.names()) {
      Record mean = means.object(name);
      if (!mean.has(SAMPLES) || !mean.has(SUM)) {
        throw new IllegalArgumentException("a mean lacks its samples or its sum");
      }
      byName.put(name, new MeanStatistic(mean.number(SAMPLES), mean.wholeNumber(SUM)));
    }
    return of(
        groups.numbers(COUNTERS),
        groups.numbers(GAUGES),
        groups.numbers(MINIMUMS),
        groups.numbers(MAXIMUMS),
        byName);
  }
}
