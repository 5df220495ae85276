// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.HeldJobs;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.read.WholeLooks;
import io.manifestcommitter.spark.DriverJob;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.Cases;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState.Snapshot;
import io.manifestcommitter.testing.NoHeartbeatLeft;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.SparkGround;
import io.manifestcommitter.trials.PairParty.PairJob;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A reader that asks for whole commits sees the table before or after the commit of each job, and
 * never between: at every request of every kind of write on every store, where the driver dies
 * there, while it is recovered or rolled back, and beside other jobs. A sample by default; {@code
 * -Dwhole.mode=full} runs all.
 */
@ExtendWith(NoHeartbeatLeft.class)
@Tag("sample")
class WholeTest {
  private static final String READER = "reader";
  private static final String OUTSIDE = "commits to partitions outside of";
  private static final int SEEDS = 30;

  private static final PairWrite[] RACES = {
    PairWrite.APPEND, PairWrite.APPEND_NEW, PairWrite.STATIC, PairWrite.DYNAMIC, PairWrite.REPLACE
  };

  private final Cases cases = Cases.fromProperties("whole");
  private final CaseTally<Count> tally = new CaseTally<>(cases, Count.class, "write", "store");

  @Test
  void atEveryRequestTheTableIsAsBeforeOrAsAfter() throws IOException {
    for (ReaderWrite write : ReaderWrite.ALL) {
      for (CrashStore store : stores()) {
        String steps = store + "/" + write.name();
        if (cases.begins(steps, 8)) {
          tally.enter(write.name(), store.kind());
          commitDieAndFail(store, write, steps);
        }
      }
    }
    System.out.println(tally.table("Whole: looks at tables while jobs commit, die and fail"));
    assertThat(tally.violations()).isEmpty();
    if (!cases.isNamed()) {
      assertThat(tally.sum(Count.BEFORE)).isGreaterThan(100);
      assertThat(tally.sum(Count.AFTER)).isGreaterThan(100);
    }
  }

  @Test
  void whileAHeldJobIsPublishedOrDiscardedTheTableIsAsBeforeOrAsAfter() throws IOException {
    for (ReaderWrite write : ReaderWrite.ALL) {
      for (CrashStore store : stores()) {
        for (Direction direction : List.of(Direction.PUBLISH, Direction.DISCARD)) {
          String steps = "held/" + store + "/" + write.name() + "/" + direction;
          if (!write.name().startsWith("location") && cases.begins(steps, 16)) {
            tally.enter(write.name(), store.kind());
            endHeld(store, write, direction, steps);
          }
        }
      }
    }
    System.out.println(tally.table("Whole: looks at tables while held jobs end, and die at it"));
    assertThat(tally.violations()).isEmpty();
    if (!cases.isNamed()) {
      assertThat(tally.sum(Count.BEFORE)).isGreaterThan(100);
      assertThat(tally.sum(Count.AFTER)).isGreaterThan(50);
    }
  }

  private void endHeld(CrashStore store, ReaderWrite write, Direction direction, String steps)
      throws IOException {
    Rows rows = new Rows(write);
    List<Snapshot> moments = new ArrayList<>();
    store.fill(write);
    DriverJob job =
        new DriverJob(store, DriverJob.DEAD)
            .with(CommitterConfig.PUBLISH, "hold")
            .setUp(write.table())
            .runTasks();
    record(store, moments, Fault.NONE);
    job.commit();
    moments.add(store.state().snapshot());
    assertThat(look(store, rows, steps, moments)).as(steps).containsOnly(false);
    moments.clear();
    Path table = new Stores(store.configuration()).resolve(store.path(SparkGround.TABLE));
    record(store, moments, Fault.NONE);
    HeldJobs.end(
        Recoveries.of(store.configuration(), /* force= */ false),
        new StagingRoot(table, DriverJob.DEAD),
        direction);
    moments.add(store.state().snapshot());
    List<Boolean> seen = look(store, rows, steps, moments);
    if (seen.contains(null)) {
      return;
    }
    assertThat(seen.get(0)).as(steps).isFalse();
    assertThat(seen.get(seen.size() - 1))
        .as(steps)
        .isEqualTo(direction == Direction.PUBLISH && rows.change());
    for (int at = 0; at < moments.size(); at++) {
      String dead = steps + "/dead-" + at;
      if (cases.runs(dead, 20)) {
        recover(store, rows, moments.get(at), Direction.AS_MARKED, seen.get(at), dead);
      }
    }
  }

