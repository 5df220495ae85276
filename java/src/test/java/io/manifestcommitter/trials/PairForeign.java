// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.spark.DriverJob;
import io.manifestcommitter.testing.Cases;
import io.manifestcommitter.trials.PairParty.PairHadoopJob;
import io.manifestcommitter.trials.PairParty.PairJob;
import io.manifestcommitter.trials.PairTest.Count;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A write of the Spark protocol beside one through a committer of Hadoop's kind, of which
 * FileOutputCommitter promises nothing: what has to hold is that ours has all its rows, or fails.
 */
final class PairForeign extends PairTrial {
  private final PairWrite ours;
  private final PairWrite theirs;
  private final PairHadoopJob.Kind kind;

  PairForeign(
      CrashStore store,
      PairWrite ours,
      PairWrite theirs,
      PairHadoopJob.Kind kind,
      Cases cases,
      CaseTally<Count> tally) {
    super(store, ours.name() + "-" + kind.name() + "-" + theirs.name(), cases, tally);
    this.ours = ours;
    this.theirs = theirs;
    this.kind = kind;
  }

  @Override
  PairParty[] run(int seed, List<String> wrong) throws InterruptedException {
    PairRace race = new PairRace(store, seed);
    PairJob a = new PairJob(store, ours, "a", DriverJob.DEAD, race);
    PairHadoopJob b = new PairHadoopJob(store, theirs, kind, "b");
    fill(store, ours.old());
    race.run(a, b);
    tally.count(a.hasEnded() && b.hasEnded() ? Count.BOTH_ENDED : Count.FAILED);
    check(wrong, race, a, b);
    return new PairParty[] {a, b};
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
