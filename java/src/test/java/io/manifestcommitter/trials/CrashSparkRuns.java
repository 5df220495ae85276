// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.config.CommitterConfig.UnfinishedJobsMode;
import io.manifestcommitter.jobs.LifeSigns.Pause;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.spark.DriverJob;
import io.manifestcommitter.testing.Cases;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.MemoryStoreState.Snapshot;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.Shortage;
import io.manifestcommitter.trials.CrashTest.Count;
import io.manifestcommitter.trials.PairParty.PairClean;
import io.manifestcommitter.trials.ReaderWrite.ReaderPlace;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;

/**
 * One kind of write on one store: its driver dies at every request of the job commit, and from each
 * store that it leaves everything is tried that may come after. Stores that hold the same are tried
 * once.
 */
final class CrashSparkRuns {
  private static final List<Fate> FATES = List.of(Fate.FAILS_BEFORE, Fate.FAILS_AFTER);

  /** In seconds after the death; a heartbeat is stale after 45. */
  private static final List<Integer> RESTARTS = List.of(0, 1, 10, 20, 30, 44, 46, 60);

  private final CrashStore store;
  private final ReaderWrite dead;
  private final String name;
  private final Cases cases;
  private final CaseTally<Count> tally;
  private final CrashCheck check;
  private final List<String> requests;
  private final Map<Shortage, Map<Direction, Set<Map<String, String>>>> seen =
      new EnumMap<>(Shortage.class);

  /** What the store lacks while somebody recovers. */
  private Shortage lacking = Shortage.NONE;

  CrashSparkRuns(CrashStore store, ReaderWrite write, Cases cases, CaseTally<Count> tally)
      throws IOException {
    this.store = store;
    this.dead = write;
    this.name = store + "/" + write.name();
    this.cases = cases;
    this.tally = tally;
    fill();
    store.allowDeletion();
    Snapshot before = store.state().snapshot();
    DriverJob job = job().runTasks();
    store.state().resetRequests();
    job.commit();
    List<String> toItsEnd = store.state().requests();
    check = new CrashCheck(store, dead, before, store.state().snapshot());
    requests = store.isHoldingOld() ? requestsOfRefused() : toItsEnd;
  }

  private void fill() {
    store.fill(dead);
  }

  /** The one that dies, set up, its tasks not yet run. */
  private DriverJob job() throws IOException {
    return new DriverJob(store, DriverJob.DEAD)
        .with(CommitterConfig.UNFINISHED_JOBS, "rollback")
        .setUp(dead.by(DriverJob.DEAD_WORD));
  }

  private List<String> requestsOfRefused() throws IOException {
    fill();
    DriverJob job = job().runTasks();
    store.state().resetRequests();
    Failures.of(job::commit);
    return store.state().requests();
  }

  /**
   * Tries all.
   *
   * @param oneIn of how many crash points a sample takes one
   */
  void run(int oneIn) throws IOException {
    Set<Map<String, String>> states = new HashSet<>();
    for (int at = 1; at <= requests.size(); at++) {
      String operation = requests.get(at - 1).replaceFirst(" .*", "");
      for (Fate fate : fates(operation)) {
        String steps = name + "/" + operation + "-" + point(at, fate);
        if (fate == Fate.FAILS_BEFORE && !store.isHoldingOld()) {
          meetsShortage(steps, at);
        }
        if (!cases.begins(steps, oneIn)) {
          continue;
        }
        die(at, fate);
        tally.count(Count.DIED);
        checked(steps, check.frozen());
        if (states.add(store.fingerprint())) {
          tally.count(Count.STATES);
          Snapshot died = store.state().snapshot();
          if (!store.isHoldingOld()) {
            restart(steps + "/restart", died);
          }
          store.state().restore(died);
          store.passTime();
          comesAfter(steps, store.state().snapshot());
        }
      }
    }
    if (store.isHoldingOld()) {
      failsByItself(name + "/fails");
    }
  }

  /** Nobody dies: the job meets old data that it may not delete, and is aborted. */
  private void failsByItself(String steps) throws IOException {
    if (!cases.begins(steps, 1)) {
      return;
    }
    fill();
    DriverJob job = job();
    String failure = Failures.of(job::commit);
    if (!failure.isEmpty()) {
      job.abort();
    }
    checked(steps, check.told(failure, store));
    comesAfter(steps, store.state().snapshot());
  }

