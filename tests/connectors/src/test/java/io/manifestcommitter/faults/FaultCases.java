// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.faults;

import io.manifestcommitter.emulator.Onto;
import io.manifestcommitter.emulator.RequestLog;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * All cases of a store: each scenario runs once without a fault, and every request that it was seen
 * to make goes wrong in every way that is known of such a request.
 */
final class FaultCases {
  private FaultCases() {}

  static Stream<Scenario> scenarios() {
    return Stream.concat(Stream.of(HadoopScenario.values()), Stream.of(SparkScenario.values()));
  }

  /** Every one. */
  static List<FaultCase> all(StoreUnderTest store) throws IOException, InterruptedException {
    List<FaultCase> cases = new ArrayList<>();
    try (Lane lane = Lane.open(store)) {
      for (Scenario scenario : (Iterable<Scenario>) scenarios()::iterator) {
        if (store.serves(scenario)) {
          add(cases, lane, scenario);
        }
      }
    }
    return cases;
  }

  /** Of every cell one, by the seed. */
  static List<FaultCase> sample(List<FaultCase> all, long seed) {
    List<FaultCase> sampled = new ArrayList<>(all);
    sampled.removeIf(each -> !each.store().isSampled(each.operation()));
    return oneOfEach(sampled, FaultCase::cell, seed);
  }

  /**
   * One part of some, so that each is in one of them.
   *
   * @param part which one, and of how many: "1/2"
   */
  static List<FaultCase> part(List<FaultCase> all, String part) {
    Matcher parts = Pattern.compile("([1-9])/([1-9])").matcher(part);
    if (!parts.matches()) {
      throw new IllegalArgumentException("-Dfaults.part is '" + part + "': it has to be like 1/2");
    }
    List<FaultCase> taken = new ArrayList<>();
    for (int i = Integer.parseInt(parts.group(1)) - 1;
        i < all.size();
        i += Integer.parseInt(parts.group(2))) {
      taken.add(all.get(i));
    }
    return taken;
  }

  /** All, but of those that take minutes each only one of every scenario and kind of request. */
  static List<FaultCase> full(List<FaultCase> all, long seed) {
    List<FaultCase> full = new ArrayList<>(all);
    full.removeIf(FaultCase::takesMinutes);
    List<FaultCase> slow = new ArrayList<>(all);
    slow.removeIf(each -> !each.takesMinutes());
    full.addAll(oneOfEach(slow, each -> each.scenario().label() + "/" + each.cell(), seed));
    return full;
  }

  private static List<FaultCase> oneOfEach(
      List<FaultCase> all, Function<FaultCase, String> cellOf, long seed) {
    Map<String, List<FaultCase>> cells = new LinkedHashMap<>();
    for (FaultCase each : all) {
      cells.computeIfAbsent(cellOf.apply(each), cell -> new ArrayList<>()).add(each);
    }
    Random random = new Random(seed);
    List<FaultCase> sample = new ArrayList<>();
    cells.values().forEach(cell -> sample.add(cell.get(random.nextInt(cell.size()))));
    return sample;
  }

  private static void add(List<FaultCase> cases, Lane lane, Scenario scenario)
      throws IOException, InterruptedException {
    StoreUnderTest store = lane.store();
    Map<String, Integer> seen = new HashMap<>();
    Phase phase = scenario.phase();
    for (RequestLog.Entry request : requests(lane, scenario)) {
      String operation = request.operation();
      int n = seen.merge(operation, 1, Integer::sum);
      int turn = n;
      for (Fault fault : Fault.values()) {
        turn++;
        if (!fault.concerns(store, operation)) {
          continue;
        }
        Repair repair = repairs(scenario).get(turn % repairs(scenario).size());
        for (Onto onto : answers(store, scenario, operation, turn)) {
          cases.add(new FaultCase(store, scenario, phase, operation, n, fault, onto, repair));
        }
      }
      // The first is refused where the last job's report stands.
      if (operation.equals(store == StoreUnderTest.S3A ? "put" : store.publishOperation())
          && request.path().endsWith("/_SUCCESS")
          && request.status() < 300) {
        phase = Phase.CLEANUP;
      }
    }
  }

  /** What the call under test asks the store for. */
  private static List<RequestLog.Entry> requests(Lane lane, Scenario scenario)
      throws IOException, InterruptedException {
    return lane.run(
        () -> {
          Trial trial = scenario.trial(lane, Repair.COMMIT_AGAIN);
          trial.prepare();
          lane.emulator().log().clear();
          trial.act();
          List<RequestLog.Entry> entries = lane.emulator().log().entries();
          Verdict verdict = trial.judge(Optional.empty());
          if (verdict.end() != Verdict.End.OK || verdict.recovered() != 0 || entries.isEmpty()) {
            throw new IllegalStateException(
                scenario.label() + " without a fault: " + verdict.end());
          }
          trial.forget();
          return entries;
        });
  }

  /** All where a rename goes wrong, which may then meet itself; else by turns. */
  private static List<Onto> answers(
      StoreUnderTest store, Scenario scenario, String operation, int turn) {
    if (store != StoreUnderTest.ABFS || !scenario.publishes()) {
      return List.of(Onto.NESTS);
    }
    return operation.equals(store.publishOperation())
        ? List.of(Onto.values())
        : List.of(List.of(Onto.values()).get(turn % Onto.values().length));
  }

  private static List<Repair> repairs(Scenario scenario) {
    boolean hadoopCommit = scenario instanceof HadoopScenario && scenario.publishes();
    return hadoopCommit && scenario != HadoopScenario.ABORT_HALF
        ? List.of(Repair.values())
        : List.of(Repair.COMMIT_AGAIN);
  }
}
