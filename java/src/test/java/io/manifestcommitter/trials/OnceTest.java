// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.spark.DriverJob;
import io.manifestcommitter.testing.Cases;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState.Snapshot;
import io.manifestcommitter.testing.NoHeartbeatLeft;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.Shortage;
import io.manifestcommitter.trials.PairParty.PairJob;
import io.manifestcommitter.trials.PairRace.Trouble;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A driver dies at each request of its commit, and the same write is run again under the same
 * identity: at once, or when the heartbeat is stale. A sample by default; {@code -Donce.mode=full}
 * runs all.
 */
@ExtendWith(NoHeartbeatLeft.class)
@Tag("sample")
class OnceTest {
  private static final String ID = "run 2026-11-28T00:00:00+00:00";
  private static final String THIRD = "c0ffee00-7d20-4a36-b1c3-5e0fd2a4be03";
  private static final String AGAIN = "again";

  /** What a full run has to reach, by far. */
  private static final int LEAST = 2_000;

  private static final PairWrite[] RACES = {
    PairWrite.APPEND,
    PairWrite.APPEND_NEW,
    PairWrite.APPEND_ANYWHERE,
    PairWrite.STATIC,
    PairWrite.DYNAMIC,
    PairWrite.REPLACE
  };

  private static final int SEEDS = 40;

  /** Among which the one lies at which a driver meets trouble. */
  private static final int REQUESTS = 50;

  private final Cases cases = Cases.fromProperties("once");
  private final CaseTally<Count> tally = new CaseTally<>(cases, Count.class, "scenario", "store");

  @Test
  void aWriteThatIsRunAgainIsThereOnce() throws IOException {
    for (ReaderWrite write : ReaderWrite.ALL) {
      for (CrashStore store : stores()) {
        String steps = store + "/" + write.name();
        if (cases.begins(steps, 6)) {
          tally.enter(write.name(), store.kind());
          dieEverywhere(store, write, steps);
        }
      }
    }
    System.out.println(tally.table("Once: run again under the same identity"));
    assertThat(tally.violations()).isEmpty();
    if (!cases.isNamed()) {
      assertThat(tally.sum(Count.SKIPPED)).isPositive();
      assertThat(tally.sum(Count.WROTE)).isGreaterThan(cases.isFull() ? LEAST : LEAST / 50);
    }
  }

  @Test
  void ofTwoDriversThatRaceForOneIdentityOneWrites() throws InterruptedException, IOException {
    List<String> wrong = new ArrayList<>();
    int races = 0;
    for (CrashStore store : stores()) {
      for (PairWrite write : RACES) {
        for (Trouble trouble : Trouble.values()) {
          for (int seed = 1; seed <= SEEDS; seed++) {
            String steps = "race/" + store + "/" + write + "/" + trouble + "/" + seed;
            if (cases.runs(steps, SEEDS)) {
              races++;
              race(store, write, trouble, seed, steps, wrong);
            }
          }
        }
      }
    }
    System.out.printf("Once: %,d races for one identity (%s)%n", races, cases);
    assertThat(wrong).isEmpty();
    assertThat(races).isPositive();
  }

  private static void race(
      CrashStore store,
      PairWrite write,
      Trouble trouble,
      int seed,
      String steps,
      List<String> wrong)
      throws InterruptedException, IOException {
    PairTrial.fill(store, write.old());
    PairRace race = new PairRace(store, seed);
    PairJob a = new PairJob(store, write, "a", DriverJob.DEAD, race).identity(ID);
    PairJob b = new PairJob(store, write, "b", DriverJob.NEXT, race).identity(ID);
    a.prepare();
    b.prepare();
    race.trouble(seed % 2 == 0 ? a : b, trouble, REQUESTS);
    race.run(a, b);
    store.passTime();
    DriverJob third =
        new DriverJob(store, THIRD)
            .with(CommitterConfig.COMMIT_ID, ID)
            .waiting(waiting -> store.state().passTime(1000))
            .setUp(write.by("c"));
    String failure = Failures.of(() -> committed(third));
    Map<String, String> there = store.visible();
    boolean isThird = there.equals(write.by("c").after(write.old()));
    boolean isFirst =
        there.equals(write.by("a").after(write.old()))
            || there.equals(write.by("b").after(write.old()));
    if (!failure.isEmpty() || !(isFirst || (isThird && !a.hasEnded() && !b.hasEnded()))) {
      wrong.add(
          String.format(
              "%s: %s%n    a %s, b %s; the table is %s",
              steps, failure, a.failure(), b.failure(), there));
    }
  }

