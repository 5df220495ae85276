// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.manifest.FileList;
import io.manifestcommitter.spark.DriverJob;
import io.manifestcommitter.testing.Cases;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import io.manifestcommitter.testing.NoHeartbeatLeft;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.trials.PairCheck.Left;
import io.manifestcommitter.trials.PairParty.PairJob;
import io.manifestcommitter.trials.PairParty.PairWriter;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A driver that lives, and is taken for dead right before one of its requests: its commit is taken
 * over then, wholly or in part, and it goes on. Every request of the driver, every way to take
 * over, and requests of who does that. A sample by default; {@code -Dtakeovers.mode=full} runs all.
 */
@ExtendWith(NoHeartbeatLeft.class)
@Tag("sample")
class TakeoverTest {
  private static final List<CrashStore> STORES =
      List.of(
          new CrashStore("abfs", "auto", /* marksSuccess= */ true),
          new CrashStore("abfs", "off", /* marksSuccess= */ true),
          new CrashStore("hdfs", "auto", /* marksSuccess= */ true),
          new CrashStore("gs", "auto", /* marksSuccess= */ true),
          new CrashStore(MemoryFileSystem.GS_FOLDERS, "auto", /* marksSuccess= */ true),
          new CrashStore(MemoryFileSystem.GS_FOLDERS, "off", /* marksSuccess= */ true),
          new CrashStore("s3a", "off", /* marksSuccess= */ true),
          new CrashStore(MemoryFileSystem.S3_CONDITIONAL, "off", /* marksSuccess= */ true));

  private static final List<PairWrite> WRITES =
      List.of(
          PairWrite.APPEND_ANYWHERE,
          PairWrite.APPEND_ROOT,
          PairWrite.STATIC,
          PairWrite.STATIC_ROOT,
          PairWrite.STATIC_ROOT_SAME,
          PairWrite.DYNAMIC_LOCATION,
          PairWrite.DYNAMIC_SAME,
          PairWrite.PARTITION);

  /** Where no directory is renamed, few cases show that a driver is kept from going on. */
  private static final String ALWAYS = "gs/.*/APPEND_ROOT/[0-9]+/RECOVER/[0-9]+/HALTS";

  private final Cases cases = Cases.fromProperties("takeovers");
  private final List<String> violations = new ArrayList<>();
  private int runs;

  /** Who takes over. */
  private enum Way {
    /** {@code recover}. */
    RECOVER,
    /** {@code recover --complete}. */
    COMPLETE,
    /** A job that appends. */
    APPEND,
    /** A job that overwrites all. */
    OVERWRITE
  }

  /** What happens to the one that takes over. */
  private enum Then {
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

  @Test
  void theTableIsOldOrNewWhoeverGoesOn() throws Exception {
    for (CrashStore store : STORES) {
      for (PairWrite write : WRITES) {
        String steps = store + "/" + write;
        // An upload takes the place of an old file of its name, which Spark never gives.
        if (cases.begins(steps, 1) && !(store.isUploaded() && write.hasOldNames())) {
          run(steps, store, write);
        }
      }
    }
    System.out.printf("%d takeovers (%s), %d violations%n", runs, cases, violations.size());
    assertThat(violations.subList(0, Math.min(30, violations.size()))).isEmpty();
  }

  private void run(String steps, CrashStore store, PairWrite write) throws Exception {
    boolean goesOn = true;
    for (int at = 1; goesOn; at++) {
      goesOn = false;
      for (Way way : Way.values()) {
        String wayed = steps + "/" + at + "/" + way;
        if (cases.runs(wayed + "/whole", 60)) {
          goesOn |= one(wayed + "/whole", new Takeover(store, write, at, way, 0, Then.WHOLE));
          goesOn |= one(wayed + "/late", new Takeover(store, write, at, way, 0, Then.LATE));
        } else {
          goesOn |= at < 12;
        }
        boolean reached = true;
        for (int until = 1; reached && until < 300; until++) {
          reached = !cases.isNamed() || until < 120;
          for (Then then : Then.values()) {
            String name = wayed + "/" + until + "/" + then;
            int oneIn = cases.isSample() && name.matches(ALWAYS) ? 1 : 10_000;
            if (then.isPart() && cases.runs(name, oneIn)) {
              reached &= one(name, new Takeover(store, write, at, way, until, then));
            }
          }
        }
      }
      goesOn |= at < 40 && !cases.isFull();
    }
  }

