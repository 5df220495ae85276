// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.SparkCalls;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Writes to S3: tasks upload, and the job commit completes what committed. */
class UploadedOutputTest {
  private final MemoryStoreState state = MemoryFileSystem.state("uploads");
  private final Configuration conf = MemoryFileSystem.configuration();
  private final Path table = new Path("s3a://uploads/table");

  private final List<SparkCalls> started = new ArrayList<>();

  /** So that no heartbeat of one test gets into the store of the next. */
  @AfterEach
  void stop() {
    state.noFault();
    started.forEach(SparkCalls::abort);
  }

  @BeforeEach
  void clear() {
    conf.set("fs.s3a.multipart.size", "5M");
    state.clear();
    state.write("/table/p=1/old.txt", "old");
  }

  @Test
  void anAppendCompletesWhatTheTasksUploaded() throws IOException {
    SparkCalls calls = begun(false);
    List<TaskCommitMessage> messages = List.of(calls.task(0, "p=1"), calls.task(1, "p=2"));
    assertThat(state.files().keySet()).noneMatch(path -> path.contains("/part-"));
    assertThat(state.uploads()).hasSize(2);
    state.resetRequests();

    calls.commit(messages);

    assertThat(state.uploads()).isEmpty();
    assertThat(rows()).containsExactlyInAnyOrder("old", "p=1 of 0", "p=2 of 1");
    assertThat(state.files()).containsKey("/table/_SUCCESS");
    assertThat(state.paths()).noneMatch(path -> path.contains("/_manifest_"));
    assertThat(state.requestsByOperation())
        .doesNotContainKey("rename")
        .containsEntry("complete", 3);
  }

  @Test
  void anAttemptThatIsAbortedLeavesNothing() throws IOException {
    SparkCalls calls = begun(false);
    SparkCalls.Attempt attempt = calls.attempt(0, 0).write("p=1", "x");
    attempt.commitApproved();
    attempt.abort();
    assertThat(state.uploads()).isEmpty();
  }

  @Test
  void aLargeFileIsUploadedWhileItIsWritten() throws Exception {
    SparkCalls calls = begun(false);
    SparkCalls.Attempt attempt = calls.attempt(0, 0);
    String content;
    try (OutputStream out = open(attempt.newFile("p=1", ".txt"))) {
      content = writeMoreThanAPart(out);
    }
    List<TaskCommitMessage> messages = List.of(attempt.commitApproved());
    assertThat(state.requestsByOperation()).containsEntry("initiate", 1).containsEntry("part", 2);

    calls.commit(messages);

    assertThat(rows()).containsExactlyInAnyOrder("old", content);
    assertThat(state.uploads()).isEmpty();
  }

  @Test
  void anAttemptThatIsAbortedWhileItWritesLeavesNothing() throws Exception {
    SparkCalls calls = begun(false);
    SparkCalls.Attempt attempt = calls.attempt(0, 0);
    Path file = attempt.newFile("p=1", ".txt");
    try (OutputStream out = open(file)) {
      writeMoreThanAPart(out);
      attempt.abort();
    }
    assertThat(state.requestsByOperation()).containsEntry("part", 1).containsEntry("abort", 1);
    assertThat(state.uploads()).isEmpty();
    assertThat(file.getFileSystem(conf).exists(file)).isFalse();
  }

  /** Returns when the first part was uploaded. */
  private String writeMoreThanAPart(OutputStream out) throws Exception {
    CountDownLatch isUploaded = new CountDownLatch(1);
    state.before("part", path -> true, path -> isUploaded.countDown());
    String content = "0123456789".repeat(600_000);
    out.write(content.getBytes(StandardCharsets.UTF_8));
    assertThat(isUploaded.await(1, TimeUnit.MINUTES)).isTrue();
    return content;
  }