  private void die(int at, Fate fate) throws IOException {
    fill();
    DriverJob job = job().runTasks();
    store.dieAt(at, fate);
    Failures.of(job::commit);
    store.state().noFault();
  }

  /** Nobody dies: from a request on the store lacks something, and the job is aborted, perhaps. */
  private void meetsShortage(String steps, int at) throws IOException {
    for (Shortage shortage : Shortage.of(store.scheme())) {
      String then = steps + "/met-" + shortage.label();
      if (!cases.runs(then, 20)) {
        continue;
      }
      fill();
      DriverJob job = job().runTasks();
      store.onRequest(
          (number, operation, path) -> {
            if (number == at) {
              store.state().lack(shortage);
            }
            return Fate.NORMAL;
          });
      tally.count(Count.MET_SHORTAGE);
      String failure = Failures.of(job::commit);
      store.state().noFault();
      if (!failure.isEmpty()) {
        job.abort();
      }
      boolean isNew = check.isForward();
      List<String> wrong = new ArrayList<>();
      if (mayWantRoom(isNew) && !failure.isEmpty() && check.isBegun()) {
        store.state().lack(Shortage.NONE);
        String recovery = withRoom(wrong, failure, store);
        CrashCheck.failed(wrong, "recovery failed", recovery);
      }
      if (!isNew && failure.isEmpty()) {
        wrong.add("it did not fail");
      }
      tally.count(isNew ? Count.NEW : Count.OLD);
      wrong.addAll(check.isExactly(isNew));
      checked(then, wrong);
      store.state().lack(Shortage.NONE);
    }
  }

  /**
   * What comes after meets a store that lacks something: nobody who goes back, or cleans, needs it.
   */
  private void afterShortage(String steps, Snapshot frozen, boolean isForward, boolean isBegun) {
    for (Shortage shortage : Shortage.of(store.scheme())) {
      String then = steps + "/" + shortage.label();
      if (cases.begins(then, 4)) {
        lacking = shortage;
        recover(then + "/recover", frozen, Direction.AS_MARKED, isForward);
        recover(then + "/complete", frozen, Direction.COMPLETE, isForward || isBegun);
        recoverTwice(then + "/recover", frozen, Direction.AS_MARKED, Direction.AS_MARKED);
        recoverTwice(then + "/complete", frozen, Direction.COMPLETE, Direction.AS_MARKED);
        clean(then + "/clean", frozen);
        lacking = Shortage.NONE;
      }
    }
  }

  /**
   * To go forward may need room for the report. Where nothing is renamed, to bring back the last
   * report needs the right to create it; all else is rolled back before.
   */
  private boolean mayWantRoom(boolean isNew) {
    return isNew || store.isUploaded();
  }

  /** Recovers with room what failed without: it told what to do, and the table is no mixture. */
  private String withRoom(List<String> wrong, String failure, CrashStore by) {
    CrashCheck.saysWhatToDo(wrong, failure, by);
    if (failure.contains("rolled back completely") || failure.contains("could not roll back")) {
      CrashCheck.differs(wrong, "the table without room", store.visible(), check.old());
    }
    store.passTime();
    return Failures.of(() -> recover(store.byOtherName(), Direction.AS_MARKED, /* force= */ false));
  }

  private void clean(String steps, Snapshot frozen) {
    if (!cases.runs(steps, 3)) {
      return;
    }
    store.state().restore(frozen);
    // Long ago: whoever cleans finds no rename under way.
    store.state().finishRenames();
    Map<String, String> visible = store.visible();
    Map<String, String> before = store.fingerprint();
    boolean isUnfinished = check.isUnfinished();
    tally.count(Count.CLEANED);
    store.state().lack(lacking);
    String failure = Failures.of(new PairClean(store, "clean")::act);
    store.state().lack(Shortage.NONE);
    List<String> wrong = new ArrayList<>();
    CrashCheck.failed(wrong, "cleaning failed", failure);
    CrashCheck.differs(wrong, "the table", store.visible(), visible);
    if (isUnfinished) {
      CrashCheck.differs(wrong, "the store", store.fingerprint(), before);
    } else {
      List<String> left = new ArrayList<>(store.staging());
      // What no plan names only a listing of all uploads finds, and locations are cleaned by name.
      left.removeIf(path -> !path.startsWith(CrashStore.TABLE + "/"));
      CrashCheck.differs(wrong, "staging", left, List.of());
    }
    checked(steps, wrong);
  }

