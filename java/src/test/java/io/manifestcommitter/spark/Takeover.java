// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.manifest.FileList;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.TableWrite;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;

/** One driver that is taken for dead, and goes on. */
final class Takeover implements MemoryStoreState.Gate {
  private static final String OTHER = "5e0f8a52-90c1-4a7b-8c11-0d3c1c2b7a22";
  private static final String FIRST = "first";

  /** Who takes over. */
  enum Way {
    /** {@code recover}. */
    RECOVER,
    /** {@code recover --complete}. */
    COMPLETE,
    /** A job that appends. */
    APPEND,
    /** A job that overwrites all. */
    OVERWRITE;

    boolean isByJob() {
      return this == APPEND || this == OVERWRITE;
    }
  }

  /** What happens to who takes over. */
  enum Then {
    /** It comes to its end before the driver goes on. */
    WHOLE,
    /** The same, and the driver, whose request was on its way, dies. */
    LATE,
    /** It stands still before a request, until the driver is at its end. */
    HALTS,
    /** It dies before a request. */
    DIES,
    /** It stands still, another one takes over from it; the driver goes on, then it. */
    SECOND_THEN_DRIVER,
    /** The same; it goes on, then the driver. */
    SECOND_THEN_FIRST;

    boolean isPart() {
      return this != WHOLE && this != LATE;
    }
  }

  private final String store;
  private final SparkJobHarness spark;
  private final SparkJobHarness other;
  private final TableWrite write;
  private final Map<String, String> old;
  private final int at;
  private final Way way;
  private final int until;
  private final Then then;

  private final CountDownLatch halted = new CountDownLatch(1);
  private final CountDownLatch goesOn = new CountDownLatch(1);
  private Thread first;
  private int requests;
  private final AtomicInteger firstRequests = new AtomicInteger();
  private volatile boolean wasHalted;
  private volatile boolean isFirstDead;
  private volatile boolean isDriverDead;
  private volatile boolean isWholeDone;
  private boolean isReached;
  private String request = "";
  private volatile String firstRequest = "";
  private Optional<Throwable> driverFailure = Optional.empty();
  private volatile Optional<Throwable> firstFailure = Optional.empty();
  private volatile Optional<Throwable> otherFailure = Optional.empty();
  private volatile boolean otherRan;
  private String second = "";
  private String last = "";

  Takeover(String store, String kind, int at, Way way, int until, Then then) throws IOException {
    this.store = store.replace("/off", "");
    this.at = at;
    this.way = way;
    this.until = until;
    this.then = then;
    this.spark = new SparkJobHarness(store.replace("/off", ""));
    spark.conf.set(CommitterConfig.DIRECTORY_RENAME, store.endsWith("/off") ? "off" : "auto");
    spark.conf.setInt("mapreduce.manifest.committer.io.threads", 1);
    boolean isFlat = kind.endsWith("-flat");
    boolean isSame = kind.contains("-same");
    String plain = kind.replace("-flat", "").replace("-same", "");
    this.old =
        isFlat
            ? Map.of("/table/old", "old 1", isSame ? "/table/a" : "/table/old2", "old 2")
            : Map.of(
                isSame ? "/table/p=1/a" : "/table/p=1/old",
                "old 1",
                "/table/p=2/old",
                "old 2",
                "/elsewhere/old",
                "old 3");
    old.forEach(spark.state::write);
    spark.state.write("/table/_SUCCESS", "the last report");
    spark.state.write("/table/_SUCCESS.files", "the last list");
    TableWrite kinded =
        plain.equals("static") && !isFlat
            ? TableWrite.replacing("/table", "/elsewhere")
            : TableWrite.of(plain, "/table");
    spark.setUp(kinded);
    Map<String, String> rows = new HashMap<>();
    if (isFlat) {
      spark.commitTask(0, "a");
      spark.commitTask(1, "c");
      rows.put("/table/a", "new a");
      rows.put("/table/c", "new c");
    } else {
      spark.commitTask(0, "p=1/a", "p=3/b");
      spark.commitTask(1, "p=1/c");
      spark.commitTaskAt(2, "/elsewhere", "d");
      rows.put("/table/p=1/a", "new p=1/a");
      rows.put("/table/p=1/c", "new p=1/c");
      rows.put("/table/p=3/b", "new p=3/b");
      rows.put("/elsewhere/d", "new d");
    }
    this.write = kinded.with(rows);
    this.other = spark.other(OTHER);
    other.conf.set(MemoryFileSystem.CLIENT, FIRST);
    other.waiting(waiting -> {});
    spark.state.resetRequests();
  }

  private TableWrite otherWrite() {
    return (way == Way.APPEND ? TableWrite.append() : TableWrite.replacing("/table"))
        .with(Map.of("/table/" + otherName(), "new " + otherName()));
  }