  private static List<CrashStore> stores() {
    List<CrashStore> stores = CrashStore.all("abfs", "hdfs", "gs", MemoryFileSystem.GS_FOLDERS);
    stores.addAll(CrashStore.byFile("s3a"));
    return stores;
  }

  private void dieEverywhere(CrashStore store, ReaderWrite write, String name) throws IOException {
    store.fill(write);
    DriverJob whole = job(store, DriverJob.DEAD, write, DriverJob.DEAD_WORD).runTasks();
    store.state().resetRequests();
    whole.commit();
    List<String> requests = store.state().requests();
    Set<Map<String, String>> states = new HashSet<>();
    for (int at = 1; at <= requests.size(); at++) {
      String operation = requests.get(at - 1).replaceFirst(" .*", "");
      for (Fate fate : fates(store, operation)) {
        String steps = name + "/" + operation + "-" + at + "-" + fate;
        if (!cases.begins(steps, 6)) {
          continue;
        }
        store.fill(write);
        DriverJob dead = job(store, DriverJob.DEAD, write, DriverJob.DEAD_WORD).runTasks();
        store.dieAt(at, fate);
        Failures.of(dead::commit);
        store.state().noFault();
        tally.count(Count.DIED);
        if (states.add(store.fingerprint())) {
          Snapshot died = store.state().snapshot();
          for (int seconds : new int[] {0, 60}) {
            String then = steps + "/" + seconds;
            if (cases.runs(then, 2)) {
              store.state().restore(died);
              store.state().passTime(seconds * 1000L);
              runAgain(store.byOtherName(), write, then);
            }
          }
          recoverWithoutRoom(store, write, steps, died);
        }
      }
    }
  }

  /** A recovery meets a full disk, or may not create files, before the write is run again. */
  private void recoverWithoutRoom(
      CrashStore store, ReaderWrite write, String steps, Snapshot died) {
    for (Shortage shortage : Shortage.of(store.scheme())) {
      String then = steps + "/" + shortage.label();
      if (cases.runs(then, 4)) {
        store.state().restore(died);
        store.passTime();
        store.state().lack(shortage);
        Failures.of(
            () ->
                Recoveries.all(
                    Recoveries.of(store.configuration(), /* force= */ false),
                    store.path(CrashStore.TABLE),
                    Direction.AS_MARKED));
        store.state().lack(Shortage.NONE);
        runAgain(store, write, then);
      }
    }
  }

  /** Twice: the second finds what the first has written, or found. */
  private void runAgain(CrashStore store, ReaderWrite write, String steps) {
    Map<String, String> byDead = write.by(DriverJob.DEAD_WORD).after(write.old());
    Map<String, String> byNext = write.by(AGAIN).after(write.old());
    for (String jobId : List.of(DriverJob.NEXT, THIRD)) {
      String failure = Failures.of(() -> committed(job(store, jobId, write, AGAIN)));
      Map<String, String> there = store.visible();
      boolean isSkipped = there.equals(byDead);
      tally.count(isSkipped ? Count.SKIPPED : Count.WROTE);
      if (!failure.isEmpty() || !(isSkipped || there.equals(byNext))) {
        tally.violation(
            steps,
            steps + ": " + failure + "\n    the table is " + there + "\n    and not " + byNext);
      }
    }
  }

  private static void committed(DriverJob job) throws IOException {
    try {
      job.commit();
    } catch (IOException | RuntimeException e) {
      job.abort();
      throw e;
    }
  }

  private static DriverJob job(CrashStore store, String jobId, ReaderWrite write, String word)
      throws IOException {
    return new DriverJob(store, jobId)
        .with(CommitterConfig.COMMIT_ID, ID)
        .with(CommitterConfig.UNFINISHED_JOBS, "rollback")
        .waiting(waiting -> store.state().passTime(1000))
        .setUp(write.by(word));
  }

  private static List<Fate> fates(CrashStore store, String operation) {
    return operation.equals("write") && store.filesGrowInSight()
        ? List.of(Fate.FAILS_BEFORE, Fate.HALF_DONE, Fate.FAILS_AFTER)
        : List.of(Fate.FAILS_BEFORE, Fate.FAILS_AFTER);
  }

  /** What is counted. */
  enum Count {
    /** Drivers that died in a job commit. */
    DIED,
    /** Runs after which the table has the dead driver's rows. */
    SKIPPED,
    /** Runs after which it has those of a later run. */
    WROTE
  }
}
