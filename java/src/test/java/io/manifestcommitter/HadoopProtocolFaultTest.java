// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.FaultScenario.Obstacle;
import io.manifestcommitter.testing.MemoryStoreState;
import io.manifestcommitter.testing.MemoryStoreState.Snapshot;
import io.manifestcommitter.testing.Trouble;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A failure of every kind at every request of a job commit, its cleanup included. A commit that
 * says that it succeeded has; after one that failed the job can be committed, or aborted, by the
 * same committer or by a new one: the end is exactly the new table or exactly the old one.
 */
@Tag("sample")
class HadoopProtocolFaultTest {
  /** Each failure that is found is told, up to so many. */
  private static final int TOLD = 10;

  /** So many of the first of two deaths; all of them with {@code -Dcrashes.mode=full}. */
  private static final int FIRST_DEATHS =
      "full".equals(System.getProperty("crashes.mode")) ? Integer.MAX_VALUE : 9;

  private final List<String> wrong = new ArrayList<>();
  private FaultScenario scenario;
  private MemoryStoreState state;

  @ParameterizedTest
  @CsvSource({
    "hdfs,NONE", "hdfs,FILE_FOR_DIRECTORY", "hdfs,TARGET_FILES",
    "abfs,NONE", "abfs,FILE_FOR_DIRECTORY", "abfs,TARGET_FILES",
    "gs,NONE", "gs,FILE_FOR_DIRECTORY", "gs,TARGET_FILES",
  })
  void aFailureAtAnyRequestOfAJobCommitCanBeRepaired(String scheme, Obstacle obstacle)
      throws IOException {
    open(scheme, obstacle);
    List<String> requests = commitWithoutFault();
    int injected = 0;
    int failed = 0;
    for (int at = 1; at <= requests.size(); at++) {
      for (Trouble trouble : Trouble.at(at, requests.get(at - 1))) {
        injected++;
        String context = scheme + " " + obstacle + ", " + requests.get(at - 1) + ": " + trouble;
        PathOutputCommitter committer = newCommitter();
        Throwable failure = commit(committer, trouble);
        if (failure == null) {
          check(context, "commit said that it succeeded", () -> {}, Expected.COMMITTED);
          continue;
        }
        failed++;
        Snapshot left = state.snapshot();
        Expected afterAbort = scenario.isReported() ? Expected.COMMITTED : Expected.ROLLED_BACK;
        check(context, "same committer commits", () -> again(committer), Expected.COMMITTED);
        state.restore(left);
        check(context, "new committer commits", scenario.job::commitJob, Expected.COMMITTED);
        state.restore(left);
        check(context, "new committer aborts", scenario.job::abortJob, afterAbort);
        PathOutputCommitter aborted = newCommitter();
        assertThat(commit(aborted, trouble)).as(context).isNotNull();
        check(context, "same committer aborts", () -> abort(aborted), afterAbort);
      }
    }
    System.out.printf(
        "job commit, %s, in the way: %s: %d faults injected into %d requests, %d commits failed"
            + " and were repaired in 4 ways%n",
        scheme, obstacle, injected, requests.size(), failed);
    assertNothingWrong();
    assertThat(failed).isPositive().isLessThan(injected);
  }

  @ParameterizedTest
  @CsvSource({
    "hdfs,FILE_FOR_DIRECTORY",
    "abfs,NONE",
    "gs,TARGET_FILES",
  })
  void aCommitThatIsKilledTwiceCanBeRepaired(String scheme, Obstacle obstacle) throws IOException {
    open(scheme, obstacle);
    int requests = commitWithoutFault().size();
    int injected = 0;
    int step = Math.max(1, requests / FIRST_DEATHS);
    for (int at = 1; at <= requests; at += step) {
      if (commit(newCommitter(), Trouble.killedAfter(at)) == null) {
        continue;
      }
      Snapshot left = state.snapshot();
      injected += killCommits(scheme + ", killed after request " + at, left);
      injected += killAborts(scheme + ", killed after request " + at, left);
    }
    System.out.printf(
        "job commit, %s, in the way: %s: %d times killed again while it was repaired%n",
        scheme, obstacle, injected);
    assertNothingWrong();
    assertThat(injected).isGreaterThan(requests);
  }

