// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.MemoryStoreState;
import io.manifestcommitter.testing.MemoryStoreState.Snapshot;
import java.io.IOException;
import java.util.Map;
import java.util.NavigableMap;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A job commit that is asked for again after it was done. */
class RepeatedCommitTest {
  private static final Map<String, String> FILES =
      Map.of("part-0", "a", "p=1/part-0", "bb", "p=2/q=1/part-0", "ccc");

  private HadoopJobHarness job;
  private MemoryStoreState state;

  /** Each store, with and without {@code delete.target.files}. */
  static Stream<Arguments> storesAndModes() {
    return Stream.of("hdfs", "abfs", "gs")
        .flatMap(store -> Stream.of(Arguments.of(store, false), Arguments.of(store, true)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"hdfs", "abfs", "gs"})
  void aJobCommitIsRepeatable(String scheme) throws IOException {
    open(scheme, /* deleteTargets= */ false);

    assertThat(job.jobCommitter().isCommitJobRepeatable(job.jobContext())).isTrue();
  }

  @ParameterizedTest
  @MethodSource("storesAndModes")
  void aCommitAfterTheJobDirectoryIsGoneChangesNothing(String scheme, boolean deleteTargets)
      throws IOException {
    open(scheme, deleteTargets);
    runJob();
    job.commitJob();
    NavigableMap<String, String> committed = job.files.files();

    job.commitJob();

    assertThat(job.files.files()).isEqualTo(committed);
    assertThat(job.namesIn("")).doesNotContain("_temporary");
  }

  @ParameterizedTest
  @MethodSource("storesAndModes")
  void aCommitWhereTheJobDirectoryIsStillThereChangesNothing(String scheme, boolean deleteTargets)
      throws IOException {
    open(scheme, deleteTargets);
    commitWithoutCleanup();
    NavigableMap<String, String> committed = job.visible();
    assertThat(job.namesIn(job.jobDirectory())).isNotEmpty();

    job.conf.setBoolean(CommitterConfig.CLEANUP_SKIPPED, true);
    job.commitJob();
    job.conf.setBoolean(CommitterConfig.CLEANUP_SKIPPED, false);
    job.commitJob();

    assertThat(job.visible()).isEqualTo(committed);
    assertIsCommitted("");
  }

  /** A cleanup that was killed may have left any part of the job's directory. */
  @ParameterizedTest
  @MethodSource("storesAndModes")
  void aCommitWhereAPartOfTheJobDirectoryIsLeftChangesNothing(String scheme, boolean deleteTargets)
      throws IOException {
    open(scheme, deleteTargets);
    commitWithoutCleanup();
    Snapshot committed = state.snapshot();
    NavigableMap<String, String> left = job.files.files();
    left.keySet().removeIf(path -> !path.startsWith(job.jobDirectory() + "/"));
    assertThat(left).hasSizeGreaterThan(2);

    for (String path : left.keySet()) {
      for (boolean only : new boolean[] {true, false}) {
        state.restore(committed);
        left.keySet().stream()
            .filter(other -> other.equals(path) != only)
            .forEach(other -> state.remove("/table/" + other));
        job.commitJob();
        assertIsCommitted(path + ", only that: " + only);
      }
    }
  }

  /** As on an object store, where a directory is gone with its last file. */
  @ParameterizedTest
  @ValueSource(strings = {"hdfs", "abfs", "gs"})
  void anAbortBringsAReplacedFileBackThoughItsDirectoryIsGone(String scheme) throws IOException {
    open(scheme, /* deleteTargets= */ true);
    job.write("p=1/part-0", "old");
    job.runTasks(Map.of("p=1/part-0", "new"));
    state.onRequest(
        (number, operation, path) ->
            operation.equals("rename")
                    && path.endsWith("p=1/part-0")
                    && !path.startsWith("/table/p=1")
                ? Fate.FAILS_BEFORE
                : Fate.NORMAL);
    assertThatThrownBy(job::commitJob).isInstanceOf(IOException.class);
    assertThat(job.visible()).isEmpty();
    state.noFault();
    state.remove("/table/p=1");

    job.abortJob();

    assertThat(job.visible()).isEqualTo(Map.of("p=1/part-0", "old"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"hdfs", "abfs", "gs"})
  void withoutAReportNobodyCanTellThatAJobWasCommitted(String scheme) throws IOException {
    open(scheme, /* deleteTargets= */ false);
    job.conf.setBoolean(CommitterConfig.MARK_SUCCESSFUL_JOBS, false);
    runJob();
    job.commitJob();

    assertThatThrownBy(() -> job.commitJob())
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll(job.path(job.jobDirectory()).toString(), "committed already");
    assertThat(job.files.files()).isEqualTo(FILES);
  }

  @ParameterizedTest
  @ValueSource(strings = {"hdfs", "abfs", "gs"})
  void theReportOfAnotherJobSaysNothingAboutThisOne(String scheme) throws IOException {
    open(scheme, /* deleteTargets= */ false);
    runJob();
    HadoopJobHarness other = job.another(8);
    other.run(Map.of("of-another-job", "x"));
    state.remove("/table/" + job.jobDirectory());

    assertThatThrownBy(() -> job.commitJob())
        .isInstanceOf(IOException.class)
        .hasMessageContaining(job.path(job.jobDirectory()).toString());
    assertThat(job.visible()).isEqualTo(Map.of("of-another-job", "x"));
    assertThat(job.report().jobId()).isEqualTo(other.jobId());
  }

  @ParameterizedTest
  @ValueSource(strings = {"hdfs", "abfs", "gs"})
  void anAbortAfterACommitElsewhereKeepsTheTable(String scheme) throws IOException {
    open(scheme, /* deleteTargets= */ false);
    commitWithoutCleanup();

    job.abortJob();
    job.abortJob();

    assertIsCommitted("");
  }

  /** Exactly the job's files, its report and its list, and nothing of the job besides. */
  private void assertIsCommitted(String context) throws IOException {
    assertThat(job.visible()).as(context).isEqualTo(FILES);
    assertThat(job.exists("_temporary")).as(context).isFalse();
    assertThat(job.report().jobId()).isEqualTo(job.jobId());
    assertThat(job.report().statistics().counters())
        .containsEntry(StatisticNames.COMMITTER_FILES_COMMITTED, (long) FILES.size());
    assertThat(job.listedFiles().keySet()).isEqualTo(FILES.keySet());
  }

  private void runJob() throws IOException {
    job.runTasks(Map.of("part-0", "a", "p=1/part-0", "bb"), Map.of("p=2/q=1/part-0", "ccc"));
  }

  private void commitWithoutCleanup() throws IOException {
    job.conf.setBoolean(CommitterConfig.CLEANUP_SKIPPED, true);
    runJob();
    job.commitJob();
    job.conf.setBoolean(CommitterConfig.CLEANUP_SKIPPED, false);
  }

  private void open(String scheme, boolean deleteTargets) {
    job = HadoopJobHarness.memory(scheme, "repeated-" + scheme);
    state = job.state();
    state.clear();
    job.conf.setBoolean(CommitterConfig.DELETE_TARGET_FILES, deleteTargets);
  }
}
