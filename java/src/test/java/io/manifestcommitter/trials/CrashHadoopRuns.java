// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.testing.Cases;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.HadoopCalls;
import io.manifestcommitter.testing.MemoryStoreState.Snapshot;
import io.manifestcommitter.trials.CrashTally.Count;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;

/**
 * A job commit of the Hadoop protocol on one store: its process dies at every request, and from
 * each store that it leaves a new process commits, or aborts, also one that dies itself, or
 * MapReduce runs the job's next attempt; also where another job has appended in between.
 */
final class CrashHadoopRuns {
  private static final String TABLE = CrashStore.TABLE + "/";
  private static final int DEAD = 7;
  private static final int OTHER = 8;
  static final String DEAD_NAME = "job_202601010000_0007";
  private static final Map<String, String> OLD = Map.of("p=1/x", "old", "p=2/x", "old");
  private static final Map<String, String> FIRST = Map.of("p=1/a", "new a", "p=3/b", "new b");
  private static final Map<String, String> SECOND = Map.of("p=1/c", "new c", "p=3/q=1/d", "new d");

  private final CrashStore store;
  private final boolean replaces;
  private final String name;
  private final Cases cases;
  private final CrashTally tally;
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
      CrashStore store, String scenario, boolean replaces, Cases cases, CrashTally tally)
      throws IOException {
    this.store = store;
    this.replaces = replaces;
    this.name = store + "/" + scenario;
    this.cases = cases;
    this.tally = tally;
    OLD.forEach((file, row) -> old.put(TABLE + file, row));
    if (replaces) {
      old.put(TABLE + "p=1/a", "old a");
    }
    fresh.putAll(old);
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

  private void comesAfter(String steps, Snapshot left) throws IOException {
    boolean isKnown = isReported() || hasJobDirectory();
    boolean isOver = isReported() || !hasJobDirectory();
    if (cases.runs(steps + "/commit", 3)) {
      store.state().restore(left);
      tally.count(Count.COMPLETE);
      String failure = Failures.of(() -> commit(DEAD, 1));
      // Without a report nobody can tell that a job was committed whose directory is gone.
      ends(steps + "/commit", failure, isKnown, fresh);
    }
    if (cases.runs(steps + "/abort", 3)) {
      store.state().restore(left);
      tally.count(Count.RECOVER);
      String failure = Failures.of(() -> abort(DEAD, 1));
      ends(steps + "/abort", failure, true, isOver ? fresh : old);
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
      ends(steps + "/run-again", failure, true, fresh);
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
    runTask(job, attempt, 1, SECOND);
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