  /** Says whether the driver came to the request, and the one that takes over to its own. */
  private boolean one(String steps, Takeover takeover) throws Exception {
    takeover.run();
    if (takeover.isReached()) {
      runs++;
      List<String> wrong = takeover.wrong();
      if (!wrong.isEmpty()) {
        violations.add(steps + ": " + takeover + "\n    " + String.join("\n    ", wrong));
      }
    }
    return takeover.isReached();
  }

  /** One driver that is taken for dead, and goes on. */
  private static final class Takeover implements MemoryStoreState.Gate {
    private final CrashStore store;
    private final PairWrite write;
    private final int at;
    private final Way way;
    private final int until;
    private final Then then;
    private final PairJob driver;
    private final PairParty first;
    private final PairParty second;
    private final Thread thread;
    private final CountDownLatch halted = new CountDownLatch(1);
    private final CountDownLatch goesOn = new CountDownLatch(1);
    private final ThreadLocal<String> client = ThreadLocal.withInitial(() -> "");
    private final Set<String> dead = ConcurrentHashMap.newKeySet();
    private int requests;
    private final AtomicInteger firstRequests = new AtomicInteger();
    private boolean isTakenOver;
    private String request = "";
    private volatile String firstRequest = "";
    private String last = "";

    Takeover(CrashStore store, PairWrite write, int at, Way way, int until, Then then) {
      this.store = store;
      this.write = write;
      this.at = at;
      this.way = way;
      this.until = until;
      this.then = then;
      PairRace alone = new PairRace(store, 0);
      driver = new PairJob(store, write, "a", DriverJob.DEAD, alone);
      first =
          isByJob()
              ? new PairJob(store, firstWrite(), "b", DriverJob.NEXT, alone)
              : recovery("b", way == Way.COMPLETE ? Direction.COMPLETE : Direction.AS_MARKED);
      second = recovery("c", Direction.AS_MARKED);
      thread =
          new Thread(
              () -> {
                first.run();
                halted.countDown();
              });
    }

    private boolean isByJob() {
      return way == Way.APPEND || way == Way.OVERWRITE;
    }

    private PairWrite firstWrite() {
      if (way == Way.APPEND) {
        return write.isRoot() ? PairWrite.APPEND_ROOT : PairWrite.APPEND;
      }
      return write.isRoot() ? PairWrite.STATIC_ROOT : PairWrite.STATIC;
    }

    private PairParty recovery(String name, Direction direction) {
      return new PairParty(name, "") {
        @Override
        void act() throws IOException {
          recover(name, direction);
        }
      };
    }

    private void recover(String name, Direction direction) throws IOException {
      Configuration conf = store.configuration();
      conf.set(MemoryFileSystem.CLIENT, name);
      Recoveries.all(
          Recoveries.of(conf, /* force= */ true), store.path(CrashStore.TABLE), direction);
    }

    void run() throws IOException, InterruptedException {
      PairTrial.fill(store, write.old());
      driver.prepare();
      store.onRequest(
          (number, operation, path) ->
              dead.contains(client.get()) ? Fate.FAILS_BEFORE : Fate.NORMAL);
      store.state().gate(this);
      driver.run();
      if (isTakenOver) {
        goesOn.countDown();
        thread.join();
      }
      store.state().noGate();
      store.state().noFault();
      if (isTakenOver) {
        store.passTime();
        for (int time = 1; time <= 2; time++) {
          last += " " + Failures.of(() -> recover("", Direction.AS_MARKED));
        }
        store.state().finishRenames();
      }
    }

    @Override
    public void pass(String by, String operation, String path) {
      client.set(by);
      boolean isHeartbeat = path.endsWith("/heartbeat");
      if (by.equals("b")
          && !(isHeartbeat && isByJob())
          && firstRequests.incrementAndGet() == until) {
        firstRequest = operation + " " + path;
        if (then == Then.DIES) {
          dead.add("b");
        } else {
          halted.countDown();
          uninterrupted(goesOn::await);
        }
      } else if (by.equals("a") && !isHeartbeat) {
        if (isTakenOver && then == Then.LATE) {
          dead.add("a");
        }
        if (++requests == at) {
          isTakenOver = true;
          request = operation + " " + path;
          takeOver();
        }
      }
    }

    private void takeOver() {
      thread.start();
      uninterrupted(halted::await);
      if (then == Then.SECOND_THEN_DRIVER || then == Then.SECOND_THEN_FIRST) {
        second.run();
      }
      if (then == Then.SECOND_THEN_FIRST) {
        goesOn.countDown();
        uninterrupted(thread::join);
      }
      if (at % 2 == 0 && !store.isUploaded()) {
        // A task's attempt that nobody waits for creates its file.
        String output = CrashStore.TABLE + "/_manifest_" + driver.jobId() + "/00/output/";
        store.state().write(output + (write.isRoot() ? "" : "p=1/") + "late", "late");
      }
    }

