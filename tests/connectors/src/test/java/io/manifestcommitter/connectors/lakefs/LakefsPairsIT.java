// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors.lakefs;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.connectors.lakefs.LakeJob.Kind;
import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.testing.Cases;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.trials.CaseTally;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/**
 * A driver is held at each request of its job, while another job runs from its beginning to its
 * end, or from its commit on. The table is what one of them made after the other. A sample by
 * default; {@code -Dlakefs.mode=full} runs all.
 */
class LakefsPairsIT {
  private static final int SAMPLE = 12;

  private static final Kind[][] PAIRS = {
    {Kind.APPEND, Kind.APPEND},
    {Kind.APPEND, Kind.APPEND_ELSEWHERE},
    {Kind.STATIC, Kind.STATIC},
    {Kind.DYNAMIC, Kind.DYNAMIC},
    {Kind.DYNAMIC, Kind.DYNAMIC_ELSEWHERE},
    {Kind.PARTITION, Kind.PARTITION},
    {Kind.STATIC, Kind.DYNAMIC},
    {Kind.DYNAMIC, Kind.STATIC},
    {Kind.PARTITION, Kind.STATIC},
    {Kind.APPEND, Kind.STATIC},
    {Kind.STATIC, Kind.APPEND},
    {Kind.APPEND, Kind.DYNAMIC},
    {Kind.DYNAMIC, Kind.APPEND},
    {Kind.ONCE, Kind.ONCE}
  };

  private final Cases cases = Cases.fromProperties("lakefs");
  private final CaseTally<Count> tally = new CaseTally<>(cases, Count.class, "pair");

  @Test
  void theTableIsOfOneAfterTheOther() throws Exception {
    for (Kind[] pair : PAIRS) {
      for (boolean marks : new boolean[] {true, false}) {
        for (boolean isSetUp : new boolean[] {false, true}) {
          String steps =
              String.join(
                  "/",
                  pair[0] + "-" + pair[1],
                  marks ? "marks" : "no-marks",
                  isSetUp ? "from-commit" : "from-setup");
          int at = 1;
          while (run(pair, marks, isSetUp, at, steps + "/" + at)) {
            at++;
          }
        }
      }
    }
    System.out.println(tally.table("Pairs of jobs in lakeFS"));
    assertThat(tally.violations()).isEmpty();
    if (!cases.isNamed()) {
      assertThat(tally.sum(Count.FIRST_LAST)).isPositive();
      assertThat(tally.sum(Count.SECOND_LAST)).isPositive();
    }
  }

  /** It meets the other's overwrite at its merge, and has no place of its own. */
  @Test
  void anOverwriteWithoutRowsRemovesNothingOfAnother() throws Exception {
    try (Lake lake = Lake.with(LakeJob.OLD)) {
      LakeJob empty = new LakeJob(lake, Kind.DYNAMIC).setUp();
      LakeJob other = new LakeJob(lake, Kind.DYNAMIC).run();
      empty.commit();
      assertThat(lake.contents()).isEqualTo(other.after(LakeJob.OLD));
    }
  }

  /** Whether there may be a further request, at which to hold. */
  private boolean run(Kind[] pair, boolean marks, boolean isSetUp, int at, String name)
      throws Exception {
    if (!cases.runs(name, SAMPLE)) {
      return at < 40;
    }
    Map<String, String> settings =
        Map.of(CommitterConfig.MARK_SUCCESSFUL_JOBS, Boolean.toString(marks));
    ExecutorService driver = Executors.newSingleThreadExecutor();
    try (Lake lake = Lake.with(LakeJob.OLD)) {
      LakeJob first = new LakeJob(lake, pair[0], settings);
      LakeJob second = new LakeJob(lake, pair[1], settings);
      if (isSetUp) {
        second.setUp().runTasks();
      }
      FaultRule held = first.door.faults().add(FaultRule.on(FaultRule.ANY).call(at).hold());
      Future<LakeJob> run = driver.submit(first::run);
      if (!Waiting.until(held, run)) {
        run.get();
        return false;
      }
      tally.enter(pair[0] + " / " + pair[1]);
      tally.count(Count.CASES);
      String failure =
          Failures.of(
              () -> {
                if (isSetUp) {
                  second.commit();
                } else {
                  second.run();
                }
              });
      held.release();
      check(lake, first, Waiting.ended(run), second, failure, name);
      return true;
    } catch (IOException | TimeoutException | RuntimeException e) {
      tally.violation(name, name + "\n    " + Failures.trace(e));
      return at < 40;
    } finally {
      driver.shutdownNow();
    }
  }

  private void check(
      Lake lake, LakeJob first, String firstFails, LakeJob second, String secondFails, String name)
      throws IOException {
    NavigableMap<String, String> seen = lake.contents();
    NavigableMap<String, String> firstLast = first.after(second.after(LakeJob.OLD));
    NavigableMap<String, String> secondLast = second.after(first.after(LakeJob.OLD));
    List<NavigableMap<String, String>> allowed = new ArrayList<>();
    if (first.kind == Kind.ONCE) {
      // Of two that are one, one is there; the other was skipped, or failed.
      allowed.add(first.after(LakeJob.OLD));
      allowed.add(second.after(LakeJob.OLD));
    } else if (!firstFails.isEmpty()) {
      allowed.add(second.after(LakeJob.OLD));
    } else if (!secondFails.isEmpty()) {
      allowed.add(first.after(LakeJob.OLD));
    } else {
      allowed.addAll(List.of(firstLast, secondLast));
    }
    String told = " (first: " + firstFails + ", second: " + secondFails + ")";
    if (!allowed.contains(seen)) {
      tally.violation(name, name + "\n    the table is " + seen + told);
    }
    if (firstFails.isEmpty() && secondFails.isEmpty()) {
      if (!firstLast.equals(secondLast) && first.kind != Kind.ONCE) {
        tally.count(seen.equals(firstLast) ? Count.FIRST_LAST : Count.SECOND_LAST);
      } else {
        tally.count(Count.BOTH);
      }
    } else {
      tally.count(Count.FAILED);
      if (first.kind != Kind.ONCE) {
        tally.violation(name, name + "\n    one fails" + told);
      }
    }
    if (!lake.jobBranches().isEmpty() && firstFails.isEmpty() && secondFails.isEmpty()) {
      tally.violation(name, name + "\n    left: " + lake.jobBranches());
    }
    if (!lake.dirt().isEmpty()) {
      tally.violation(name, name + "\n    not committed on main: " + lake.dirt());
    }
  }

  /** What is counted. */
  enum Count {
    CASES,
    /** Both ended, and their order makes no difference. */
    BOTH,
    FIRST_LAST,
    SECOND_LAST,
    FAILED
  }
}