  private static List<CrashStore> stores() {
    List<CrashStore> stores =
        CrashStore.all("abfs", "hdfs", "gs", MemoryFileSystem.GS_FOLDERS, "mem");
    stores.addAll(CrashStore.byFile("s3a"));
    return stores;
  }

  private void commitDieAndFail(CrashStore store, ReaderWrite write, String steps)
      throws IOException {
    Rows rows = new Rows(write);
    List<Snapshot> moments = new ArrayList<>();
    store.fill(write);
    DriverJob job = job(store, write);
    record(store, moments, Fault.NONE);
    job.commit();
    moments.add(store.state().snapshot());
    List<Boolean> seen = look(store, rows, steps, moments);
    if (seen.contains(null)) {
      return;
    }
    assertThat(seen.get(0)).as(steps).isFalse();
    assertThat(seen.get(seen.size() - 1)).as(steps).isEqualTo(rows.change());
    for (int at = 0; at < moments.size(); at++) {
      for (Direction direction : Recoveries.OF_DEAD) {
        String dead = steps + "/dead-" + at + "/" + direction;
        if (cases.runs(dead, 40)) {
          recover(store, rows, moments.get(at), direction, seen.get(at), dead);
        }
      }
      for (Fate fate : List.of(Fate.FAILS_BEFORE, Fate.FAILS_AFTER)) {
        String failed = steps + "/fails-" + (at + 1) + "/" + fate;
        if (cases.runs(failed, 40)) {
          fail(store, write, at + 1, fate, failed);
        }
      }
    }
  }

  /** A process dies at a moment, and another one recovers what it did. */
  private void recover(
      CrashStore store, Rows rows, Snapshot moment, Direction direction, Boolean seen, String steps)
      throws IOException {
    store.state().restore(moment);
    store.passTime();
    List<Snapshot> recovered = new ArrayList<>();
    record(store, recovered, Fault.NONE);
    Failures.of(
        () ->
            Recoveries.all(
                Recoveries.of(store.configuration(), /* force= */ false),
                store.path(SparkGround.TABLE),
                direction));
    recovered.add(store.state().snapshot());
    List<Boolean> then = look(store, rows, steps, recovered);
    // What was seen after the commit stays, and a rollback shows nothing new.
    if (!then.get(0).equals(seen)) {
      tally.violation(steps, steps + " changes when time has passed");
    }
  }

  /** One request fails, so that the driver goes on, or rolls back. */
  private void fail(CrashStore store, ReaderWrite write, int at, Fate fate, String steps)
      throws IOException {
    store.fill(write);
    DriverJob job = job(store, write);
    List<Snapshot> moments = new ArrayList<>();
    record(store, moments, Fault.at(at, fate));
    boolean isDone = Failures.of(job::commit).isEmpty();
    if (!isDone) {
      job.abort();
    }
    moments.add(store.state().snapshot());
    Rows rows = new Rows(write);
    List<Boolean> seen = look(store, rows, steps, moments);
    boolean isSeen = !seen.contains(null) && rows.change();
    if (isSeen && seen.get(seen.size() - 1) != isDone) {
      tally.violation(steps, steps + ": the job is " + (isDone ? "done" : "not done"));
    }
  }

  private static DriverJob job(CrashStore store, ReaderWrite write) throws IOException {
    return new DriverJob(store, DriverJob.DEAD).setUp(write.table()).runTasks();
  }

  private static void record(CrashStore store, List<Snapshot> moments, Fault fault) {
    store.onRequest(
        (number, operation, path) -> {
          moments.add(store.state().snapshot());
          return fault.fate(number, operation, path);
        });
  }

