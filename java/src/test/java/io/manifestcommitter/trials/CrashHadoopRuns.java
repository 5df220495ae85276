// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.testing.Cases;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault.Trouble;
import io.manifestcommitter.testing.HadoopCalls;
import io.manifestcommitter.testing.MemoryStoreState.Snapshot;
import io.manifestcommitter.trials.CrashTest.Count;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;

/**
 * A job commit of the Hadoop protocol on one store: its process dies at every request, and from
 * each store that it leaves a new process commits, or aborts, also one that dies itself, or
 * MapReduce runs the job's next attempt; also where another job has appended in between. Or nobody
 * dies, and a request fails in one of its ways.
 */
final class CrashHadoopRuns {
  private static final String TABLE = CrashStore.TABLE + "/";
  private static final int DEAD = 7;
  private static final int OTHER = 8;
  static final String DEAD_NAME = "job_202601010000_0007";
  private static final Map<String, String> OLD = Map.of("p=1/x", "old", "p=2/x", "old");
  private static final Map<String, String> FIRST =
      Map.of("p=1/a", "new a", "p=3/b", "new b", "p=5/e", "new e");
  private static final Map<String, String> SECOND = Map.of("p=1/c", "new c", "p=3/q=1/d", "new d");

  /** Of the second attempt of the job, which writes one file under another name. */
  private static final Map<String, String> SECOND_AGAIN =
      Map.of("p=1/c2", "new c", "p=3/q=1/d", "new d");

  private final CrashStore store;
  private final boolean replaces;
  private final String name;
  private final Cases cases;
  private final CaseTally<Count> tally;
  private final Snapshot tasksCommitted;
  private final NavigableMap<String, String> old = new TreeMap<>();
  private final NavigableMap<String, String> fresh = new TreeMap<>();
  private final Set<Map<String, String>> seen = new HashSet<>();
  private List<String> requests = List.of();

  /**
   * Of one store.
   *
   * @param replaces whether files of the same names give way ({@code delete.target.files})
   */
  CrashHadoopRuns(
      CrashStore store, String scenario, boolean replaces, Cases cases, CaseTally<Count> tally)
      throws IOException {
    this.store = store;
    this.replaces = replaces;
    this.name = store + "/" + scenario;
    this.cases = cases;
    this.tally = tally;
    OLD.forEach((file, row) -> old.put(TABLE + file, row));
    if (replaces) {
      old.put(TABLE + "p=1/a", "old a");
      old.put(TABLE + "p=5", "a file where a directory has to be");
    }
    fresh.putAll(old);
    fresh.remove(TABLE + "p=5");
    FIRST.forEach((file, row) -> fresh.put(TABLE + file, row));
    SECOND.forEach((file, row) -> fresh.put(TABLE + file, row));
    store.state().clear();
    old.forEach(store.state()::write);
    runTasks(DEAD, 1);
    tasksCommitted = store.state().snapshot();
  }

  /**
   * Tries all.
   *
   * @param oneIn of how many crash points a sample takes one
   */
  void run(int oneIn) throws IOException {
    store.state().resetRequests();
    commit(DEAD, 1);
    requests = store.state().requests();
    Set<Map<String, String>> states = new HashSet<>();
    for (int at = 1; at <= requests.size(); at++) {
      if (store.marksSuccess()) {
        // Without a report only the same committer can tell that the job was committed.
        fails(name + "/" + at, at);
      }
      for (Fate fate : List.of(Fate.FAILS_BEFORE, Fate.FAILS_AFTER)) {
        String operation = requests.get(at - 1).replaceFirst(" .*", "");
        String when = fate == Fate.FAILS_BEFORE ? "-before" : "-after";
        String steps = name + "/" + operation + "-" + at + when;
        if (!cases.begins(steps, oneIn)) {
          continue;
        }
        store.state().restore(tasksCommitted);
        dies(at, fate, () -> commit(DEAD, 1));
        tally.count(Count.DIED);
        if (states.add(store.fingerprint())) {
          tally.count(Count.STATES);
          comesAfter(steps, store.state().snapshot());
        }
      }
    }
  }

  /** A request fails; then the job is committed again or aborted, by its committer or a new one. */
  private void fails(String steps, int at) throws IOException {
    for (Trouble trouble : Trouble.at(at, requests.get(at - 1))) {
      for (boolean isSame : new boolean[] {true, false}) {
        for (boolean isAbort : new boolean[] {true, false}) {
          String then =
              steps
                  + "-"
                  + trouble
                  + (isSame ? "/same-" : "/new-")
                  + (isAbort ? "abort" : "commit");
          if (!cases.runs(then, 40)) {
            continue;
          }
          store.state().restore(tasksCommitted);
          HadoopCalls calls = calls(DEAD, 1);
          PathOutputCommitter first = calls.jobCommitter();
          store.onRequest(trouble.fault());
          String failure = Failures.of(() -> first.commitJob(calls.jobContext()));
          store.state().noFault();
          if (failure.isEmpty()) {
            ends(then + ", said that it succeeded", "", true, fresh);
          } else {
            again(then, isSame ? first : calls.jobCommitter(), isAbort);
          }
        }
      }
    }
  }

  private void again(String steps, PathOutputCommitter committer, boolean isAbort) {
    boolean isReported = isReported();
    boolean hasJobDirectory = hasJobDirectory();
    JobContext job = calls(DEAD, 1).jobContext();
    if (isAbort) {
      tally.count(Count.RECOVER);
      String failure = Failures.of(() -> committer.abortJob(job, JobStatus.State.FAILED));
      ends(steps, failure, true, isReported || !hasJobDirectory ? fresh : old);
    } else {
      tally.count(Count.COMPLETE);
      String failure = Failures.of(() -> committer.commitJob(job));
      // Without a report nobody can tell that a job was committed whose directory is gone.
      ends(steps, failure, isReported || hasJobDirectory, fresh);
    }
  }

