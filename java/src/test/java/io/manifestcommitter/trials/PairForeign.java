// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.spark.DriverJob;
import io.manifestcommitter.testing.Cases;
import io.manifestcommitter.trials.PairTally.Count;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A write of the Spark protocol beside one through a committer of Hadoop's kind, of which
 * FileOutputCommitter promises nothing: what has to hold is that ours has all its rows, or fails.
 */
final class PairForeign {
  private final CrashStore store;
  private final PairWrite ours;
  private final PairWrite theirs;
  private final PairHadoopJob.Kind kind;
  private final String name;
  private final Cases cases;
  private final PairTally tally;

  PairForeign(
      CrashStore store,
      PairWrite ours,
      PairWrite theirs,
      PairHadoopJob.Kind kind,
      Cases cases,
      PairTally tally) {
    this.store = store;
    this.ours = ours;
    this.theirs = theirs;
    this.kind = kind;
    this.name = store + "/" + ours.name() + "-" + kind.name() + "-" + theirs.name();
    this.cases = cases;
    this.tally = tally;
  }

  /**
   * Runs them.
   *
   * @param oneIn of how many interleavings a sample takes one
   */
  void run(int oneIn) throws InterruptedException {
    for (int seed = 1; seed <= PairRuns.INTERLEAVINGS; seed++) {
      String steps = name + "/" + seed;
      if (cases.runs(steps, oneIn)) {
        run(steps, seed);
      }
    }
  }

  private void run(String steps, int seed) throws InterruptedException {
    PairRace race = new PairRace(store, seed);
    PairJob a = new PairJob(store, ours, "a", DriverJob.DEAD, race);
    PairHadoopJob b = new PairHadoopJob(store, theirs, kind, "b");
    PairRuns.fill(store, ours.old());
    race.run(a, b);
    tally.count(Count.INTERLEAVINGS);
    tally.count(a.hasEnded() && b.hasEnded() ? Count.BOTH_ENDED : Count.FAILED);
    List<String> wrong = new ArrayList<>();
    check(wrong, race, a, b);
    if (!wrong.isEmpty()) {
      tally.violation(steps, PairRuns.told(steps, a, b, wrong));
    }
  }

  private void check(List<String> wrong, PairRace race, PairJob a, PairHadoopJob b) {
    Map<String, String> visible = store.visible();
    if (!a.hasEnded() && b.write().isAppend()) {
      wrong.add("ours failed beside an append");
    }
    // A job that fails takes empty directories back, which FileOutputCommitter may have counted on.
    boolean mayFail = !b.isOurs() && (!a.write().isAppend() || (!a.hasEnded() && b.hasDeleted()));
    if (!b.hasEnded() && !mayFail) {
      wrong.add("theirs failed");
    }
    boolean isAll = visible.entrySet().containsAll(a.write().rows().entrySet());
    boolean isDeletedWhole = race.deleted().entrySet().containsAll(a.write().rows().entrySet());
    if (a.hasEnded() && !isAll && !isDeletedWhole) {
      wrong.add("ours ended, and its rows are not there");
    }
    if (!a.hasEnded() || !isAll) {
      a.write().rows().keySet().stream()
          .filter(visible::containsKey)
          .forEach(row -> wrong.add("a row of ours, which failed or was deleted: " + row));
    }
    for (Map.Entry<String, String> row : b.write().rows().entrySet()) {
      boolean isReplaced =
          a.hasEnded() && a.write().replaces(row.getKey()) && race.hasSeen("a", row.getKey());
      if (b.hasEnded() && !visible.containsValue(row.getValue()) && !isReplaced) {
        wrong.add("theirs ended, and a row is lost: " + row);
      }
    }
    Map<String, String> old = new TreeMap<>(ours.old());
    old.keySet()
        .removeIf(
            row ->
                (b.hasDeleted() && b.write().replaces(row))
                    || (a.hasEnded() && isAll && a.write().replaces(row)));
    Map<String, String> left = new TreeMap<>(visible);
    left.values().removeAll(a.write().rows().values());
    left.values().removeAll(b.write().rows().values());
    CrashCheck.differs(wrong, "the old data", left, old);
  }
}
