package io.manifestcommitter.spark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Counts runs and outcomes by scenario and store, and prints them as the table of the page. */
final class CrashTally {
  private static final int TOLD = 10;

  private final CrashCases cases;
  private final Map<String, Map<Count, Integer>> rows = new LinkedHashMap<>();
  private final List<String> violations = new ArrayList<>();
  private Map<Count, Integer> row = Map.of();

  CrashTally(CrashCases cases) {
    this.cases = cases;
  }

  /** What is counted. */
  enum Count {
    /** Drivers that died in a job commit. */
    DIED("died"),
    /** Different stores that they left. */
    STATES("states"),
    RECOVER("recover"),
    FINISH("finish"),
    /** Recoveries that died, each followed by another one. */
    RECOVER_DIED("died in recovery"),
    RECOVER_AGAIN("recover again"),
    RUN_AGAIN("run again"),
    OTHER_JOB("other job, recover"),
    OLD("old"),
    NEW("new"),
    REFUSED("refused");

    private final String label;

    Count(String label) {
      this.label = label;
    }
  }

  /** All that is counted from now on is of these. */
  void enter(String scenario, String store) {
    row = rows.computeIfAbsent(scenario + " | " + store, key -> new EnumMap<>(Count.class));
  }

  void count(Count what) {
    row.merge(what, 1, Integer::sum);
  }

  void violation(String steps, String what) {
    violations.add(what + "\n  repeat: " + cases.repeat(steps));
  }

  /** Runs of which something that dies, or what comes after it, was checked. */
  int runs() {
    return sum(Count.DIED)
        + sum(Count.RECOVER)
        + sum(Count.FINISH)
        + sum(Count.RECOVER_DIED)
        + sum(Count.RECOVER_AGAIN)
        + sum(Count.RUN_AGAIN)
        + sum(Count.OTHER_JOB);
  }

  /** Processes that died at a request. */
  int injected() {
    return sum(Count.DIED) + sum(Count.RECOVER_DIED);
  }

  int sum(Count what) {
    return rows.values().stream().mapToInt(counts -> counts.getOrDefault(what, 0)).sum();
  }

  List<String> violations() {
    return violations.subList(0, Math.min(TOLD, violations.size()));
  }

  /** As Markdown. */
  String table() {
    StringBuilder table = new StringBuilder("| scenario | store |");
    Arrays.stream(Count.values())
        .forEach(count -> table.append(' ').append(count.label).append(" |"));
    table.append("\n|---|---|").append("--:|".repeat(Count.values().length)).append('\n');
    rows.forEach((name, counts) -> line(table, name, counts));
    Map<Count, Integer> sums = new EnumMap<>(Count.class);
    Arrays.stream(Count.values()).forEach(count -> sums.put(count, sum(count)));
    line(table, "**all** | ", sums);
    return table
        + String.format(
            Locale.ROOT,
            "%nCrashes (%s): %,d processes died, %,d runs, %,d violations%n",
            cases,
            injected(),
            runs(),
            violations.size());
  }

  private static void line(StringBuilder table, String name, Map<Count, Integer> counts) {
    table.append("| ").append(name).append(" |");
    for (Count count : Count.values()) {
      table.append(String.format(Locale.ROOT, " %,d |", counts.getOrDefault(count, 0)));
    }
    table.append('\n');
  }
}