  private void comesAfter(String steps, Snapshot frozen) throws IOException {
    boolean isForward = check.isForward();
    boolean isBegun = check.isPlanned();
    if (store.isHoldingOld()) {
      recoverTwice(steps + "/recover", frozen, Direction.AS_MARKED, Direction.AS_MARKED);
      new Refusal(frozen, isForward).comesAfter(steps);
      return;
    }
    recover(steps + "/recover", frozen, Direction.AS_MARKED, isForward);
    recover(steps + "/complete", frozen, Direction.COMPLETE, isForward || isBegun);
    recoverTwice(steps + "/recover", frozen, Direction.AS_MARKED, Direction.AS_MARKED);
    recoverTwice(steps + "/complete", frozen, Direction.COMPLETE, Direction.COMPLETE);
    recoverTwice(steps + "/complete", frozen, Direction.COMPLETE, Direction.AS_MARKED);
    afterShortage(steps, frozen, isForward, isBegun);
    runAgain(steps + "/run-again", frozen, isForward);
    afterRenaming(steps + "/renamed", frozen, isForward);
    for (CrashOther other : CrashOther.AT_THE_SAME_PLACES) {
      for (Direction direction : Recoveries.OF_DEAD) {
        String then = steps + "/" + other.label() + "/" + label(direction);
        if (cases.runs(then, 6)) {
          store.state().restore(frozen);
          try {
            new Meeting(then, other, direction, isBegun).run(DriverJob.wouldWait());
          } catch (IOException e) {
            wrong(then, "the other job, or what the message says, failed: " + e);
          }
        }
      }
    }
  }

  private void recover(String steps, Snapshot frozen, Direction direction, boolean isNew) {
    if (!cases.runs(steps, 3)) {
      return;
    }
    store.state().restore(frozen);
    boolean isBegun = check.isBegun();
    tally.count(direction == Direction.COMPLETE ? Count.COMPLETE : Count.RECOVER);
    String failure = Failures.of(() -> recoverAll(direction, /* force= */ false));
    ends(steps, failure, isNew, isBegun);
  }

  /** The table is renamed before it is recovered, or before the job is run again. */
  private void afterRenaming(String steps, Snapshot frozen, boolean isForward) {
    if (store.isUploaded()) {
      // Nothing is renamed there: uploads wait where they were begun.
      return;
    }
    CrashStore renamed = store.withTableRenamed();
    for (Direction direction : Recoveries.OF_DEAD) {
      String then = steps + "/" + label(direction);
      if (cases.runs(then, 3)) {
        store.state().restore(frozen);
        boolean isBegun = check.isBegun();
        boolean isNew = isForward || (direction == Direction.COMPLETE && check.isPlanned());
        store.renameTable();
        tally.count(Count.RENAMED);
        String failure = Failures.of(() -> recoverAll(renamed, direction, /* force= */ false));
        store.renameTableBack();
        ends(then, failure, isNew, isBegun);
      }
    }
    if (cases.runs(steps + "/run-again", 3)) {
      store.state().restore(frozen);
      store.renameTable();
      tally.count(Count.RENAMED);
      String failure = Failures.of(() -> again(renamed, "rollback", DriverJob.wouldWait()));
      store.renameTableBack();
      ranAgain(steps + "/run-again", failure, isForward);
    }
  }