  /** Whether each moment shows the table after the commit; null where it shows neither. */
  private List<Boolean> look(CrashStore store, Rows rows, String steps, List<Snapshot> moments) {
    List<Boolean> seen = new ArrayList<>();
    store.noFault();
    for (Snapshot moment : moments) {
      store.state().restore(moment);
      Boolean last = seen.isEmpty() ? Boolean.FALSE : seen.get(seen.size() - 1);
      Boolean now = rows.look(store, last);
      if (now == null || (last != null && last && !now)) {
        tally.violation(
            steps, steps + " at moment " + seen.size() + ": " + rows.told + " in " + store.files());
        now = null;
      }
      tally.count(Boolean.TRUE.equals(now) ? Count.AFTER : Count.BEFORE);
      seen.add(now);
    }
    return seen;
  }

  @ParameterizedTest
  @ValueSource(strings = {"abfs", "hdfs", "gs", "gs-folders", "s3a", "mem"})
  void aJobThatBeginsAndEndsWithinALookIsSeenWholeOrNot(String scheme) throws IOException {
    CrashStore store = new CrashStore(scheme, "auto", /* marksSuccess= */ true);
    for (String name : List.of("append-new", "append", "static", "dynamic", "flat-overwrite")) {
      ReaderWrite write = ReaderWrite.named(name);
      Rows rows = new Rows(write);
      for (boolean isDone : new boolean[] {true, false}) {
        int looked = 0;
        for (int at = 1; looked == at - 1; at++) {
          store.fill(write);
          looked = lookWhileAJobRuns(store, write, at, isDone, rows);
        }
        assertThat(looked).as(scheme + ", " + write).isGreaterThan(2);
      }
    }
  }

  /** How many requests the reader made, up to the one before which the job ran. */
  private static int lookWhileAJobRuns(
      CrashStore store, ReaderWrite write, int at, boolean isDone, Rows rows) throws IOException {
    int[] seen = {0};
    store
        .state()
        .gate(
            (client, operation, path) -> {
              if (client.equals(READER) && ++seen[0] == at) {
                if (!isDone) {
                  failReport(store);
                }
                assertThat(Failures.of(() -> commitOrAbort(store, write)).isEmpty())
                    .isEqualTo(isDone);
                store.noFault();
              }
            });
    Configuration conf = store.configuration();
    conf.set(MemoryFileSystem.CLIENT, READER);
    NavigableSet<String> files =
        new TreeSet<>(WholeLooks.of(conf, store.path(SparkGround.TABLE)).keySet());
    store.state().noGate();
    assertThat(files)
        .as("%s, %s, the job runs before request %d", store, write, at)
        .isIn(rows.before, isDone ? rows.after : rows.before);
    return Math.min(at, seen[0]);
  }

  private static void failReport(CrashStore store) {
    store.onRequest(
        (number, operation, path) ->
            operation.equals("write") && path.endsWith("/_SUCCESS")
                ? Fate.FAILS_BEFORE
                : Fate.NORMAL);
  }

  private static void commitOrAbort(CrashStore store, ReaderWrite write) throws IOException {
    DriverJob job = job(store, write);
    try {
      job.commit();
    } catch (IOException | RuntimeException e) {
      job.abort();
      throw e;
    }
  }

  /** Its driver may still fail, and would roll back what a reader has seen. */
  @ParameterizedTest
  @ValueSource(strings = {"gs", "mem"})
  void anAppendIsSeenWhenItsJournalEndsAndNotByItsReport(String scheme) throws IOException {
    CrashStore store = new CrashStore(scheme, "auto", /* marksSuccess= */ true);
    ReaderWrite write = ReaderWrite.named("append");
    store.fill(write);
    tally.enter(write.name(), scheme);
    DriverJob job = job(store, write);
    List<Snapshot> moments = new ArrayList<>();
    record(
        store,
        moments,
        (number, operation, path) ->
            operation.equals("rename") && path.endsWith("/journal-planned-0")
                ? Fate.FAILS_BEFORE
                : Fate.NORMAL);
    assertThat(Failures.of(job::commit)).contains("injected");
    assertThat(look(store, new Rows(write), scheme, moments)).containsOnly(false);
  }

