// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * What was counted and measured, in the five groups of Hadoop's IOStatistics. An immutable
 * snapshot.
 *
 * <p>An entry that says nothing is not there: a counter or gauge of 0, a mean without samples, a
 * minimum or maximum of -1, which is how Hadoop marks one that was never set. These make up most of
 * what Hadoop writes.
 */
public final class Statistics {
  /** How Hadoop marks a minimum or maximum that was never set. */
  private static final long UNSET = -1;

  private static final Statistics EMPTY =
      new Statistics(Map.of(), Map.of(), Map.of(), Map.of(), Map.of());

  private final Map<String, Long> counters;
  private final Map<String, Long> gauges;
  private final Map<String, Long> minimums;
  private final Map<String, Long> maximums;
  private final Map<String, Mean> means;

  /** Copies the groups, without the entries that say nothing. */
  public Statistics(
      Map<String, Long> counters,
      Map<String, Long> gauges,
      Map<String, Long> minimums,
      Map<String, Long> maximums,
      Map<String, Mean> means) {
    this.counters = copy(counters, value -> value != 0);
    this.gauges = copy(gauges, value -> value != 0);
    this.minimums = copy(minimums, value -> value != UNSET);
    this.maximums = copy(maximums, value -> value != UNSET);
    this.means = copy(means, mean -> mean.samples() > 0);
  }

  /** Nothing. */
  public static Statistics empty() {
    return EMPTY;
  }

  /** How often things happened, by name; sorted. */
  public Map<String, Long> counters() {
    return counters;
  }

  /** Values as they last were, by name; sorted. */
  public Map<String, Long> gauges() {
    return gauges;
  }

  /** Smallest samples, by a name that ends in {@code .min}; sorted. */
  public Map<String, Long> minimums() {
    return minimums;
  }

  /** Largest samples, by a name that ends in {@code .max}; sorted. */
  public Map<String, Long> maximums() {
    return maximums;
  }

  /** Means of samples, by a name that ends in {@code .mean}; sorted. */
  public Map<String, Mean> means() {
    return means;
  }

  /** Whether there is nothing in any group. */
  public boolean isEmpty() {
    return counters.isEmpty()
        && gauges.isEmpty()
        && minimums.isEmpty()
        && maximums.isEmpty()
        && means.isEmpty();
  }

  @Override
  public boolean equals(Object o) {
    if (!(o instanceof Statistics)) {
      return false;
    }
    Statistics other = (Statistics) o;
    return counters.equals(other.counters)
        && gauges.equals(other.gauges)
        && minimums.equals(other.minimums)
        && maximums.equals(other.maximums)
        && means.equals(other.means);
  }

  @Override
  public int hashCode() {
    return Objects.hash(counters, gauges, minimums, maximums, means);
  }

  @Override
  public String toString() {
    return "counters "
        + counters
        + ", gauges "
        + gauges
        + ", minimums "
        + minimums
        + ", maximums "
        + maximums
        + ", means "
        + means;
  }

  private static <V> Map<String, V> copy(Map<String, V> values, Predicate<V> says) {
    TreeMap<String, V> copy = new TreeMap<>();
    values.forEach(
        (name, value) -> {
          if (says.test(value)) {
            copy.put(Text.requireWellFormed(name), value);
          }
        });
    return Collections.unmodifiableMap(copy);
  }

  /** A mean: how many samples there were, and what they add up to. */
  public static final class Mean {
    private final long samples;
    private final long sum;

    /**
     * A mean.
     *
     * @throws IllegalArgumentException if the number of samples is negative
     */
    public Mean(long samples, long sum) {
      if (samples < 0) {
        throw new IllegalArgumentException("a mean cannot have " + samples + " samples");
      }
      this.samples = samples;
      this.sum = sum;
    }

    /** How many samples there were. */
    public long samples() {
      return samples;
    }

    /** What they add up to. */
    public long sum() {
      return sum;
    }

    @Override
    public boolean equals(Object o) {
      return o instanceof Mean && samples == ((Mean) o).samples && sum == ((Mean) o).sum;
    }

    @Override
    public int hashCode() {
      return Objects.hash(samples, sum);
    }

    @Override
    public String toString() {
      return sum + "/" + samples;
    }
  }
}