    private static void uninterrupted(Wait wait) {
      try {
        wait.run();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    private interface Wait {
      void run() throws InterruptedException;
    }

    boolean isReached() {
      return isTakenOver && (!then.isPart() || !firstRequest.isEmpty());
    }

    List<String> wrong() throws IOException {
      List<String> wrong = new ArrayList<>();
      NavigableMap<String, String> visible = store.visible();
      Map<PairWriter, Left> left = new LinkedHashMap<>();
      left.put(driver, left(driver));
      if (isByJob()) {
        left.put((PairJob) first, left((PairJob) first));
      }
      // An overwrite that begins again sees what it did not see before.
      if (new PairCheck(write.old(), visible, (writer, row) -> true).orders(left).isEmpty()) {
        wrong.add("no order makes the table " + visible);
      }
      reports(wrong, visible);
      List<String> staging = store.staging();
      staging.removeIf(path -> !path.matches(".*/_manifest_[^/]*/00/journal-.*"));
      if (dead.contains("a")) {
        // A driver that died with the upload of its mark: nobody knows its id, and nobody sees it.
        staging.removeIf(path -> path.startsWith("an upload of "));
      }
      CrashCheck.differs(wrong, "journals", staging, List.of());
      if (left.keySet().stream().noneMatch(job -> isVisible(job, visible))) {
        store
            .state()
            .files()
            .forEach(
                (path, content) -> {
                  if (path.contains("/_manifest_") && content.matches("(old|the last).*")) {
                    wrong.add("old data: " + path);
                  }
                });
      }
      boolean isLate = dead.contains("a") && store.kind().matches("gs-folders|s3a-conditional");
      boolean isDeletion = request.matches("delete /table/_SUCCESS(.files)?");
      if (!store.keepsReports() || isLate || (store.isUploaded() && isDeletion)) {
        // Documented: without conditions nothing keeps a driver on S3 from its last write of a
        // report, and with them from a deletion that is on its way. There, and into folders, the
        // last report may go with the last request of a driver that dies with it.
        wrong.removeIf(what -> what.contains("report") || what.contains("/last-"));
      }
      return wrong;
    }

    private Left left(PairJob job) {
      boolean isTold = job.failure().contains("taken over") || job.failure().contains("_SUCCESS");
      return dead.contains(job.name()) || isTold
          ? Left.ALL_OR_NOTHING
          : job.hasEnded() ? Left.ALL : Left.NOTHING;
    }

    private static boolean isVisible(PairParty job, Map<String, String> visible) {
      return visible.values().stream().anyMatch(row -> row.startsWith(job.name() + " "));
    }

    /** The report and the list are of one job: one that has rows, or whose rows were replaced. */
    private void reports(List<String> wrong, Map<String, String> visible) throws IOException {
      String report = store.text(CrashStore.TABLE + "/_SUCCESS");
      String listed = store.text(CrashStore.TABLE + "/_SUCCESS.files");
      boolean isLast = report.equals(CrashStore.LAST_REPORT);
      boolean hasOurs = isVisible(driver, visible);
      boolean hasTheirs = isByJob() && isVisible(first, visible);
      if (isLast != listed.equals(CrashStore.LAST_LIST)) {
        wrong.add("report " + report + ", list " + listed);
      } else if (isLast && (hasOurs || hasTheirs)) {
        wrong.add("the last report though there are newer rows");
      } else if (!isLast && listed.isEmpty()) {
        wrong.add("no list beside report " + report);
      } else if (!isLast) {
        String list = CrashStore.TABLE + "/_SUCCESS.files";
        try (FileList files =
            FileList.read(new ByteArrayInputStream(store.state().bytes(list)), list)) {
          if (!report.contains(files.jobId)) {
            wrong.add("list of " + files.jobId + ", report " + report);
          }
        }
        boolean isOurs = report.contains(driver.jobId());
        if (isOurs && !hasOurs && !(hasTheirs && way == Way.OVERWRITE)) {
          wrong.add("our report without rows");
        } else if (!isOurs && !hasTheirs && !(hasOurs && !driver.write().isAppend())) {
          wrong.add("their report without rows");
        }
      }
    }

    @Override
    public String toString() {
      return String.format(
          "driver at %s, first at %s%n    driver %s%n    first %s%n    second %s%n    last %s",
          request, firstRequest, driver.failure(), first.failure(), second.failure(), last);
    }
  }
}