  /**
   * The first dies right after each of its requests, which is right before the next; then the
   * second, to its end, by somebody who may delete everything. Of deaths that leave the same, one
   * is tried.
   */
  private void recoverTwice(String steps, Snapshot frozen, Direction first, Direction second) {
    if (cases.isSample() && !cases.runs(steps + "-dies/" + label(second), 4)) {
      return;
    }
    List<Map<String, String>> left =
        store.leftAfterEach(frozen, () -> recoverAll(first, /* force= */ true));
    Set<Map<String, String>> known =
        seen.computeIfAbsent(lacking, key -> new EnumMap<>(Direction.class))
            .computeIfAbsent(second, key -> new HashSet<>());
    for (int at = 1; at < left.size(); at++) {
      String then = steps + "-dies-" + at + "/" + label(second);
      if (!cases.runs(then, 6) || !known.add(left.get(at))) {
        continue;
      }
      store.state().restore(frozen);
      store.dieAt(at, Fate.FAILS_AFTER);
      Failures.of(() -> recoverAll(first, /* force= */ true));
      store.state().noFault();
      tally.count(Count.DIED_IN_RECOVERY);
      // What runs beside what fails comes as far as it comes.
      boolean isFixed = lacking == Shortage.NONE || first == Direction.AS_MARKED;
      if (isFixed && !store.fingerprint().equals(left.get(at))) {
        wrong(then, "dies elsewhere than it was seen");
      }
      boolean isBegun = check.isBegun();
      boolean isNew = check.isForward() || (second == Direction.COMPLETE && check.isPlanned());
      tally.count(Count.RECOVER_AGAIN);
      store.allowDeletion();
      ends(then, Failures.of(() -> recoverAll(second, /* force= */ true)), isNew, isBegun);
    }
  }

  private void ends(String steps, String met, boolean mayBeNew, boolean isBegun) {
    String failure = met;
    boolean isNew = mayBeNew;
    List<String> wrong = new ArrayList<>();
    if (lacking != Shortage.NONE && mayWantRoom(isNew) && !failure.isEmpty()) {
      tally.count(Count.REFUSED);
      isNew = check.isForward();
      failure = withRoom(wrong, failure, store.byOtherName());
    }
    CrashCheck.failed(wrong, "recovery failed", failure);
    if (isBegun) {
      wrong.addAll(check.isExactly(isNew));
    } else {
      // No commit had begun, or all was over: what is left in staging is for cleaning.
      CrashCheck.differs(wrong, "the table", store.visible(), isNew ? check.fresh() : check.old());
    }
    tally.count(isNew ? Count.NEW : Count.OLD);
    checked(steps, wrong);
  }

  private void runAgain(String steps, Snapshot frozen, boolean isForward) {
    if (!cases.runs(steps, 3)) {
      return;
    }
    store.state().restore(frozen);
    tally.count(Count.RUN_AGAIN);
    ranAgain(
        steps,
        Failures.of(() -> again(store.byOtherName(), "rollback", DriverJob.wouldWait())),
        isForward);
  }

  private void ranAgain(String steps, String failure, boolean isForward) {
    List<String> wrong = new ArrayList<>();
    isThereOnce(wrong, failure, isForward);
    // What is left of a commit that has ended goes with a job that has watched it for long enough.
    checked(steps, wrong);
  }

  /** The same job by another driver. */
  private void again(CrashStore by, String unfinishedJobs, Pause pause) throws IOException {
    commit(CrashOther.RAN_AGAIN.job(by, dead, unfinishedJobs, pause));
  }

  /** As Spark does: what fails in its commit is aborted. */
  private static void commit(DriverJob job) throws IOException {
    try {
      job.commit();
    } catch (IOException | RuntimeException e) {
      job.abort();
      throw e;
    }
  }

  /** The dead job's rows are gone, or it had succeeded; those of the second run are there once. */
  private void isThereOnce(List<String> wrong, String failure, boolean isForward) {
    CrashCheck.failed(wrong, "the second run failed", failure);
    Map<String, String> base = isForward ? check.fresh() : check.old();
    CrashCheck.differs(wrong, "the table", store.visible(), dead.by(CrashOther.AGAIN).after(base));
    if (store.marksSuccess()
        && !store.text(CrashStore.TABLE + "/_SUCCESS").contains(DriverJob.NEXT)) {
      wrong.add("_SUCCESS is not of the second run");
    }
    if (check.isUnfinished()) {
      wrong.add("the first run is still unfinished");
    }
    tally.count(isForward ? Count.NEW : Count.OLD);
  }

