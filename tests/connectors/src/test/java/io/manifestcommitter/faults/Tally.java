// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.faults;

import io.manifestcommitter.faults.Verdict.End;
import io.manifestcommitter.testing.Failures;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Counts ends, by store, phase and fault. For use by many threads. */
final class Tally {
  private final Map<StoreUnderTest, Map<Phase, Map<Fault, Counts>>> counts = new TreeMap<>();
  private final List<String> violations = new ArrayList<>();
  private final List<FaultCase> notMet = new ArrayList<>();
  private final Map<String, String> examples = new TreeMap<>();

  synchronized void count(FaultCase faultCase, Verdict verdict) {
    Counts cell = cell(faultCase);
    cell.runs++;
    cell.recovered += verdict.recovered();
    cell.ok += verdict.end() == End.OK ? 1 : 0;
    cell.clean += verdict.end() == End.FAILED_CLEANLY ? 1 : 0;
    cell.repaired += verdict.end() == End.REPAIRED ? 1 : 0;
  }

  synchronized void violation(FaultCase faultCase, Throwable what) {
    Counts cell = cell(faultCase);
    cell.runs++;
    cell.violations++;
    violations.add("-Dfaults.only=" + faultCase + "\n" + Failures.trace(what));
  }

  /** The request that was to go wrong was not made, since an earlier run differed. */
  synchronized void notMet(FaultCase faultCase) {
    notMet.add(faultCase);
  }

  /** Keeps one failure of each phase and protocol, as its user sees it. */
  synchronized void example(FaultCase faultCase, Exception failure) {
    examples.putIfAbsent(
        faultCase.phase() + ", " + faultCase.scenario().label(), faultCase + ": " + failure);
  }

  synchronized List<String> violations() {
    return List.copyOf(violations);
  }

  synchronized List<FaultCase> notMet() {
    return List.copyOf(notMet);
  }

  synchronized Map<String, String> examples() {
    return Map.copyOf(examples);
  }

  /** Runs that met their fault. */
  synchronized int runs() {
    return total(null).runs;
  }

  /** Renames recovered, in all runs. */
  synchronized long recovered() {
    return total(null).recovered;
  }

  /** In Markdown: for each store a line for each phase and fault, and totals. */
  synchronized String table() {
    StringBuilder table = new StringBuilder();
    counts.forEach(
        (store, phases) -> {
          table
              .append(String.format("%n### %s%n%n", store))
              .append(
                  "| phase | fault | runs | succeeded | renames recovered | failed cleanly | repaired | violations |\n")
              .append("|---|---|--:|--:|--:|--:|--:|--:|\n");
          phases.forEach(
              (phase, faults) ->
                  faults.forEach(
                      (fault, cell) ->
                          table.append(
                              String.format(
                                  Locale.ROOT, "| %s | %s | %s |%n", phase, fault, cell))));
          table.append(String.format(Locale.ROOT, "| **all** | **all** | %s |%n", total(store)));
        });
    table.append(
        String.format(
            Locale.ROOT,
            "%nAll stores: %d runs, %d succeeded, %d renames recovered, %d failed cleanly,"
                + " %d repaired, %d violations.%n",
            total(null).runs,
            total(null).ok,
            total(null).recovered,
            total(null).clean,
            total(null).repaired,
            total(null).violations));
    return table.toString();
  }

  private Counts cell(FaultCase faultCase) {
    return counts
        .computeIfAbsent(faultCase.store(), store -> new TreeMap<>())
        .computeIfAbsent(faultCase.phase(), phase -> new TreeMap<>())
        .computeIfAbsent(faultCase.fault(), fault -> new Counts());
  }

  /** Of one store; of all where none is given. */
  private Counts total(StoreUnderTest only) {
    Counts total = new Counts();
    counts.forEach(
        (store, phases) -> {
          if (only == null || only == store) {
            phases.values().forEach(faults -> faults.values().forEach(total::add));
          }
        });
    return total;
  }

  private static final class Counts {
    private int runs;
    private int ok;
    private long recovered;
    private int clean;
    private int repaired;
    private int violations;

    private void add(Counts other) {
      runs += other.runs;
      ok += other.ok;
      recovered += other.recovered;
      clean += other.clean;
      repaired += other.repaired;
      violations += other.violations;
    }

    @Override
    public String toString() {
      return String.format(
          Locale.ROOT,
          "%d | %d | %d | %d | %d | %d",
          runs,
          ok,
          recovered,
          clean,
          repaired,
          violations);
    }
  }
}