  private String otherName() {
    return old.containsKey("/table/old") ? "z" : "p=1/z";
  }

  void run() throws Exception {
    spark.state.gate(this);
    spark.state.onRequest(
        (number, operation, path) -> {
          boolean isFirst = Thread.currentThread().getName().startsWith(FIRST);
          return (isFirst ? isFirstDead : isDriverDead && isDriver())
              ? Fate.FAILS_BEFORE
              : Fate.NORMAL;
        });
    driverFailure = spark.commitOrAbort();
    if (isReached) {
      goesOn.countDown();
      first.join();
    }
    spark.state.noGate();
    spark.state.noFault();
    if (!isReached) {
      return;
    }
    spark.state.passTime(60_000);
    for (int time = 1; time <= 2; time++) {
      try {
        last += " " + spark.recover(Direction.AS_MARKED, /* force= */ true);
      } catch (IOException | RuntimeException e) {
        last += " " + e;
      }
    }
    spark.state.finishRenames();
  }

  private static boolean isDriver() {
    String name = Thread.currentThread().getName();
    return !name.startsWith(FIRST) && !name.startsWith("second");
  }

  @Override
  public void pass(String client, String operation, String path) {
    if (client.equals(FIRST)) {
      if (path.endsWith("/heartbeat") && way.isByJob()) {
        return;
      }
      if (firstRequests.incrementAndGet() == until && then.isPart()) {
        firstRequest = operation + " " + path;
        wasHalted = true;
        if (then == Then.DIES) {
          isFirstDead = true;
        } else {
          halted.countDown();
          await(goesOn);
        }
      }
      return;
    }
    if (!client.isEmpty() || path.endsWith("/heartbeat")) {
      return;
    }
    if (isWholeDone && then == Then.LATE) {
      isDriverDead = true;
    }
    if (++requests == at) {
      isReached = true;
      request = operation + " " + path;
      first = new Thread(this::takeOver, FIRST);
      first.start();
      await(halted);
      if (then == Then.SECOND_THEN_DRIVER || then == Then.SECOND_THEN_FIRST) {
        Thread again = new Thread(this::secondRecovery, "second");
        again.start();
        join(again);
      }
      if (then == Then.SECOND_THEN_FIRST) {
        goesOn.countDown();
        join(first);
      }
      lateAttempt();
      isWholeDone = true;
    }
  }

  /** A task's attempt that nobody waits for creates its file. */
  private void lateAttempt() {
    if (at % 2 == 0 && !spark.table.toUri().getScheme().equals("s3a")) {
      spark.state.write(
          SparkJobHarness.OUTPUT + (old.containsKey("/table/old") ? "" : "p=1/") + "late", "late");
    }
  }

  private void takeOver() {
    try {
      if (way == Way.RECOVER || way == Way.COMPLETE) {
        Recoveries.all(
            Recoveries.of(client(FIRST), /* force= */ true),
            spark.table,
            way == Way.RECOVER ? Direction.AS_MARKED : Direction.COMPLETE);
      } else {
        otherRan = true;
        try {
          other.setUp(way == Way.APPEND ? TableWrite.append() : TableWrite.replacing("/table"));
          other.commitTask(0, otherName());
          other.commit();
        } catch (IOException | RuntimeException | Error e) {
          otherFailure = Optional.of(e);
          if (then != Then.DIES && other.job() != null) {
            other.job().abort();
          }
        }
      }
    } catch (IOException | RuntimeException | Error e) {
      firstFailure = Optional.of(e);
    } finally {
      halted.countDown();
    }
  }

  private Configuration client(String name) {
    Configuration conf = new Configuration(spark.conf);
    conf.set(MemoryFileSystem.CLIENT, name);
    return conf;
  }

