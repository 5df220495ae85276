// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors.lakefs;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.connectors.lakefs.LakeJob.Kind;
import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.emulator.RequestLog;
import io.manifestcommitter.testing.Cases;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.trials.CaseTally;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * A driver, or a task, dies at each request, or a request fails or loses its answer. Then the table
 * is all old or all new, whatever comes after, and nothing is left once it was cleaned. A sample by
 * default; {@code -Dlakefs.mode=full} runs all.
 */
class LakefsFaultsIT {
  /** Of how many cases a sample takes one. */
  private static final int SAMPLE = 40;

  /** What a full run has to reach, by far. */
  private static final int LEAST = 1_000;

  /** They wait more than they compute. */
  private static final int AT_ONCE = 6;

  private static final List<Kind> KINDS =
      List.of(
          Kind.APPEND,
          Kind.STATIC,
          Kind.DYNAMIC,
          Kind.PARTITION,
          Kind.ONCE,
          Kind.HELD,
          Kind.HELD_STATIC);

  private final Cases cases = Cases.fromProperties("lakefs");
  private final CaseTally<Count> tally = new CaseTally<>(cases, Count.class, "write", "trouble");

  /** What comes after the trouble. */
  private enum End {
    /** {@code recover}, which watches first. */
    ROLLED_BACK,
    /** {@code recover --complete}. */
    COMPLETED,
    /** The job runs again, under another id; then {@code recover}. */
    AGAIN,
    /** The same; then {@code recover --complete}. */
    AGAIN_AND_COMPLETED,
    /** {@code clean} alone. */
    CLEANED
  }

  @Test
  void theTableIsOldOrNewWhateverFails() throws Exception {
    List<Callable<Void>> runs = new ArrayList<>();
    for (Kind kind : KINDS) {
      if (!cases.begins(kind.name(), 1)) {
        continue;
      }
      LakeJob whole = whole(kind);
      addRuns(runs, kind, "driver", operations(whole.door.log().entries()));
      addRuns(runs, kind, "tasks", operations(whole.tasks.log().entries()));
    }
    ExecutorService pool = Executors.newFixedThreadPool(AT_ONCE);
    try {
      for (Future<Void> run : pool.invokeAll(runs)) {
        run.get();
      }
    } finally {
      pool.shutdownNow();
    }
    System.out.println(tally.table("Faults and deaths at each request to lakeFS"));
    assertThat(tally.violations()).isEmpty();
    if (!cases.isNamed()) {
      assertThat(tally.sum(Count.CASES)).isGreaterThan(cases.isFull() ? LEAST : LEAST / 50);
      assertThat(tally.sum(Count.RECOVERED_FORWARD, Count.RECOVERED_BACK)).isPositive();
    }
  }

  private static LakeJob whole(Kind kind) throws IOException {
    try (Lake lake = Lake.with(LakeJob.OLD)) {
      return new LakeJob(lake, kind).run();
    }
  }

  private static List<String> operations(List<RequestLog.Entry> entries) {
    return entries.stream().map(RequestLog.Entry::operation).toList();
  }

  private void addRuns(List<Callable<Void>> runs, Kind kind, String who, List<String> requests) {
    for (int at = 1; at <= requests.size(); at++) {
      for (Trouble trouble : Trouble.values()) {
        for (End end : End.values()) {
          String name =
              String.join(
                  "/",
                  kind.name(),
                  who,
                  at + "-" + requests.get(at - 1),
                  trouble.name(),
                  end.name());
          if (cases.runs(name, SAMPLE)) {
            int number = at;
            runs.add(
                () -> {
                  new Trial(kind, who.equals("driver"), number, trouble, end, name).run();
                  return null;
                });
          }
        }
      }
    }
  }

  /** One case. */
  private final class Trial {
    private final Kind kind;
    private final boolean isDriver;
    private final int at;
    private final Trouble trouble;
    private final End end;
    private final String name;

    Trial(Kind kind, boolean isDriver, int at, Trouble trouble, End end, String name) {
      this.kind = kind;
      this.isDriver = isDriver;
      this.at = at;
      this.trouble = trouble;
      this.end = end;
      this.name = name;
    }

    void run() throws Exception {
      try (Lake lake = Lake.with(LakeJob.OLD)) {
        run(lake);
      } catch (IOException | RuntimeException e) {
        tally.violation(name, name + "\n    " + Failures.trace(e));
      }
    }