  /**
   * The same job is started again within a minute, by each value of {@code unfinished.jobs}. While
   * it waits, time passes in the store's clock.
   */
  private void restart(String steps, Snapshot died) throws IOException {
    for (int seconds : RESTARTS) {
      for (UnfinishedJobsMode mode : UnfinishedJobsMode.values()) {
        String setting = mode.name().toLowerCase(Locale.ROOT);
        String then = steps + "-" + seconds + "-" + setting;
        if (cases.runs(then, 12)) {
          store.state().restore(died);
          store.state().passTime(seconds * 1000L);
          tally.count(Count.RESTARTED);
          restart(then, mode, setting);
        }
      }
    }
  }

  private void restart(String steps, UnfinishedJobsMode mode, String setting) throws IOException {
    boolean isForward = check.isForward();
    boolean isUnfinished = check.isUnfinished();
    if (mode == UnfinishedJobsMode.WARN && isUnfinished) {
      new Meeting(steps, CrashOther.RAN_AGAIN, Direction.AS_MARKED, true)
          .run(waiting -> aSecondPasses());
      return;
    }
    List<String> wrong = new ArrayList<>();
    if (mode == UnfinishedJobsMode.FAIL && isUnfinished) {
      Map<String, String> met = store.visibleOnceRenamed();
      String failure =
          Failures.of(() -> again(store.byOtherName(), setting, waiting -> aSecondPasses()));
      if (!failure.contains(
          "manifest-committer recover " + store.byOtherName().path(CrashStore.TABLE))) {
        wrong.add("it did not fail, or did not say what to do: " + failure);
      }
      CrashCheck.differs(wrong, "the table", store.visibleOnceRenamed(), met);
      String recovery = Failures.of(() -> recoverAll(Direction.AS_MARKED, /* force= */ false));
      CrashCheck.failed(wrong, "what it said to do failed", recovery);
    }
    isThereOnce(
        wrong,
        Failures.of(() -> again(store.byOtherName(), setting, waiting -> aSecondPasses())),
        isForward);
    checked(steps, wrong);
  }

  private void aSecondPasses() {
    store.state().passTime(1000);
  }

  /** What {@code manifest-committer recover} does, by another name than the driver's. */
  private void recoverAll(Direction direction, boolean force) throws IOException {
    recoverAll(store.byOtherName(), direction, force);
  }

  private void recoverAll(CrashStore by, Direction direction, boolean force) throws IOException {
    store.state().lack(lacking);
    try {
      recover(by, direction, force);
    } finally {
      store.state().lack(Shortage.NONE);
    }
  }

  private void recover(CrashStore by, Direction direction, boolean force) throws IOException {
    Configuration conf = store.configuration();
    Recovery recovery = Recoveries.of(store.stores(conf), new CommitterConfig(conf), force);
    if (store.state().exists(by.inStore(CrashStore.TABLE))) {
      Recoveries.all(recovery, by.path(CrashStore.TABLE), direction);
    }
  }

  private void checked(String steps, List<String> wrong) {
    if (!wrong.isEmpty()) {
      wrong(steps, String.join("\n    ", wrong));
    }
  }

  private void wrong(String steps, String what) {
    tally.violation(steps, steps + ":\n    " + what);
  }

  /** Where a file grows in sight, a driver also dies when a half is written. */
  private List<Fate> fates(String operation) {
    boolean mayBeHalf = operation.equals("write") && store.filesGrowInSight();
    return mayBeHalf ? List.of(Fate.FAILS_BEFORE, Fate.HALF_DONE, Fate.FAILS_AFTER) : FATES;
  }

  private static String point(int at, Fate fate) {
    return at
        + (fate == Fate.FAILS_BEFORE ? "-before" : fate == Fate.HALF_DONE ? "-half" : "-after");
  }

  private static String label(Direction direction) {
    return direction == Direction.COMPLETE ? "complete" : "recover";
  }

  /**
   * Old data may not be deleted: what recoveries and other jobs make of that, and what a recovery
   * by somebody who may delete it makes of what they leave.
   */
  private final class Refusal {
    private final Snapshot left;
    private final boolean isForward;
    private final Map<String, String> base;