  @Test
  void attemptsThatSparkGaveUpOnNeverBecomeVisible() throws IOException {
    SparkCalls calls = begun(false);
    SparkCalls.Attempt lost = calls.attempt(0, 0).write("p=1", "lost");
    lost.commitApproved();
    SparkCalls.Attempt late = calls.attempt(0, 1).write("p=1", "late");
    TaskCommitMessage chosen = calls.attempt(0, 2).write("p=1", "chosen").commitApproved();

    calls.commit(List.of(chosen));
    late.commitApproved();

    assertThat(rows()).containsExactlyInAnyOrder("old", "chosen");
    assertThat(state.paths()).noneMatch(path -> path.contains("/_manifest_"));
    assertThat(state.uploads()).hasSize(2).allMatch(path -> path.startsWith("/table/p=1/part-"));
  }

  @Test
  void anUploadThatSomebodyAbortedFailsTheJobWithNothingVisible() throws IOException {
    conf.setInt(CommitterConfig.IO_THREADS, 1);
    SparkCalls calls = begun(false);
    List<TaskCommitMessage> messages = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      messages.add(calls.task(i, "p=" + i));
    }
    assertThat(state.abortUpload(state.uploads().get(0))).isTrue();

    assertThatThrownBy(() -> calls.commit(messages))
        .hasMessageContaining("fs.s3a.committer.abort.pending.uploads");
    assertThat(state.uploads()).isEmpty();
    calls.abort();