    private void run(Lake lake) throws Exception {
      LakeJob job = new LakeJob(lake, kind);
      String failure = runInto(job);
      boolean isDead = isDriver && trouble.isDeath();
      NavigableMap<String, String> next = job.after(LakeJob.OLD);
      NavigableMap<String, String> seen = lake.contents();
      boolean isNew = seen.equals(next) && job.isVisible();
      count(Count.CASES);
      require(isNew || seen.equals(LakeJob.OLD), "a reader sees " + seen + " after: " + failure);
      require(lake.dirt().isEmpty(), "not committed on main: " + lake.dirt());
      require(!isNew || !kind.isHeld(), "a held job is visible");
      if (failure.isEmpty()) {
        count(Count.ENDED);
        require(isNew || kind.isHeld(), "the job succeeded, and is not visible");
        require(
            lake.jobBranches().isEmpty() || kind.isHeld() || trouble.lasts(),
            "left by a job that succeeded: " + lake.jobBranches());
      } else {
        count(isDead ? Count.DIED : Count.FAILED);
        require(
            !isNew || isDead || failure.contains("recover"), "failed and is visible: " + failure);
      }
      afterwards(lake, job, isNew, failure);
      for (String held : lake.held(lake.door())) {
        lake.end(lake.door(), held, "discard");
      }
      lake.clean(lake.door());
      require(lake.jobBranches().isEmpty(), "left after cleaning: " + lake.jobBranches());
      requireHidden(lake);
    }

    /** Runs the job into its trouble; what its commit says, empty if it succeeded. */
    private String runInto(LakeJob job) throws Exception {
      boolean dies = isDriver && trouble.isDeath();
      List<FaultRule> rules = trouble.at(isDriver ? job.door : job.tasks, at);
      String[] failure = {""};
      Thread driver =
          new Thread(
              () -> {
                failure[0] = Failures.of(() -> drive(job));
              });
      driver.start();
      long until = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
      while (driver.isAlive()) {
        driver.join(dies ? 1 : TimeUnit.MINUTES.toMillis(1));
        if (dies && rules.get(0).applied() > 0) {
          driver.interrupt();
        }
        if (System.nanoTime() > until) {
          driver.interrupt();
          throw new IOException("The job hangs in " + List.of(driver.getStackTrace()));
        }
      }
      if (!dies) {
        job.door.faults().clear();
        job.tasks.faults().clear();
      }
      return failure[0];
    }

    private void drive(LakeJob job) throws IOException {
      job.setUp();
      try {
        if (isDriver) {
          job.runTasks();
        } else {
          attempts(job);
        }
        job.commit();
      } catch (IOException | RuntimeException e) {
        if (!trouble.isDeath() || !isDriver) {
          job.abort();
        }
        throw e;
      }
    }

    /** Each task is tried again when an attempt fails; one that died is not aborted. */
    private void attempts(LakeJob job) throws IOException {
      for (int task = 0; task < 2; task++) {
        for (int attempt = 0; ; attempt++) {
          LakeJob.Written written = null;
          try {
            written = job.write(task, attempt);
            job.end(written);
            break;
          } catch (IOException | RuntimeException e) {
            if (attempt == 3) {
              throw e;
            }
            if (trouble.isDeath()) {
              job.tasks.faults().clear();
            } else if (written != null) {
              written.attempt.abort();
            }
          }
        }
      }
    }

    private void afterwards(Lake lake, LakeJob job, boolean isNew, String failure)
        throws Exception {
      boolean isHeld = kind.isHeld() && lake.held(lake.door()).contains(job.id);
      require(isHeld || !kind.isHeld() || !failure.isEmpty(), "not held, and succeeded");
      switch (end) {
        case ROLLED_BACK, COMPLETED -> {
          recover(lake, end == End.COMPLETED);
          boolean isNow = job.isVisible();
          requireWhole(lake, job.after(LakeJob.OLD));
          require(isNow || !isNew, "recovery took back what was visible");
          require(!isNow || isNew || end == End.COMPLETED, "recovery completed what was not");
          if (!failure.isEmpty()) {
            count(isNow ? Count.RECOVERED_FORWARD : Count.RECOVERED_BACK);
          }
          require(lake.jobBranches().isEmpty() || isHeld, "left: " + lake.jobBranches());
        }
        case AGAIN, AGAIN_AND_COMPLETED -> {
          if (!failure.isEmpty()) {
            again(lake, job);
          }
        }
        default -> lake.clean(lake.door());
      }
      if (isHeld && end != End.AGAIN && end != End.AGAIN_AND_COMPLETED) {
        String how = end == End.COMPLETED ? "publish" : "discard";
        String errors = lake.end(lake.door(), job.id, how).toString();
        require(end == End.CLEANED || errors.equals("[]"), how + ": " + errors);
        boolean isPublished = job.isVisible();
        require(isPublished == (end == End.COMPLETED), how + " and visible is " + isPublished);
        requireWhole(lake, job.after(LakeJob.OLD));
        count(isPublished ? Count.PUBLISHED : Count.DISCARDED);
      }
    }