    Refusal(Snapshot left, boolean isForward) {
      this.left = left;
      this.isForward = isForward;
      this.base = isForward ? check.fresh() : check.old();
    }

    void comesAfter(String steps) {
      for (Direction direction : Recoveries.OF_DEAD) {
        if (cases.runs(steps + "/" + label(direction), 3)) {
          recover(steps + "/" + label(direction), direction);
        }
      }
      for (CrashOther other : CrashOther.values()) {
        if (cases.runs(steps + "/" + other.label(), 3)) {
          write(steps + "/" + other.label(), other);
        }
      }
    }

    private void recover(String steps, Direction direction) {
      store.state().restore(left);
      boolean isBegun = check.isBegun();
      tally.count(direction == Direction.COMPLETE ? Count.COMPLETE : Count.RECOVER);
      String failure = Failures.of(() -> recoverAll(direction, /* force= */ false));
      List<String> wrong = check.told(failure, store.byOtherName());
      boolean isNew = check.isForward();
      if (isForward != isNew && (isForward || direction == Direction.AS_MARKED)) {
        wrong.add("the recovery went the other way");
      }
      if (!failure.isEmpty()) {
        tally.count(Count.REFUSED);
      }
      checked(steps, wrong);
      store.allowDeletion();
      String allowed = Failures.of(() -> recoverAll(Direction.AS_MARKED, /* force= */ false));
      ends(steps + ", then allowed", allowed, isNew, isBegun);
    }

    private void write(String steps, CrashOther other) {
      store.state().restore(left);
      tally.count(Count.OTHER_JOB_THEN_RECOVER);
      Map<String, String> expected = other.write(dead).after(base);
      String failure = Failures.of(() -> run(other));
      List<String> wrong = new ArrayList<>();
      NavigableMap<String, String> replaced = store.visible();
      replaced.keySet().retainAll(check.old().keySet());
      replaced.keySet().removeAll(check.fresh().keySet());
      if (other.isElsewhere()) {
        if (!failure.isEmpty() || !store.visible().entrySet().containsAll(expected.entrySet())) {
          wrong.add("it was kept from a place of its own: " + failure);
        }
      } else if (failure.isEmpty()) {
        CrashCheck.differs(wrong, "the table", store.visible(), expected);
      } else {
        tally.count(Count.REFUSED);
        CrashCheck.isNamed(wrong, isForward ? replaced.keySet() : List.of(), failure);
        CrashCheck.saysWhatToDo(wrong, failure, store.byOtherName());
      }
      store.allowDeletion();
      store.passTime();
      String recovery = Failures.of(() -> recoverAll(Direction.AS_MARKED, /* force= */ false));
      CrashCheck.failed(wrong, "recovery failed", recovery);
      if (!failure.isEmpty() && !store.visible().equals(expected)) {
        CrashCheck.differs(wrong, "the table without the second job", store.visible(), base);
        String again = Failures.of(() -> run(other));
        CrashCheck.failed(wrong, "the second job failed, with all rights", again);
      }
      CrashCheck.differs(wrong, "the table of both", store.visible(), expected);
      if (check.isBegun()) {
        wrong.add("there is still something to recover");
      }
      tally.count(isForward ? Count.NEW : Count.OLD);
      checked(steps, wrong);
    }

    private void run(CrashOther other) throws IOException {
      commit(other.job(store.byOtherName(), dead, "rollback", DriverJob.wouldWait()));
    }
  }

  /** Another job comes to its end between the death and the recovery. */
  private final class Meeting {
    private final String steps;
    private final CrashOther other;
    private final Direction direction;
    private final boolean isBegun;
    private boolean isForward;

    Meeting(String steps, CrashOther other, Direction direction, boolean isBegun) {
      this.steps = steps;
      this.other = other;
      this.direction = direction;
      this.isBegun = isBegun;
    }