    assertThat(rows()).containsExactly("old");
    assertThat(state.paths()).noneMatch(path -> path.contains("/_manifest_"));
  }

  /** As a lifecycle rule does, or another committer that aborts all uploads below the table. */
  @ParameterizedTest
  @CsvSource({
    "append, before", "append, during", "append, mark",
    "overwrite, before", "overwrite, during", "overwrite, mark",
    "dynamic, before", "dynamic, during", "dynamic, mark"
  })
  void whatWasCompletedIsDeletedIfAnUploadIsGone(String kind, String when) throws IOException {
    conf.setInt(CommitterConfig.IO_THREADS, 1);
    SparkCalls earlier = begun(false);
    earlier.commit(List.of(earlier.task(0, "p=0")));
    Map<String, String> before = state.files();
    assertThat(before).containsKeys("/table/_SUCCESS", "/table/_SUCCESS.files");

    Path[] replaced = kind.equals("overwrite") ? new Path[] {table} : new Path[0];
    SparkCalls calls = begun("job-2", kind.equals("dynamic"), replaced);
    List<TaskCommitMessage> messages = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      messages.add(calls.task(i, "p=" + i));
    }
    if (when.equals("before")) {
      assertThat(state.abortUpload("/table/p=9/part-00009-job-2-0.txt")).isTrue();
    }
    List<Integer> visible = new ArrayList<>();
    state.before(
        "complete",
        path -> true,
        path -> {
          visible.add(rows().size() - 2);
          boolean isMark = path.endsWith("/journal-committed-0");
          if (when.equals("mark") ? isMark : when.equals("during") && visible.size() == 4) {
            state.uploads().forEach(state::abortUpload);
          }
        });

    assertThatThrownBy(() -> calls.commit(messages)).hasMessageContaining(" is gone");
    calls.abort();

    assertThat(visible).as("files, at each completion").startsWith(0, 1, 2, 3);
    assertThat(state.files()).isEqualTo(before);
    assertThat(state.uploads()).isEmpty();
  }

  @Test
  void aCompletionOfWhichNothingIsKnownNamesWhereToLook() throws IOException {
    SparkCalls calls = begun(false);
    TaskCommitMessage message = calls.attempt(0, 0).write("p=1", "new").commitApproved();
    state.onRequest(Fault.on("complete", Fate.FAILS_BEFORE, path -> path.contains("/p=1/")));

    assertThat(Failures.of(() -> calls.commit(List.of(message))))
        .containsPattern(
            "It is not known whether the upload of \\S+/table/p=1/part-\\S+ was completed")
        .contains("Check that path: a file of ")
        .doesNotContain("renamed to");
  }

  @Test
  void aCommitThatCannotNoteItsEndSucceedsAndIsCleanedUp() throws IOException {
    SparkCalls calls = begun(false);
    List<TaskCommitMessage> messages = List.of(calls.task(0, "p=1"));
    state.onRequest(
        (number, operation, path) -> path.contains("finished") ? Fate.FAILS_BEFORE : Fate.NORMAL);

    calls.commit(messages);

    assertThat(rows()).containsExactlyInAnyOrder("old", "p=1 of 0");
    assertThat(state.paths()).noneMatch(path -> path.contains("_manifest_"));
    assertThat(state.uploads()).isEmpty();
  }

  @Test
  void aResumedCommitDoesNotBelieveARepeatedCompletion() throws IOException {
    state.rememberCompletions();
    conf.setInt(CommitterConfig.IO_THREADS, 1);
    SparkCalls calls = begun(false);
    List<TaskCommitMessage> messages = List.of(calls.task(0, "p=1"), calls.task(1, "p=2"));
    state.onRequest(Fault.deadAfter("complete", path -> true));
    assertThatThrownBy(() -> calls.commit(messages)).hasMessageContaining("could not be looked at");
    state.onRequest((number, operation, path) -> Fate.NORMAL);
    String completed =
        state.files().keySet().stream().filter(path -> path.contains("/part-")).findFirst().get();
    state.write(completed, "of somebody else");

    Recovery recovery = Recoveries.of(conf, true);
    StagingRoot unfinished = recovery.find(table).get(0);
    assertThatThrownBy(() -> recovery.run(unfinished, Recovery.Direction.COMPLETE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(completed);
    assertThat(state.files()).containsEntry(completed, "of somebody else");
    assertThat(rows()).contains("old");
  }

  @Test
  void aRecoveryWhoseWorkAnotherOneEndsHasSucceeded() throws IOException {
    SparkCalls calls = begun(false, table);
    List<TaskCommitMessage> messages = List.of(calls.task(0, "p=2"));
    state.onRequest(Fault.deadAfter("complete", path -> path.endsWith("/journal-committed-0")));
    assertThatThrownBy(() -> calls.commit(messages)).isInstanceOf(IOException.class);
    boolean[] isEnded = {false};
    state.before(
        "open",
        path -> path.endsWith("/00/old/0/_SUCCESS"),
        path -> {
          isEnded[0] = true;
          state.paths().stream()
              .filter(left -> left.contains("/_manifest_"))
              .forEach(state::remove);
        });

    Recovery recovery = Recoveries.of(conf, true);
    recovery.run(recovery.find(table).get(0), Recovery.Direction.AS_MARKED);

    assertThat(isEnded[0]).isTrue();
    assertThat(rows()).containsExactly("p=2 of 0");
    assertThat(state.paths()).noneMatch(path -> path.contains("/_manifest_"));
  }

  @Test
  void anOverwriteKeepsTheOldDataUntilTheNewIsComplete() throws IOException {
    SparkCalls calls = begun(false, table);
    TaskCommitMessage message = calls.task(0, "p=2");
    assertThat(rows()).containsExactly("old");
    calls.commit(List.of(message));
    assertThat(rows()).containsExactly("p=2 of 0");
  }

  @Test
  void aDynamicOverwriteReplacesTheWrittenPartitions() throws IOException {
    state.write("/table/p=3/old.txt", "old 3");
    SparkCalls calls = begun(true);
    calls.commit(List.of(calls.task(0, "p=1")));
    assertThat(rows()).containsExactlyInAnyOrder("p=1 of 0", "old 3");
  }

  @Test
  void anAbortedJobGivesUpWhatItsTasksUploaded() throws IOException {
    SparkCalls calls = begun(false);
    calls.committed(calls.task(0, "p=1"));
    assertThat(state.uploads()).hasSize(1);
    calls.abort();
    assertThat(state.uploads()).isEmpty();
    assertThat(rows()).containsExactly("old");
  }

  private SparkCalls begun(boolean isDynamic, Path... replaced) throws IOException {
    return begun("job-1", isDynamic, replaced);
  }

  private SparkCalls begun(String job, boolean isDynamic, Path... replaced) throws IOException {
    SparkCalls calls = SparkCalls.of(conf, table, job, isDynamic);
    started.add(calls);
    return calls.replace(replaced).setUp();
  }

  private OutputStream open(Path file) throws IOException {
    assertThat(file.toUri().getScheme()).isEqualTo("file");
    return file.getFileSystem(conf).create(file);
  }

  private Collection<String> rows() {
    return state.visible().values();
  }
}