  @Test
  void besideTwoJobsAReaderSeesWholeCommits() throws InterruptedException, IOException {
    List<String> wrong = new ArrayList<>();
    int looks = 0;
    for (CrashStore store : stores()) {
      for (PairWrite first : RACES) {
        for (PairWrite second : RACES) {
          for (int seed = 1; seed <= SEEDS; seed++) {
            String steps = "race/" + store + "/" + first + "/" + second + "/" + seed;
            if (cases.runs(steps, SEEDS * 4)) {
              looks += race(store, first, second, seed, steps, wrong);
            }
          }
        }
      }
    }
    System.out.printf("Whole: %,d looks beside two jobs (%s)%n", looks, cases);
    assertThat(wrong).isEmpty();
    if (!cases.isNamed()) {
      assertThat(looks).isGreaterThan(100);
    }
  }

  private static int race(
      CrashStore store,
      PairWrite first,
      PairWrite second,
      int seed,
      String steps,
      List<String> wrong)
      throws InterruptedException, IOException {
    PairTrial.fill(store, first.old());
    PairRace race = new PairRace(store, seed);
    PairJob a = new PairJob(store, first, "a", DriverJob.DEAD, race);
    PairJob b = new PairJob(store, second, "b", DriverJob.NEXT, race);
    a.prepare();
    b.prepare();
    Looking reader = new Looking(store, List.of(a, b));
    race.run(a, b, reader);
    Map<String, String> old = first.old();
    Set<NavigableSet<String>> whole = new HashSet<>();
    whole.add(Rows.inTable(old));
    for (List<PairJob> order : List.of(List.of(a, b), List.of(b, a))) {
      Map<String, String> after = order.get(0).write().after(old);
      whole.add(Rows.inTable(after));
      Map<String, String> last = order.get(1).write().after(after);
      whole.add(Rows.inTable(last));
      whole.add(Rows.inTable(withoutReplaced(race, order, last)));
    }
    reader.seen.stream()
        .filter(seen -> !whole.contains(seen))
        .forEach(seen -> wrong.add(steps + ": " + seen));
    if (!reader.failure().isEmpty()) {
      wrong.add(steps + ": " + reader.failure());
    }
    return reader.seen.size();
  }

  /** An overwrite replaces also what it saw of an append that had not committed. */
  private static Map<String, String> withoutReplaced(
      PairRace race, List<PairJob> jobs, Map<String, String> rows) {
    Map<String, String> left = new TreeMap<>(rows);
    for (PairJob by : jobs) {
      for (PairJob of : jobs) {
        if (!of.equals(by) && of.write().isAppend()) {
          left.keySet()
              .removeIf(
                  row ->
                      of.write().rows().containsKey(row)
                          && by.write().replaces(row)
                          && race.hasSeen(by.name(), row));
        }
      }
    }
    return left;
  }

  @ParameterizedTest
  @CsvSource({"hdfs, 2, 4", "abfs, 0, 9", "gs, 0, 9", "gs-folders, 0, 9", "s3a, 0, 9", "mem, 0, 9"})
  void aLookMakesSoManyRequests(String scheme, int looks, int lists) throws IOException {
    ReaderWrite write = ReaderWrite.named("static");
    CrashStore store = new CrashStore(scheme, "auto", /* marksSuccess= */ true);
    store.fill(write);
    store.put("/table/p=4/x", "old");
    store.state().remove("/table/p=1/q=1");
    store.state().resetRequests();
    WholeLooks.of(store.configuration(), store.path(SparkGround.TABLE));
    Map<String, Integer> requests = store.state().requestsByOperation();
    assertThat(requests.getOrDefault("status", 0)).isEqualTo(looks);
    assertThat(requests.get("list")).isEqualTo(lists);
    assertThat(requests.keySet()).isSubsetOf("status", "list");
  }

