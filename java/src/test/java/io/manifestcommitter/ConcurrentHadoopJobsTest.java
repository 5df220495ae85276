// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.testing.Fault.Trouble;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import io.manifestcommitter.testing.MemoryStoreState.Snapshot;
import io.manifestcommitter.testing.TurnTaking;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Two jobs into one table at the same time: whatever the order of what they do, each ends as it
 * would alone, and neither touches what belongs to the other.
 */
@Timeout(600)
class ConcurrentHadoopJobsTest {
  private static final Map<String, String> EARLIER = Map.of("p=2/earlier", "of an earlier job");
  private static final int SCHEDULES = 60;

  private Writer a;
  private Writer b;
  private MemoryStoreState state;

  @ParameterizedTest
  @CsvSource({"hdfs,true,true", "abfs,true,false", "gs,false,false"})
  void everyOrderOfTheirPhases(String scheme, boolean aCommits, boolean bCommits) throws Exception {
    open(scheme);
    Snapshot empty = state.snapshot();
    List<String> orders = orders("", a.phases(aCommits).size(), b.phases(bCommits).size());
    assertThat(orders).hasSize(252);
    for (String order : orders) {
      state.restore(empty);
      List<Phase> phasesOfA = new ArrayList<>(a.phases(aCommits));
      List<Phase> phasesOfB = new ArrayList<>(b.phases(bCommits));
      for (int step = 0; step < order.length(); step++) {
        (order.charAt(step) == 'a' ? phasesOfA : phasesOfB).remove(0).run();
        assertReportIsWhole(order);
        assertStands(order, a, phasesOfA);
        assertStands(order, b, phasesOfB);
      }
      assertEnd(order, aCommits, bCommits);
      if (aCommits && bCommits) {
        assertThat(a.job.report().jobId())
            .as(order)
            .isEqualTo((order.endsWith("a") ? a : b).job.jobId());
      } else if (aCommits && order.lastIndexOf('a') > order.indexOf('b')) {
        assertThat(a.job.report().jobId()).as(order).isEqualTo(a.job.jobId());
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"hdfs,true", "abfs,false", "gs,true", "gs,false"})
  void requestsOfTheirEndsInAnyOrder(String scheme, boolean bCommits) throws Exception {
    open(scheme);
    Snapshot tasksCommitted = bothRunTheirTasks();
    for (long seed = 0; seed < SCHEDULES; seed++) {
      state.restore(tasksCommitted);
      String context = scheme + ", seed " + seed;
      race(context, seed, a.job::commitJob, bCommits ? b.job::commitJob : b.job::abortJob);
      assertEnd(context, true, bCommits);
      assertThat(a.job.report().jobId()).as(context).isIn(endings(bCommits));
    }
  }

  /** One rolls back what it had published, while the other publishes into the same partitions. */
  @ParameterizedTest
  @CsvSource({"hdfs", "abfs", "gs"})
  void oneRollsBackAFailedCommitWhileTheOtherCommits(String scheme) throws Exception {
    open(scheme);
    Snapshot tasksCommitted = bothRunTheirTasks();
    state.resetRequests();
    b.job.commitJob();
    int requests = state.requests().size();
    int raced = 0;
    for (long seed = 0; seed < SCHEDULES; seed++) {
      int at = 1 + (int) (seed % requests);
      state.restore(tasksCommitted);
      state.onRequest(Trouble.killedAfter(at).fault());
      if (ends(b.job::commitJob) || isReported(b)) {
        continue;
      }
      state.noFault();
      raced++;
      String context = scheme + ", seed " + seed + ", b died after its request " + at;
      race(context, seed, a.job::commitJob, b.job::abortJob);
      assertEnd(context, true, false);
      assertThat(a.job.report().jobId()).as(context).isEqualTo(a.job.jobId());
    }
    assertThat(raced).isGreaterThan(SCHEDULES / 2);
  }

  /** Runs the ends of both jobs in threads that take turns, request by request. */
  private void race(String context, long seed, Phase ofA, Phase ofB) throws Exception {
    Queue<Throwable> seen = new ConcurrentLinkedQueue<>();
    Set<String> cleaning = new HashSet<>();
    TurnTaking turns =
        new TurnTaking(
            seed,
            (client, operation, path) -> {
              Writer own = client.equals(a.name) ? a : b;
              if (operation.equals("delete")
                  && path.startsWith("/table/" + own.job.jobDirectory())) {
                cleaning.add(client);
              }
              try {
                assertReportIsWhole(context);
                for (Writer writer : List.of(a, b)) {
                  if (!cleaning.contains(writer.name)) {
                    assertStands(context, writer, List.of(() -> {}));
                  }
                }
              } catch (IOException | AssertionError e) {
                seen.add(e);
              }
            },
            a.name,
            b.name);
    state.gate(turns);
    FutureTask<Void> endOfA = new FutureTask<>(taking(turns, a, ofA));
    FutureTask<Void> endOfB = new FutureTask<>(taking(turns, b, ofB));
    new Thread(endOfA, "job-a").start();
    new Thread(endOfB, "job-b").start();
    endOfA.get();
    endOfB.get();
    state.noGate();
    assertThat(seen).as(context).isEmpty();
  }

  private static Callable<Void> taking(TurnTaking turns, Writer writer, Phase phase) {
    return () -> {
      try {
        phase.run();
        return null;
      } finally {
        turns.leave(writer.name);
      }
    };
  }

  /** Both jobs up to the end of their tasks. */
  private Snapshot bothRunTheirTasks() throws IOException {
    for (Writer writer : List.of(a, b)) {
      writer.job.setupJob();
      writer.job.runTask(0, 0, writer.files);
    }
    return state.snapshot();
  }

  private void assertEnd(String context, boolean aCommits, boolean bCommits) throws IOException {
    Map<String, String> expected = new TreeMap<>(EARLIER);
    if (aCommits) {
      expected.putAll(a.files);
      assertSummary(context, a);
    }
    if (bCommits) {
      expected.putAll(b.files);
      assertSummary(context, b);
    }
    assertThat(a.job.visible()).as(context).isEqualTo(expected);
    assertThat(a.job.exists("_temporary")).as(context).isFalse();
    assertReportIsWhole(context);
    for (String directory : a.job.visibleDirectories()) {
      assertThat(expected.keySet())
          .as("%s: nothing is left of %s", context, directory)
          .anyMatch(file -> file.startsWith(directory + "/"));
    }
  }

  private void assertSummary(String context, Writer writer) {
    String name = "/reports/summary-" + writer.job.jobId() + ".json";
    try {
      SuccessReport report = SuccessReport.parse(state.bytes(name), name);
      assertThat(report.success()).as(context).isTrue();
      assertThat(report.filenames()).as(context).hasSize(writer.files.size());
      assertThat(report.filenames())
          .as(context)
          .allMatch(file -> file.endsWith("of-" + writer.name));
    } catch (IOException e) {
      throw new AssertionError(context, e);
    }
  }

  /** Never empty, never half written, never of a third. */
  private void assertReportIsWhole(String context) throws IOException {
    if (state.exists("/table/_SUCCESS")) {
      assertThat(a.job.report().jobId()).as(context).isIn(a.job.jobId(), b.job.jobId());
    }
  }

  /** A job that has begun and not ended has its directories, whatever the other does. */
  private static void assertStands(String context, Writer writer, List<Phase> left)
      throws IOException {
    if (!left.isEmpty() && left.size() < Writer.PHASES) {
      assertThat(writer.job.exists(writer.job.jobDirectory() + "/00/manifests"))
          .as("%s: the directory of job %s is there", context, writer.name)
          .isTrue();
    }
  }

  private List<String> endings(boolean bCommits) {
    return bCommits ? List.of(a.job.jobId(), b.job.jobId()) : List.of(a.job.jobId());
  }

  private boolean isReported(Writer writer) throws IOException {
    return state.exists("/table/_SUCCESS")
        && writer.job.report().jobId().equals(writer.job.jobId());
  }

  private static boolean ends(Phase phase) {
    try {
      phase.run();
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private void open(String scheme) throws IOException {
    HadoopJobHarness first = HadoopJobHarness.memory(scheme, "concurrent-" + scheme);
    first.conf.set(
        CommitterConfig.SUMMARY_REPORT_DIRECTORY, scheme + "://concurrent-" + scheme + "/reports");
    state = first.state();
    state.clear();
    for (Map.Entry<String, String> file : EARLIER.entrySet()) {
      first.write(file.getKey(), file.getValue());
    }
    a = new Writer("a", first);
    b = new Writer("b", first.another(8));
  }

  /** All ways to merge two sequences, as "abba". */
  private static List<String> orders(String soFar, int leftOfA, int leftOfB) {
    if (leftOfA == 0 && leftOfB == 0) {
      return List.of(soFar);
    }
    List<String> orders = new ArrayList<>();
    if (leftOfA > 0) {
      orders.addAll(orders(soFar + "a", leftOfA - 1, leftOfB));
    }
    if (leftOfB > 0) {
      orders.addAll(orders(soFar + "b", leftOfA, leftOfB - 1));
    }
    return orders;
  }

  /** One of the jobs, and what it writes: to a new partition of both, an old one and its own. */
  private static final class Writer {
    static final int PHASES = 5;

    final String name;
    final HadoopJobHarness job;
    final Map<String, String> files;

    Writer(String name, HadoopJobHarness job) {
      this.name = name;
      this.job = job;
      this.files = new TreeMap<>();
      for (String directory : List.of("", "p=1/", "p=1/q=1/", "p=2/", "p=" + name + "/")) {
        files.put(directory + "of-" + name, "content of " + name);
      }
      job.conf.set(MemoryFileSystem.CLIENT, name);
    }

    List<Phase> phases(boolean commits) {
      return List.of(
          job::setupJob,
          () -> job.setupTask(0, 0),
          () -> job.writeTask(0, 0, files),
          () -> job.commitTask(0, 0),
          commits ? job::commitJob : job::abortJob);
    }
  }

  private interface Phase {
    void run() throws IOException;
  }
}