  /**
   * Kills the second commit of a job at every request; a third one commits, or an abort ends it.
   */
  private int killCommits(String context, Snapshot left) throws IOException {
    for (int at = 1; ; at++) {
      state.restore(left);
      Throwable failure = run(scenario.job.jobCommitter()::commitJob, Trouble.killedBefore(at));
      if (state.requests().size() < at) {
        return at - 1;
      }
      assertThat(failure).isNotNull();
      String second = context + ", second commit killed before its request " + at;
      Snapshot leftAgain = state.snapshot();
      Expected afterAbort = scenario.isReported() ? Expected.COMMITTED : Expected.ROLLED_BACK;
      check(second, "new committer commits", scenario.job::commitJob, Expected.COMMITTED);
      state.restore(leftAgain);
      check(second, "new committer aborts", scenario.job::abortJob, afterAbort);
    }
  }

  /** Kills the abort of a job at every request; a second one ends it; a commit is never wrong. */
  private int killAborts(String context, Snapshot left) throws IOException {
    state.restore(left);
    Expected end = scenario.isReported() ? Expected.COMMITTED : Expected.ROLLED_BACK;
    for (int at = 1; ; at++) {
      state.restore(left);
      PathOutputCommitter committer = scenario.job.jobCommitter();
      run(job -> committer.abortJob(job, JobStatus.State.KILLED), Trouble.killedBefore(at));
      if (state.requests().size() < at) {
        return at - 1;
      }
      String second = context + ", abort killed before its request " + at;
      Snapshot leftAgain = state.snapshot();
      check(second, "new committer aborts", scenario.job::abortJob, end);
      state.restore(leftAgain);
      try {
        scenario.job.commitJob();
      } catch (IOException e) {
        continue;
      }
      check(second, "commit said that it succeeded", () -> {}, Expected.COMMITTED);
    }
  }

  private void open(String scheme, Obstacle obstacle) throws IOException {
    scenario = new FaultScenario(scheme, obstacle, "job-fault-" + scheme);
    state = scenario.job.state();
  }

  private List<String> commitWithoutFault() throws IOException {
    newCommitter();
    scenario.job.commitJob();
    List<String> requests = state.requests();
    scenario.assertCommitted("without a fault");
    return requests;
  }

  /** A committer of the job, as after a start of its process: all tasks are committed. */
  private PathOutputCommitter newCommitter() throws IOException {
    state.restore(scenario.tasksCommitted);
    return scenario.job.jobCommitter();
  }

  private Throwable commit(PathOutputCommitter committer, Trouble trouble) {
    return run(committer::commitJob, trouble);
  }

  private void again(PathOutputCommitter committer) throws IOException {
    committer.commitJob(scenario.job.jobContext());
  }

  private void abort(PathOutputCommitter committer) throws IOException {
    committer.abortJob(scenario.job.jobContext(), JobStatus.State.FAILED);
  }

  /** Does something in trouble, which is over afterwards. */
  private Throwable run(JobCall call, Trouble trouble) {
    state.resetRequests();
    state.onRequest(trouble.fault());
    try {
      call.accept(scenario.job.jobContext());
      return null;
    } catch (IOException | Error e) {
      return e;
    } finally {
      state.noFault();
    }
  }

  private void check(String context, String what, Call call, Expected expected) {
    String whole = context + "; " + what;
    try {
      call.run();
      if (expected == Expected.COMMITTED) {
        scenario.assertCommitted(whole);
      } else {
        scenario.assertRolledBack(whole);
      }
    } catch (IOException | RuntimeException | AssertionError e) {
      wrong.add(whole + "; expected " + expected + "; " + e);
    }
  }

  private void assertNothingWrong() {
    assertThat(wrong.subList(0, Math.min(TOLD, wrong.size())))
        .as("%d outcomes are wrong", wrong.size())
        .isEmpty();
  }

  private enum Expected {
    COMMITTED,
    ROLLED_BACK
  }

  private interface Call {
    void run() throws IOException;
  }

  private interface JobCall {
    void accept(JobContext job) throws IOException;
  }
}
