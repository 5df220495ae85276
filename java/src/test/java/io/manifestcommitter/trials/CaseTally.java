// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.testing.Cases;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Counts runs and outcomes by scenario and store, and prints them as the table of a page. The name
 * of a count, in small letters, is the head of its column. Safe for use by many threads that enter
 * and count together.
 */
public final class CaseTally<C extends Enum<C>> {
  private static final int TOLD = 10;

  private final Cases cases;
  private final Class<C> counts;
  private final String[] heads;
  private final Map<String, Map<C, Integer>> rows = new LinkedHashMap<>();
  private final List<String> violations = new ArrayList<>();
  private Map<C, Integer> row;

  /**
   * A count.
   *
   * @param heads of the columns before the counts
   */
  public CaseTally(Cases cases, Class<C> counts, String... heads) {
    this.cases = cases;
    this.counts = counts;
    this.heads = heads;
  }

  /** All that is counted from now on is of these, one for each column before the counts. */
  public synchronized void enter(String... of) {
    row = rows.computeIfAbsent(String.join(" | ", of), key -> new EnumMap<>(counts));
  }

  /** Counts one of what was entered last. */
  public synchronized void count(C what) {
    row.merge(what, 1, Integer::sum);
  }

  /** Enters, and counts one. */
  public synchronized void count(C what, String... of) {
    enter(of);
    count(what);
  }

  /** A case in which something is wrong. */
  public synchronized void violation(String steps, String what) {
    violations.add(what + "\n  repeat: " + cases.repeat(steps));
  }

  /** All of some kinds. */
  @SafeVarargs
  public final synchronized int sum(C... kinds) {
    int sum = 0;
    for (C what : kinds) {
      sum += rows.values().stream().mapToInt(row -> row.getOrDefault(what, 0)).sum();
    }
    return sum;
  }

  /** The first of them, each with how to repeat it. */
  public synchronized List<String> violations() {
    return violations.subList(0, Math.min(TOLD, violations.size()));
  }

  /**
   * As Markdown.
   *
   * @param summary what is told below the table, before the violations
   */
  public synchronized String table(String summary) {
    StringBuilder table = new StringBuilder("| " + String.join(" | ", heads) + " |");
    for (C count : counts.getEnumConstants()) {
      String label = count.name().toLowerCase(Locale.ROOT).replace('_', ' ');
      table.append(' ').append(label.replace(" then ", ", ")).append(" |");
    }
    table
        .append("\n|")
        .append("---|".repeat(heads.length))
        .append("--:|".repeat(counts.getEnumConstants().length))
        .append('\n');
    rows.forEach((name, row) -> line(table, name, row));
    Map<C, Integer> sums = new EnumMap<>(counts);
    for (C count : counts.getEnumConstants()) {
      sums.put(count, sum(count));
    }
    line(table, "**all**" + " | ".repeat(heads.length - 1), sums);
    return table
        + String.format(
            Locale.ROOT, "%n%s (%s), %,d violations%n", summary, cases, violations.size());
  }

  private void line(StringBuilder table, String name, Map<C, Integer> row) {
    table.append("| ").append(name).append(" |");
    for (C count : counts.getEnumConstants()) {
      table.append(String.format(Locale.ROOT, " %,d |", row.getOrDefault(count, 0)));
    }
    table.append('\n');
  }
}