    private void recover(Lake lake, boolean complete) throws IOException {
      var conf = lake.conf(lake.door());
      if (!complete) {
        conf.set("mapreduce.manifest.committer.heartbeat.interval", "20ms");
        conf.set("mapreduce.manifest.committer.heartbeat.timeout", "60ms");
      }
      String answer = lake.recover(conf, complete, /* force= */ complete).toString();
      require(answer.matches("\\[.*") && !answer.contains("\"outcome\":null"), answer);
    }

    /** The second job ends; the first may be there or not, but for one of the same identity. */
    private void again(Lake lake, LakeJob first) throws Exception {
      LakeJob second =
          new LakeJob(
              lake,
              kind,
              Map.of(
                  "mapreduce.manifest.committer.heartbeat.interval", "200ms",
                  "mapreduce.manifest.committer.heartbeat.timeout", "1s"));
      String failure = Failures.of(second::run);
      require(failure.isEmpty(), "does not run again: " + failure);
      if (kind.isHeld()) {
        String errors = lake.end(lake.door(), second.id, "publish").toString();
        require(errors.equals("[]"), "publish: " + errors);
      }
      requireOneAfterTheOther(lake, first, second);
      String answer = lake.recover(lake.door(), end == End.AGAIN_AND_COMPLETED).toString();
      requireOneAfterTheOther(lake, first, second);
      count(first.isVisible() ? Count.BOTH : Count.ONLY_AGAIN);
      require(
          !answer.contains("\"outcome\":null") || end == End.AGAIN_AND_COMPLETED,
          "not recovered: " + answer);
    }

    private void requireOneAfterTheOther(Lake lake, LakeJob first, LakeJob second)
        throws IOException {
      NavigableMap<String, String> seen = lake.contents();
      List<NavigableMap<String, String>> allowed = new ArrayList<>();
      allowed.add(second.after(LakeJob.OLD));
      if (kind == Kind.ONCE) {
        allowed.add(first.after(LakeJob.OLD));
      } else {
        allowed.add(second.after(first.after(LakeJob.OLD)));
        allowed.add(first.after(second.after(LakeJob.OLD)));
      }
      require(allowed.contains(seen), "after the second job: " + seen);
    }

    private void requireWhole(Lake lake, NavigableMap<String, String> next) throws IOException {
      NavigableMap<String, String> seen = lake.contents();
      require(seen.equals(LakeJob.OLD) || seen.equals(next), "afterwards: " + seen);
      require(lake.dirt().isEmpty(), "not committed on main: " + lake.dirt());
    }

    private void requireHidden(Lake lake) throws IOException {
      List<String> hidden = lake.hidden();
      boolean isOld = lake.contents().equals(LakeJob.OLD);
      hidden.removeIf(
          path ->
              !isOld
                  && (path.startsWith("_SUCCESS")
                      || path.equals("_manifest_/overwritten")
                      || path.startsWith("_manifest_/ids/")));
      require(hidden.isEmpty(), "hidden files: " + hidden);
    }

    private void count(Count what) {
      tally.count(what, kind.name(), trouble.name());
    }

    private void require(boolean holds, String otherwise) {
      if (!holds) {
        tally.violation(name, name + "\n    " + otherwise);
      }
    }
  }

  /** What is counted. */
  enum Count {
    CASES,
    /** Jobs that succeeded in spite of it. */
    ENDED,
    FAILED,
    DIED,
    /** What failed or died was visible after a recovery. */
    RECOVERED_FORWARD,
    RECOVERED_BACK,
    /** Both jobs are visible. */
    BOTH,
    ONLY_AGAIN,
    PUBLISHED,
    DISCARDED
  }
}
