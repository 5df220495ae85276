// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.apache.hadoop.util.VersionInfo;
import org.junit.jupiter.api.Test;

/**
 * Every fault, at every request, in every phase, on every store, with both protocols: a job that
 * says that it succeeded has exactly its rows in the table, and after one that failed the table is
 * the old one, or the documented repair makes it exactly the old or the new one.
 *
 * <p>{@code -Dfaults.mode=sample} runs one case of each phase, kind of request and fault, chosen by
 * {@code -Dfaults.seed}, of the further kinds of {@code gs} only of what their renames consist of,
 * of which {@code -Dfaults.part=1/2} takes every second one; {@code full} runs all, but of those
 * that take minutes each one of every scenario, kind of request and fault; {@code -Dfaults.only}
 * runs the one whose name a failure printed, or those whose names match a regular expression.
 */
class FaultMatrixIT {
  private static final int TOLD = 20;
  private static final Map<StoreUnderTest, Integer> LANES =
      new EnumMap<>(
          Map.of(
              StoreUnderTest.ABFS, 12,
              StoreUnderTest.GS, 24,
              StoreUnderTest.GS_TOKENS, 12,
              StoreUnderTest.GS_FOLDERS, 24,
              StoreUnderTest.GS_FILESYSTEM, 12,
              StoreUnderTest.S3A, 12));

  @Test
  void noFaultMakesAWrongSuccessOrLosesOrDoublesARow() throws Exception {
    String mode = System.getProperty("faults.mode", "sample");
    long seed = Long.getLong("faults.seed", 1);
    String only = System.getProperty("faults.only", "");
    Tally tally = new Tally();
    long start = System.nanoTime();

    ExecutorService stores = Executors.newFixedThreadPool(StoreUnderTest.values().length);
    try {
      List<Future<Void>> running = new ArrayList<>();
      for (StoreUnderTest store : StoreUnderTest.values()) {
        running.add(
            stores.submit(
                () -> {
                  run(store, mode, seed, only, tally);
                  return null;
                }));
      }
      for (Future<Void> store : running) {
        store.get();
      }
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    } finally {
      stores.shutdownNow();
    }

    String report =
        String.format(
                "Fault matrix, %s, seed %d, Hadoop %s, %d s%n",
                mode, seed, VersionInfo.getVersion(), (System.nanoTime() - start) / 1_000_000_000L)
            + tally.table()
            + (StoreUnderTest.ABFS.hasShortReadTimeout()
                ? ""
                : "\nWithout answers that come too late on abfs: this driver waits 30 seconds for"
                    + " each, which cannot be changed.\n");
    System.out.println(report);
    Files.writeString(Path.of("fault-matrix-" + mode + ".md"), report);
    Files.write(
        Path.of("fault-examples-" + mode + ".txt"),
        tally.examples().entrySet().stream()
            .map(example -> example.getKey() + "\n  " + example.getValue())
            .sorted()
            .collect(Collectors.toList()));

    List<String> violations = tally.violations();
    assertThat(violations.subList(0, Math.min(TOLD, violations.size())))
        .as(
            "%d violations; seed %d; repeat one alone with its -Dfaults.only",
            violations.size(), seed)
        .isEmpty();
    assertThat(tally.notMet()).as("the request was not made").isEmpty();
    assertThat(tally.runs()).isPositive();
    if (only.isEmpty()) {
      assertThat(tally.recovered()).isPositive();
    }
  }

  private static void run(StoreUnderTest store, String mode, long seed, String only, Tally tally)
      throws IOException, InterruptedException {
    List<FaultCase> all = FaultCases.all(store);
    int count = all.size();
    if (!only.isEmpty()) {
      all.removeIf(each -> !each.toString().matches(only));
    }
    List<FaultCase> chosen;
    if (mode.equals("full")) {
      chosen = FaultCases.full(all, seed);
    } else if (mode.equals("sample")) {
      chosen =
          FaultCases.part(FaultCases.sample(all, seed), System.getProperty("faults.part", "1/1"));
    } else {
      throw new IllegalArgumentException(
          "-Dfaults.mode is '" + mode + "': it has to be sample or full");
    }
    System.out.printf("%s: %d of %d cases%n", store, chosen.size(), count);
    new Matrix(tally).run(store, chosen, Math.min(LANES.get(store), chosen.size()));
  }
}
