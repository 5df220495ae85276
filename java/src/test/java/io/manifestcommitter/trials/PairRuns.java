// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.spark.DriverJob;
import io.manifestcommitter.testing.Cases;
import io.manifestcommitter.trials.PairCheck.Left;
import io.manifestcommitter.trials.PairParty.PairJob;
import io.manifestcommitter.trials.PairParty.PairWriter;
import io.manifestcommitter.trials.PairRace.Trouble;
import io.manifestcommitter.trials.PairTest.Count;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Two writes of the Spark protocol into one table at the same time, in many orders; in half of them
 * they call the store by different names. Recoveries come by the other name.
 */
final class PairRuns extends PairTrial {
  private static final Trouble[] TROUBLES = {
    Trouble.NONE, Trouble.FAILS, Trouble.UNHEARD, Trouble.NONE, Trouble.DIES, Trouble.UNHEARD
  };

  private final PairWrite first;
  private final PairWrite second;

  PairRuns(
      CrashStore store, PairWrite first, PairWrite second, Cases cases, CaseTally<Count> tally) {
    super(store, first.name() + "-" + second.name(), cases, tally);
    this.first = first;
    this.second = second;
  }

  private static Trouble trouble(int seed) {
    return TROUBLES[seed % TROUBLES.length];
  }

  @Override
  String step(int seed) {
    return trouble(seed).name() + "/";
  }

  @Override
  PairParty[] run(int seed, List<String> wrong) throws InterruptedException {
    return new Interleaving(seed, wrong).run();
  }

  /** One order of their requests. */
  private final class Interleaving {
    private final Trouble trouble;
    private final PairRace race;
    private final PairJob a;
    private final PairJob b;
    private final PairJob troubled;
    private final List<String> wrong;
    private boolean isRefused;

    Interleaving(int seed, List<String> wrong) {
      this.wrong = wrong;
      trouble = trouble(seed);
      race = new PairRace(store, seed);
      boolean isSmaller = race.draw(2) == 0;
      a = new PairJob(store, first, "a", isSmaller ? DriverJob.DEAD : DriverJob.NEXT, race);
      b =
          new PairJob(
              store.byName(seed / TROUBLES.length),
              second,
              "b",
              isSmaller ? DriverJob.NEXT : DriverJob.DEAD,
              race);
      troubled = race.draw(2) == 0 ? a : b;
    }

    PairParty[] run() throws InterruptedException {
      fill(store, first.old());
      if (trouble != Trouble.NONE) {
        race.trouble(troubled, trouble, 60);
      }
      race.run(a, b);
      if (isLeftBehind()) {
        recover();
      }
      count();
      check();
      return new PairParty[] {a, b};
    }

    /** Whether the one in trouble could not roll back, or finish, what it had begun. */
    private boolean isLeftBehind() {
      return trouble == Trouble.DIES
          || (trouble == Trouble.UNHEARD && !troubled.hasEnded())
          || troubled.failure().contains("manifest-committer recover");
    }

    private void count() {
      if (race.hasWaited()) {
        tally.count(Count.WAITED);
      }
      if (isRefused) {
        tally.count(Count.REFUSED);
      }
      if (a.hasEnded() && b.hasEnded()) {
        tally.count(Count.BOTH_ENDED);
      } else {
        tally.count(
            trouble == Trouble.DIES
                ? Count.DIED
                : trouble == Trouble.UNHEARD ? Count.TAKEN_OVER : Count.FAILED);
      }
    }

    private void check() {
      Map<PairWriter, Left> left = new LinkedHashMap<>();
      for (PairJob job : List.of(a, b)) {
        left.put(
            job,
            job.hasEnded()
                ? Left.ALL
                : isLeftBehind() && job == troubled ? Left.ALL_OR_NOTHING : Left.NOTHING);
        if (!job.hasEnded() && (trouble == Trouble.NONE || job != troubled) && !isMoved(job)) {
          wrong.add(job.name() + " failed, and nothing was wrong with it");
        }
      }
      List<String> orders = new PairCheck(first.old(), store.visible(), race::hasSeen).orders(left);
      if (isRefused) {
        requireRowsOfEnded();
        return;
      }
      if (orders.isEmpty()) {
        wrong.add("no order makes the table " + store.visible());
      } else if (orders.equals(List.of("ba"))) {
        tally.count(Count.FIRST_LAST);
      } else if (orders.equals(List.of("ab"))) {
        tally.count(Count.SECOND_LAST);
      }
      List<String> staging = store.staging();
      if (trouble == Trouble.FAILS) {
        // Where the one request that failed was to delete that; a job that ended says so in its
        // log.
        staging.removeIf(
            path ->
                path.contains("/_manifest_clock-")
                    || (troubled.hasEnded() && path.contains(troubled.jobId())));
      }
      CrashCheck.differs(wrong, "staging", staging, List.of());
      String report = store.text(CrashStore.TABLE + "/_SUCCESS");
      boolean isOfEnded = !a.hasEnded() && !b.hasEnded() && report.equals(CrashStore.LAST_REPORT);
      for (PairJob job : List.of(a, b)) {
        isOfEnded |= left.get(job) != Left.NOTHING && report.contains(job.jobId());
      }
      if (!isOfEnded) {
        wrong.add("_SUCCESS is " + report);
      }
      // Of renames, what another job's failure makes of the report is tried elsewhere.
      if (store.isUploaded() || (trouble == Trouble.NONE && a.hasEnded() && b.hasEnded())) {
        checkReport(wrong);
      }
    }

    /**
     * An append whose new partition an overwrite took for old data before it was looked at again.
     */
    private boolean isMoved(PairJob job) {
      PairJob other = job == a ? b : a;
      return job.write().isAppend()
          && !other.write().isAppend()
          && job.failure().contains("right after they were published");
    }

    private void requireRowsOfEnded() {
      for (PairJob job : List.of(a, b)) {
        for (String row : job.write().rows().keySet()) {
          if (job.hasEnded() && !store.visible().containsKey(row)) {
            wrong.add("recovery refused, and a row is lost: " + row);
          }
        }
      }
    }

    /** What was left of the one that died, as {@code manifest-committer recover} does. */
    private void recover() {
      isRefused = isRefused(wrong);
      // What a dead job without a commit leaves is for cleaning.
      store.giveUp(troubled);
      for (String path : store.staging()) {
        boolean isOfDead = path.contains("/_manifest_" + troubled.jobId()) && !isRefused;
        if (isOfDead || path.contains("/_manifest_clock-")) {
          store.state().remove(path);
        }
      }
    }
  }
}