  private void secondRecovery() {
    try {
      second =
          Recoveries.all(
                  Recoveries.of(client("second"), /* force= */ true),
                  spark.table,
                  Direction.AS_MARKED)
              .toString();
    } catch (IOException | RuntimeException | Error e) {
      second = e.toString();
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Whether the driver made the request, and who took over that of its own. */
  boolean isReached() {
    return isReached && (!then.isPart() || wasHalted);
  }

  Optional<String> violation() throws IOException {
    NavigableMap<String, String> visible = spark.visible();
    Map<String, String> none = new TreeMap<>(old);
    NavigableMap<String, String> ours = write.after(old);
    TableWrite theirs = otherRan ? otherWrite() : TableWrite.append();
    List<String> wrong = new ArrayList<>();
    boolean hasOurs = visible.containsValue("new a") || visible.containsValue("new p=1/a");
    boolean hasTheirs = otherRan && visible.containsValue("new " + otherName());
    boolean isTable =
        visible.equals(none)
            || visible.equals(ours)
            || (otherRan
                && (visible.equals(theirs.after(none))
                    || visible.equals(theirs.after(ours))
                    || visible.equals(write.after(theirs.after(none)))));
    if (!isTable && !isReplacedWhilePublishing(visible, theirs.after(none), ours)) {
      wrong.add("the table is " + visible);
    }
    boolean isReplaced = otherRan && way == Way.OVERWRITE && hasTheirs;
    boolean replacesTheirs = otherRan && write.replaces("/table/" + otherName());
    if (then != Then.LATE && driverFailure.isEmpty() && !hasOurs && !isReplaced) {
      wrong.add("the driver succeeded without rows");
    }
    if (otherRan && then != Then.DIES && otherFailure.isEmpty() && !hasTheirs) {
      if (!(replacesTheirs && hasOurs)) {
        wrong.add("the other job succeeded without rows");
      }
    }
    if (otherRan
        && then != Then.DIES
        && otherFailure.isPresent()
        && hasTheirs
        && !isTold(otherFailure.get())) {
      wrong.add("the other job failed with rows");
    }
    if (driverFailure.isPresent() && hasOurs && !isDriverDead && !isTold(driverFailure.get())) {
      wrong.add("the driver failed with rows");
    }
    String report = spark.state.files().getOrDefault("/table/_SUCCESS", "none");
    String list = "none";
    if (spark.state.exists("/table/_SUCCESS.files")) {
      list = spark.state.files().get("/table/_SUCCESS.files");
      if (!list.equals("the last list")) {
        try (FileList read =
            FileList.read(
                new ByteArrayInputStream(spark.state.bytes("/table/_SUCCESS.files")), "list")) {
          list = read.jobId();
        }
      }
    }
    String reportOf =
        report.equals("the last report")
            ? "last"
            : report.contains(SparkJobHarness.JOB_ID)
                ? "ours"
                : report.contains(OTHER) ? "theirs" : report;
    String listOf =
        list.equals("the last list")
            ? "last"
            : list.equals(SparkJobHarness.JOB_ID) ? "ours" : list.equals(OTHER) ? "theirs" : list;
    if (!reportOf.equals(listOf)) {
      wrong.add("report of " + reportOf + ", list of " + listOf);
    }
    if (reportOf.equals("ours") && !hasOurs && !isReplaced) {
      wrong.add("our report without rows");
    } else if (reportOf.equals("theirs") && !hasTheirs && !replacesTheirs) {
      wrong.add("their report without rows");
    } else if (reportOf.equals("last") && (hasOurs || hasTheirs)) {
      wrong.add("the last report though there are newer rows");
    } else if (reportOf.equals("none")) {
      wrong.add("no report");
    }
    for (String path : spark.state.paths()) {
      if (path.matches(".*/_manifest_[^/]*/00/journal-.*")) {
        wrong.add("left: " + path);
      }
    }
    if (!hasOurs && !hasTheirs) {
      spark
          .state
          .files()
          .forEach(
              (path, content) -> {
                if (path.contains("/_manifest_")
                    && (content.startsWith("old") || content.startsWith("the last"))) {
                  wrong.add("old data: " + path);
                }
              });
    }
    if (store.equals("s3a")) {
      // Documented: nothing keeps a driver there from the last write that it makes of its report.
      wrong.removeIf(what -> what.contains("report") || what.contains("/last-"));
    }
    if (isDriverDead && "gs-folders".equals(store)) {
      // Known: the last report may go with the last request of a driver that dies with it.
      wrong.removeIf(what -> what.contains("report") || what.contains("/last-"));
    }
    if (wrong.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        wrong
            + "\n   staging "
            + spark.staging()
            + "\n   driver "
            + driverFailure.map(Takeover::told)
            + "\n   first "
            + firstFailure.map(Takeover::told)
            + " other "
            + otherFailure.map(Takeover::told)
            + "\n   second "
            + second
            + " last "
            + last);
  }

  /** Documented: an overwrite that plans while an append publishes replaces some of its rows. */
  private boolean isReplacedWhilePublishing(
      Map<String, String> visible, Map<String, String> theirs, Map<String, String> ours) {
    Map<String, String> kept = new TreeMap<>(visible);
    kept.keySet().removeAll(theirs.keySet());
    return way == Way.OVERWRITE
        && then == Then.HALTS
        && visible.entrySet().containsAll(theirs.entrySet())
        && ours.entrySet().containsAll(kept.entrySet());
  }

  private static boolean isTold(Throwable failure) {
    String told = told(failure);
    return told.contains("taken over") || told.contains("_SUCCESS");
  }

  private static String told(Throwable failure) {
    StringBuilder text = new StringBuilder(failure.toString());
    for (Throwable suppressed : failure.getSuppressed()) {
      text.append(" + ").append(suppressed);
    }
    return text.toString();
  }

  @Override
  public String toString() {
    return "driver at " + request + ", first at " + firstRequest;
  }
}
