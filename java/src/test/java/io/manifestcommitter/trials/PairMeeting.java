// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.spark.DriverJob;
import io.manifestcommitter.testing.Cases;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.trials.PairCheck.Left;
import io.manifestcommitter.trials.PairParty.PairClean;
import io.manifestcommitter.trials.PairParty.PairJob;
import io.manifestcommitter.trials.PairParty.PairRecovery;
import io.manifestcommitter.trials.PairParty.PairWriter;
import io.manifestcommitter.trials.PairTest.Count;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A driver that died some time ago, and two that meet at what it left: a recovery beside a write,
 * beside another recovery; a cleaning beside a write. In half of them the two call the store by
 * different names.
 */
final class PairMeeting extends PairTrial {
  /** Requests of a job commit, about. */
  private static final int REQUESTS = 45;

  private static final String WRITER = "5c07d1e4-2222-4a7b-8c11-0d3c1c2b7a22";

  private final PairWrite dead;
  private final PairWrite other;
  private final What what;

  /**
   * A meeting.
   *
   * @param dead what the dead driver did
   * @param other what the other one does, if that is a write
   */
  PairMeeting(
      CrashStore store,
      PairWrite dead,
      PairWrite other,
      What what,
      Cases cases,
      CaseTally<Count> tally) {
    super(store, what + "-" + dead.name() + "-" + other.name(), cases, tally);
    this.dead = dead;
    this.other = other;
    this.what = what;
  }

  /** Who meet. */
  enum What {
    RECOVER("recovery of "),
    COMPLETE("recovery, --complete, of "),
    TWO_RECOVERIES("two recoveries of "),
    CLEAN("clean of ");

    private final String label;

    What(String label) {
      this.label = label;
    }
  }

  static String label(What what, PairWrite dead, PairWrite other) {
    return what.label + dead.label() + (what == What.TWO_RECOVERIES ? "" : " / " + other.label());
  }

  @Override
  PairParty[] run(int seed, List<String> wrong) throws InterruptedException, IOException {
    PairRace race = new PairRace(store, seed);
    boolean isSmaller = race.draw(2) == 0;
    PairJob died = new PairJob(store, dead, "d", isSmaller ? DriverJob.DEAD : DriverJob.NEXT, race);
    fill(store, dead.old());
    boolean hasDied = die(died.jobId(), race);
    store.passTime();
    PairJob writer =
        new PairJob(store, other, "b", WRITER, race)
            .settling(race.draw(2) == 0 ? "rollback" : "warn");
    CrashStore byName = store.byName(seed / 2);
    PairParty a =
        what == What.CLEAN
            ? new PairClean(byName, "a")
            : new PairRecovery(
                byName,
                "a",
                died.jobId(),
                what == What.COMPLETE ? Direction.COMPLETE : Direction.AS_MARKED);
    PairParty b =
        what == What.TWO_RECOVERIES
            ? new PairRecovery(
                store, "b", died.jobId(), seed % 2 == 0 ? Direction.COMPLETE : Direction.AS_MARKED)
            : writer;
    race.run(a, b);

    boolean isRefused = isRefused(wrong);
    tally.count(a.hasEnded() && b.hasEnded() ? Count.BOTH_ENDED : Count.FAILED);
    if (hasDied) {
      tally.count(Count.DIED);
    }
    if (race.hasWaited()) {
      tally.count(Count.WAITED);
    }
    if (isRefused) {
      tally.count(Count.REFUSED);
    }
    check(wrong, race, died, hasDied, b, isRefused);
    return new PairParty[] {a, b};
  }

  /** A driver that dies in its commit, and where only what it left is to be cleaned before that. */
  private boolean die(String jobId, PairRace race) throws IOException {
    DriverJob job = new DriverJob(store, jobId).setUp(dead.by("d")).runTasks();
    store.dieAt(1 + race.draw(what == What.CLEAN ? 5 : REQUESTS), Fate.FAILS_AFTER);
    String failure = Failures.of(job::commit);
    store.state().noFault();
    return !failure.isEmpty();
  }

  private void check(
      List<String> wrong,
      PairRace race,
      PairJob died,
      boolean hasDied,
      PairParty b,
      boolean isRefused) {
    Map<PairWriter, Left> left = new LinkedHashMap<>();
    left.put(died, hasDied ? Left.ALL_OR_NOTHING : Left.ALL);
    if (b instanceof PairJob) {
      left.put((PairJob) b, b.hasEnded() ? Left.ALL : Left.NOTHING);
      if (!b.hasEnded()) {
        wrong.add("the write failed");
      }
    }
    if (isRefused) {
      for (PairWriter writer : left.keySet()) {
        for (String row : writer.write().rows().keySet()) {
          if (writer == b && !store.visible().containsKey(row)) {
            wrong.add("recovery refused, and a row is lost: " + row);
          }
        }
      }
      return;
    }
    if (new PairCheck(dead.old(), store.visible(), race::hasSeen).orders(left).isEmpty()) {
      wrong.add("no order makes the table " + store.visible());
    }
    if (store.isUploaded() && !(b instanceof PairRecovery)) {
      checkReport(wrong);
    }
    // What a driver that had no journal yet leaves, is left to be cleaned.
    store.giveUp(died);
    List<String> staging = store.staging();
    staging.removeIf(path -> what != What.CLEAN && path.contains(died.jobId()));
    CrashCheck.differs(wrong, "staging", staging, List.of());
  }
}