  private void comesAfter(String steps, Snapshot left) throws IOException {
    boolean isOver = isReported() || !hasJobDirectory();
    for (boolean isAbort : new boolean[] {false, true}) {
      String then = steps + (isAbort ? "/abort" : "/commit");
      if (cases.runs(then, 3)) {
        store.state().restore(left);
        again(then, calls(DEAD, 1).jobCommitter(), isAbort);
      }
    }
    diesAgain(steps + "/commit", left, () -> commit(DEAD, 1));
    diesAgain(steps + "/abort", left, () -> abort(DEAD, 1));
    if (!isOver && cases.runs(steps + "/run-again", 3)) {
      store.state().restore(left);
      tally.count(Count.RUN_AGAIN);
      String failure =
          Failures.of(
              () -> {
                runTasks(DEAD, 2);
                commit(DEAD, 2);
              });
      Map<String, String> again = new TreeMap<>(fresh);
      again.put(TABLE + "p=1/c2", again.remove(TABLE + "p=1/c"));
      ends(steps + "/run-again", failure, true, again);
    }
    if (isOver) {
      return;
    }
    Map<String, String> others = Map.of(TABLE + "p=1/other", "other", TABLE + "p=3/other", "other");
    for (boolean isAbort : new boolean[] {false, true}) {
      String then = steps + "/appended/" + (isAbort ? "abort" : "commit");
      if (cases.runs(then, 3)) {
        store.state().restore(left);
        tally.count(Count.OTHER_JOB_THEN_RECOVER);
        append();
        String failure = Failures.of(isAbort ? () -> abort(DEAD, 1) : () -> commit(DEAD, 1));
        Map<String, String> expected = new TreeMap<>(isAbort ? old : fresh);
        expected.putAll(others);
        ends(then, failure, true, expected);
      }
    }
  }

  private void diesAgain(String steps, Snapshot left, Failures.Action action) {
    List<Map<String, String>> after = store.leftAfterEach(left, action);
    for (int at = 1; at < after.size() - 1; at++) {
      String then = steps + "-dies-" + at;
      if (!cases.runs(then, 10) || !seen.add(after.get(at))) {
        continue;
      }
      store.state().restore(left);
      dies(at, Fate.FAILS_AFTER, action);
      tally.count(Count.DIED_IN_RECOVERY);
      boolean isOver = isReported() || !hasJobDirectory();
      boolean isNew = isOver && store.visible().equals(fresh);
      tally.count(Count.RECOVER_AGAIN);
      String failure = Failures.of(() -> abort(DEAD, 1));
      ends(then, failure, true, isNew ? fresh : old);
    }
  }

  private void ends(String steps, String failure, boolean mustWork, Map<String, String> expected) {
    List<String> wrong = new ArrayList<>();
    if (!failure.isEmpty() && mustWork) {
      wrong.add("failed: " + failure);
    }
    CrashCheck.differs(wrong, "the table", store.visible(), expected);
    if (mustWork) {
      CrashCheck.differs(wrong, "staging", store.staging(), List.of());
      boolean isToBeReported = store.marksSuccess() && !expected.equals(old);
      if (expected.equals(old) || expected.equals(fresh)) {
        CrashCheck.differs(wrong, "reported", isReported(), isToBeReported);
      }
    }
    if (failure.isEmpty()) {
      tally.count(expected.values().containsAll(FIRST.values()) ? Count.NEW : Count.OLD);
    } else {
      tally.count(Count.REFUSED);
    }
    if (!wrong.isEmpty()) {
      tally.violation(steps, steps + ":\n    " + String.join("\n    ", wrong));
    }
  }

  private boolean hasJobDirectory() {
    return store.state().exists(TABLE + "_temporary/manifest_" + DEAD_NAME);
  }

  private boolean isReported() {
    String report = store.text(TABLE + "_SUCCESS");
    return report.contains(DEAD_NAME) && report.endsWith("}");
  }

  private void dies(int at, Fate fate, Failures.Action action) {
    store.dieAt(at, fate);
    Failures.of(action);
    store.state().noFault();
  }

  private void runTasks(int job, int attempt) throws IOException {
    calls(job, attempt).setupJob();
    runTask(job, attempt, 0, FIRST);
    runTask(job, attempt, 1, attempt == 1 ? SECOND : SECOND_AGAIN);
  }

  private void append() throws IOException {
    calls(OTHER, 1).setupJob();
    runTask(OTHER, 1, 0, Map.of("p=1/other", "other", "p=3/other", "other"));
    commit(OTHER, 1);
  }

  private void runTask(int job, int attempt, int task, Map<String, String> rows)
      throws IOException {
    HadoopCalls calls = calls(job, attempt);
    PathOutputCommitter committer = calls.setupTask(task, 0);
    String work = committer.getWorkPath().toUri().getPath();
    rows.forEach((file, row) -> store.state().write(work + "/" + file, row));
    committer.commitTask(calls.context(task, 0));
  }

  private void commit(int job, int attempt) throws IOException {
    calls(job, attempt).commitJob();
  }

  private void abort(int job, int attempt) throws IOException {
    calls(job, attempt).abortJob();
  }

  private HadoopCalls calls(int job, int attempt) {
    return new HadoopCalls(
        conf(attempt), store.path(CrashStore.TABLE), new JobID("202601010000", job));
  }

  private Configuration conf(int attempt) {
    Configuration conf = HadoopCalls.bind(store.configuration(), store.scheme());
    conf.setInt("mapreduce.job.application.attempt.id", attempt);
    conf.setBoolean(CommitterConfig.DELETE_TARGET_FILES, replaces);
    return conf;
  }
}
