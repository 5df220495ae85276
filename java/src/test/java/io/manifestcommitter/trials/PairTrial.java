// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.manifest.FileList;
import io.manifestcommitter.testing.Cases;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.trials.PairTest.Count;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Two parties that work on one table of a store at the same time, in many orders. */
abstract class PairTrial {
  /**
   * On each store; of writes of the Spark protocol one in six fails, one in six dies, and one in
   * three is taken for dead and lives.
   */
  private static final int INTERLEAVINGS = Integer.getInteger("pairs.interleavings", 60);

  final CrashStore store;
  final CaseTally<Count> tally;
  private final String name;
  private final Cases cases;

  PairTrial(CrashStore store, String name, Cases cases, CaseTally<Count> tally) {
    this.store = store;
    this.name = store + "/" + name;
    this.cases = cases;
    this.tally = tally;
  }

  /** What is before the seed in the name of a case: empty, or it ends in a slash. */
  String step(int seed) {
    return "";
  }

  /** Runs one order; adds what is wrong, and tells the two. */
  abstract PairParty[] run(int seed, List<String> wrong) throws InterruptedException, IOException;

  /**
   * Runs them.
   *
   * @param oneIn of how many interleavings a sample takes one
   */
  final void run(int oneIn) throws InterruptedException, IOException {
    for (int seed = 1; seed <= INTERLEAVINGS; seed++) {
      String steps = name + "/" + step(seed) + seed;
      if (cases.runs(steps, oneIn)) {
        List<String> wrong = new ArrayList<>();
        PairParty[] both = run(seed, wrong);
        tally.count(Count.INTERLEAVINGS);
        if (!wrong.isEmpty()) {
          tally.violation(
              steps,
              String.format(
                  "%s: a is %s, b is %s%n    %s",
                  steps, end(both[0]), end(both[1]), String.join("\n    ", wrong)));
        }
      }
    }
  }

  private static String end(PairParty party) {
    return party.hasEnded() ? "done" : party.failure();
  }

  /** Makes the store hold a table, with the report of the last job. */
  static void fill(CrashStore store, Map<String, String> old) {
    store.state().clear();
    old.forEach(store.state()::write);
    store.state().write(CrashStore.TABLE + "/_SUCCESS", CrashStore.LAST_REPORT);
    store.state().write(CrashStore.TABLE + "/_SUCCESS.files", CrashStore.LAST_LIST);
  }

  /**
   * Looks whether the last report and the list beside it are of one job. On S3 without conditions
   * nothing is in the way of a second report.
   */
  final void checkReport(List<String> wrong) {
    if (!store.keepsReports()) {
      return;
    }
    String report = store.text(CrashStore.TABLE + "/_SUCCESS");
    String list = CrashStore.TABLE + "/_SUCCESS.files";
    if (report.equals(CrashStore.LAST_REPORT)) {
      CrashCheck.differs(wrong, "the list", store.text(list), CrashStore.LAST_LIST);
      return;
    }
    if (store.text(list).isEmpty()) {
      wrong.add("no list beside _SUCCESS, which is " + report);
      return;
    }
    try (FileList files =
        FileList.read(new ByteArrayInputStream(store.state().bytes(list)), list)) {
      if (report.isEmpty() || !report.contains(files.jobId)) {
        wrong.add("_SUCCESS.files is of job " + files.jobId + ", and _SUCCESS is " + report);
      }
    } catch (IOException e) {
      wrong.add("_SUCCESS.files: " + e + ", and _SUCCESS is " + report);
    }
  }

  /**
   * Recovers what is dead, once time has passed. Says whether that was refused, since somebody has
   * changed the table; any other failure is wrong.
   */
  final boolean isRefused(List<String> wrong) {
    store.passTime();
    String failure =
        Failures.of(
            () ->
                Recoveries.all(
                    Recoveries.of(store.configuration(), /* force= */ false),
                    store.byOtherName().path(CrashStore.TABLE),
                    Recovery.Direction.AS_MARKED));
    boolean isRefused = failure.contains("was changed since");
    if (!failure.isEmpty() && !isRefused) {
      wrong.add("recovery failed: " + failure);
    }
    return isRefused;
  }
}