    void run(Pause pause) throws IOException {
      // Where a rename is a copy, the report of an append may be at both ends: one that another
      // job's replaces, before it has left the staging directory, marks nothing any more.
      boolean isOver = !isBegun && check.isForward();
      other.run(store, dead, pause);
      isForward = isOver || (isBegun && check.isForward());
      tally.count(Count.OTHER_JOB_THEN_RECOVER);
      NavigableMap<String, String> met = store.visible();
      store.passTime();
      String failure = Failures.of(() -> recoverAll(direction, /* force= */ false));
      List<String> wrong = new ArrayList<>();
      boolean isNew = isForward || (isBegun && direction == Direction.COMPLETE);
      if (failure.isEmpty()) {
        tally.count(isNew ? Count.NEW : Count.OLD);
        everyPlace(wrong, isNew, Map.of());
        if (store.marksSuccess()
            && !isNew
            && !store.text(CrashStore.TABLE + "/_SUCCESS").contains(DriverJob.NEXT)) {
          wrong.add("_SUCCESS is not of the other job");
        }
        if (check.isBegun()) {
          wrong.add("there is still something to recover");
        }
      } else {
        tally.count(Count.REFUSED);
        everyPlace(wrong, isNew, met);
        if (dead.places().stream().noneMatch(place -> failure.contains(place.path()))) {
          wrong.add("no place is named: " + failure);
        }
        for (String row :
            other.write(dead).after(isForward ? check.fresh() : check.old()).values()) {
          if (!store.state().files().containsValue(row)) {
            wrong.add("a row of a finished job is lost: " + row);
          }
        }
        if (wrong.isEmpty()) {
          asTheMessageSays(wrong, failure);
        }
      }
      checked(steps, wrong);
    }

    /** Each place is as one order of the jobs makes it, or, if recovery refused, untouched. */
    private void everyPlace(List<String> wrong, boolean isNew, Map<String, String> met) {
      NavigableMap<String, String> now = store.visible();
      NavigableMap<String, String> rest = new TreeMap<>(now);
      for (ReaderPlace place : dead.places()) {
        Map<String, String> found = place.in(now);
        rest.keySet().removeAll(found.keySet());
        List<Map<String, String>> allowed = allowed(place, isNew);
        if (!met.isEmpty()) {
          allowed.add(place.in(met));
        }
        if (!allowed.contains(found)) {
          wrong.add(place + " has " + found + ", and should have one of " + allowed);
        }
      }
      if (!rest.isEmpty()) {
        wrong.add("nobody should see " + rest);
      }
    }

    private List<Map<String, String>> allowed(ReaderPlace place, boolean isNew) {
      List<Map<String, String>> allowed = new ArrayList<>();
      Map<String, String> deadFirst = other.write(dead).after(isNew ? check.fresh() : check.old());
      allowed.add(place.in(deadFirst));
      if (!isNew && other == CrashOther.RAN_AGAIN && place.freshFiles().isEmpty()) {
        // The second run replaced nothing by nothing here, since the old data was aside: no sign.
        allowed.add(place.in(check.old()));
      }
      if (isNew && other == CrashOther.OVERWROTE && dead.table().isAppend()) {
        Map<String, String> deadLast = new TreeMap<>(other.write(dead).after(check.old()));
        deadLast.putAll(dead.by(DriverJob.DEAD_WORD).rows());
        allowed.add(place.in(deadLast));
      }
      return allowed;
    }

    /**
     * Says that what the other job made of the table is right, where it replaced something; moves
     * what it added away, and back afterwards, where it did not.
     */
    private void asTheMessageSays(List<String> wrong, String failure) throws IOException {
      Map<String, String> others = new TreeMap<>();
      if (other == CrashOther.APPENDED || dead.table().isAppend()) {
        others.putAll(other.write(dead).rows());
        for (String file : others.keySet()) {
          store.state().remove(file);
          store.removeIfEmpty(file.substring(0, file.lastIndexOf('/')));
        }
      } else {
        for (String path : store.staging()) {
          if (path.endsWith(DriverJob.DEAD + "/00/old")) {
            store.state().remove(path);
          }
        }
      }
      String again = Failures.of(() -> recoverAll(Direction.AS_MARKED, /* force= */ true));
      others.forEach(store.state()::write);
      if (!again.isEmpty()) {
        wrong.add("refused: " + failure + "\n    and, after what it says, again: " + again);
      }
      everyPlace(wrong, isForward, Map.of());
      if (check.isBegun()) {
        wrong.add("there is still something to recover");
      }
    }
  }
}
