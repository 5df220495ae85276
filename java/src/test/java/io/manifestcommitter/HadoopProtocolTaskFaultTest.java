// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.testing.Fault.Trouble;
import io.manifestcommitter.testing.MemoryStoreState;
import io.manifestcommitter.testing.MemoryStoreState.Snapshot;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A failure of every kind at every request of a task attempt, from its setup to the end of its
 * commit. A commit that says that it succeeded has; one that failed, or only said so, gives way to
 * the next attempt of the task.
 */
class HadoopProtocolTaskFaultTest {
  private static final Map<String, String> OTHER_TASK = Map.of("p=1/of-task-1", "of task 1");
  private static final Map<String, String> FIRST =
      Map.of("same-name", "first", "p=1/of-attempt-0", "first", "p=2/q=1/of-attempt-0", "first");
  private static final Map<String, String> SECOND =
      Map.of("same-name", "the second", "p=1/of-attempt-1", "second", "p=3/of-attempt-1", "second");

  private HadoopJobHarness job;
  private MemoryStoreState state;

  @ParameterizedTest
  @ValueSource(strings = {"hdfs", "abfs", "gs"})
  void aFailureAtAnyRequestOfATaskAttemptIsMadeGoodByTheNext(String scheme) throws IOException {
    job = HadoopJobHarness.memory(scheme, "task-fault-" + scheme);
    state = job.state();
    state.clear();
    job.write("earlier", "of an earlier job");
    job.setupJob();
    job.runTask(1, 0, OTHER_TASK);
    Snapshot before = state.snapshot();
    List<String> requests = requestsWithoutFault();

    int injected = 0;
    int failed = 0;
    int doneAllTheSame = 0;
    for (int at = 1; at <= requests.size(); at++) {
      for (Trouble trouble : Trouble.at(at, requests.get(at - 1))) {
        injected++;
        String context = scheme + ", " + requests.get(at - 1) + ": " + trouble;
        state.restore(before);
        if (runFirstAttempt(trouble)) {
          assertCommits(context, FIRST);
          continue;
        }
        failed++;
        doneAllTheSame += job.exists(job.manifestOf(0)) ? 1 : 0;
        assertMadeGood(context);
      }
    }
    System.out.printf(
        "task commit, %s: %d faults injected into %d requests, %d attempts failed, %d of them after"
            + " they were committed%n",
        scheme, injected, requests.size(), failed, doneAllTheSame);
    assertThat(failed).isPositive().isLessThan(injected);
    assertThat(doneAllTheSame).isPositive();
  }

  private List<String> requestsWithoutFault() throws IOException {
    state.resetRequests();
    job.runTask(0, 0, FIRST);
    return state.requests();
  }

  /** Whether an attempt in trouble, which is over afterwards, says that it committed. */
  private boolean runFirstAttempt(Trouble trouble) throws IOException {
    PathOutputCommitter committer = job.committer(0, 0);
    state.resetRequests();
    state.onRequest(trouble.fault());
    try {
      committer.setupTask(job.context(0, 0));
      job.writeTask(0, 0, FIRST);
      committer.commitTask(job.context(0, 0));
      return true;
    } catch (IOException | Error e) {
      return false;
    } finally {
      state.noFault();
    }
  }

  /** What may follow on an attempt that failed. */
  private void assertMadeGood(String context) throws IOException {
    Snapshot left = state.snapshot();
    job.runTask(0, 1, SECOND);
    assertCommits(context + "; second attempt", SECOND);

    state.restore(left);
    job.abortTask(0, 0);
    job.runTask(0, 1, SECOND);
    assertCommits(context + "; first attempt aborted, then second attempt", SECOND);

    state.restore(left);
    job.runTask(0, 1, SECOND);
    job.abortTask(0, 0);
    assertCommits(context + "; second attempt, then first attempt aborted", SECOND);

    state.restore(left);
    job.abortJob();
    assertThat(job.files.files()).as(context).isEqualTo(Map.of("earlier", "of an earlier job"));
    assertThat(job.files.directories()).as(context).isEmpty();
  }

  private void assertCommits(String context, Map<String, String> ofTask) throws IOException {
    job.commitJob();
    Map<String, String> expected = new TreeMap<>(OTHER_TASK);
    expected.putAll(ofTask);
    assertThat(job.listedFiles().keySet()).as(context).isEqualTo(expected.keySet());
    expected.put("earlier", "of an earlier job");
    assertThat(job.visible()).as(context).isEqualTo(expected);
    assertThat(job.exists("_temporary")).as(context).isFalse();
  }
}