  @Test
  void whatTellsNothingWholeIsRefused() throws IOException {
    ReaderWrite write = ReaderWrite.named("dynamic");
    CrashStore store = new CrashStore("hdfs", "auto", /* marksSuccess= */ true);
    store.fill(write);
    assertRefused(store, "/table/p=1", "is a partition of hdfs://crash-hdfs/table");
    assertRefused(store, "/nowhere", "There is nothing at hdfs://crash-hdfs/nowhere");
    assertRefused(store, "/table/_SUCCESS", "is a file");
    DriverJob job = job(store, write);
    boolean[] isDead = {false};
    store.onRequest(
        (number, operation, path) -> {
          isDead[0] |= operation.equals("rename") && path.contains("/journal-planned");
          return isDead[0] ? Fate.FAILS_BEFORE : Fate.NORMAL;
        });
    Failures.of(job::commit);
    store.noFault();
    store.state().remove("/table/p=1/q=1/x");
    store.state().files().keySet().stream()
        .filter(path -> path.endsWith("/x") && path.contains("/00/old/"))
        .forEach(store.state()::remove);
    assertRefused(store, "/table", "did not come to rest while it was looked at 25 times");
    assertRefused(store, "/table", "job " + DriverJob.DEAD + " (");
    store.put("/table/_spark_metadata/0", "v1");
    assertRefused(store, "/table", "the sink of a streaming query");
  }

  private static void assertRefused(CrashStore store, String path, String why) {
    assertThatThrownBy(() -> WholeLooks.of(store.configuration(), store.path(path)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(why);
  }

  /** A reader that looks as long as jobs run. */
  private static final class Looking extends PairParty {
    private final CrashStore store;
    private final List<? extends PairParty> jobs;
    private final List<NavigableSet<String>> seen = new ArrayList<>();

    Looking(CrashStore store, List<? extends PairParty> jobs) {
      super(READER, "");
      this.store = store;
      this.jobs = jobs;
    }

    @Override
    void act() throws IOException {
      Configuration conf = store.configuration();
      conf.set(MemoryFileSystem.CLIENT, READER);
      while (!jobs.stream().allMatch(PairParty::isOver)) {
        try {
          seen.add(new TreeSet<>(WholeLooks.of(conf, store.path(SparkGround.TABLE)).keySet()));
        } catch (IOException e) {
          // To say so is no wrong answer.
          if (!String.valueOf(e.getMessage()).contains("did not come to rest")) {
            throw e;
          }
        }
      }
    }
  }

  /** The rows of a table before and after a write. */
  private static final class Rows {
    private final NavigableSet<String> before;
    private final NavigableSet<String> after;
    private final Map<String, String> contents;
    private String told = "";

    Rows(ReaderWrite write) {
      Map<String, String> old = write.old();
      Map<String, String> fresh = write.table().after(old);
      before = inTable(old);
      after = inTable(fresh);
      contents = fresh;
      old.forEach(contents::putIfAbsent);
    }

    /** Whether the write changes what is in the table, and not only what is elsewhere. */
    boolean change() {
      return !before.equals(after);
    }

    static NavigableSet<String> inTable(Map<String, String> rows) {
      NavigableSet<String> files = new TreeSet<>(rows.keySet());
      files.removeIf(file -> !file.startsWith(SparkGround.TABLE + "/"));
      return files;
    }

    /** Whether the table is as after the write; null if it is neither, and why is told. */
    Boolean look(CrashStore store, Boolean last) {
      Map<String, String> files;
      try {
        files = WholeLooks.of(store.configuration(), store.path(SparkGround.TABLE));
      } catch (IOException e) {
        told = String.valueOf(e.getMessage());
        // Before its first write there is no table; a job that writes elsewhere is refused.
        boolean isKnown = told.contains(OUTSIDE) || (before.isEmpty() && told.contains("nothing"));
        return isKnown ? last : null;
      }
      Map<String, String> there = store.state().files();
      for (Map.Entry<String, String> file : files.entrySet()) {
        if (!String.valueOf(there.get(file.getValue())).equals(contents.get(file.getKey()))) {
          told = file + " has " + there.get(file.getValue());
          return null;
        }
      }
      told = "it shows " + files;
      if (!change()) {
        return files.keySet().equals(before) ? last : null;
      }
      return files.keySet().equals(after)
          ? Boolean.TRUE
          : files.keySet().equals(before) ? Boolean.FALSE : null;
    }
  }

  /** What is counted. */
  enum Count {
    /** Looks that showed the table as it was before the job. */
    BEFORE,
    /** Looks that showed it as it was after. */
    AFTER
  }
}
