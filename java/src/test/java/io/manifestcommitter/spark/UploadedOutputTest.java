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
  private static final String JOB = "job-1";

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
    SparkCalls calls = calls(false);
    calls.setUp();
    List<TaskCommitMessage> messages = List.of(task(calls, 0, "p=1"), task(calls, 1, "p=2"));
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
    SparkCalls calls = calls(false);
    calls.setUp();
    SparkCalls.Attempt attempt = calls.attempt(0, 0);
    write(attempt.newFile("p=1", ".txt"), "x");
    attempt.commitApproved();
    attempt.abort();
    assertThat(state.uploads()).isEmpty();
  }

  @Test
  void aLargeFileIsUploadedWhileItIsWritten() throws Exception {
    SparkCalls calls = calls(false);
    calls.setUp();
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
    SparkCalls calls = calls(false);
    calls.setUp();
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
    SparkCalls calls = calls(false);
    calls.setUp();
    SparkCalls.Attempt lost = attempt(calls, 0, "lost");
    lost.commitApproved();
    SparkCalls.Attempt late = attempt(calls, 1, "late");
    TaskCommitMessage chosen = attempt(calls, 2, "chosen").commitApproved();

    calls.commit(List.of(chosen));
    late.commitApproved();

    assertThat(rows()).containsExactlyInAnyOrder("old", "chosen");
    assertThat(state.paths()).noneMatch(path -> path.contains("/_manifest_"));
    assertThat(state.uploads()).hasSize(2).allMatch(path -> path.startsWith("/table/p=1/part-"));
  }

  private SparkCalls.Attempt attempt(SparkCalls calls, int number, String row) throws IOException {
    SparkCalls.Attempt attempt = calls.attempt(0, number);
    write(attempt.newFile("p=1", ".txt"), row);
    return attempt;
  }

  @Test
  void anUploadThatSomebodyAbortedFailsTheJobWithNothingVisible() throws IOException {
    conf.setInt(CommitterConfig.IO_THREADS, 1);
    SparkCalls calls = calls(false);
    calls.setUp();
    List<TaskCommitMessage> messages = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      messages.add(task(calls, i, "p=" + i));
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
    SparkCalls earlier = calls(false);
    earlier.setUp();
    earlier.commit(List.of(task(earlier, 0, "p=0")));
    Map<String, String> before = state.files();
    assertThat(before).containsKeys("/table/_SUCCESS", "/table/_SUCCESS.files");

    SparkCalls calls = calls("job-2", kind.equals("dynamic"));
    if (kind.equals("overwrite")) {
      calls.replace(table);
    }
    calls.setUp();
    List<TaskCommitMessage> messages = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      messages.add(task(calls, i, "p=" + i));
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
    SparkCalls calls = calls(false);
    calls.setUp();
    TaskCommitMessage message = attempt(calls, 0, "new").commitApproved();
    state.onRequest(Fault.on("complete", Fate.FAILS_BEFORE, path -> path.contains("/p=1/")));

    assertThat(Failures.of(() -> calls.commit(List.of(message))))
        .containsPattern(
            "It is not known whether the upload of \\S+/table/p=1/part-\\S+ was completed")
        .contains("Check that path: a file of ")
        .doesNotContain("renamed to");
  }

  @Test
  void aCommitThatCannotNoteItsEndSucceedsAndIsCleanedUp() throws IOException {
    SparkCalls calls = calls(false);
    calls.setUp();
    List<TaskCommitMessage> messages = List.of(task(calls, 0, "p=1"));
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
    SparkCalls calls = calls(false);
    calls.setUp();
    List<TaskCommitMessage> messages = List.of(task(calls, 0, "p=1"), task(calls, 1, "p=2"));
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
    SparkCalls calls = calls(false);
    calls.replace(table);
    calls.setUp();
    List<TaskCommitMessage> messages = List.of(task(calls, 0, "p=2"));
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
    SparkCalls calls = calls(false);
    calls.replace(table);
    calls.setUp();
    TaskCommitMessage message = task(calls, 0, "p=2");
    assertThat(rows()).containsExactly("old");
    calls.commit(List.of(message));
    assertThat(rows()).containsExactly("p=2 of 0");
  }

  @Test
  void aDynamicOverwriteReplacesTheWrittenPartitions() throws IOException {
    state.write("/table/p=3/old.txt", "old 3");
    SparkCalls calls = calls(true);
    calls.setUp();
    calls.commit(List.of(task(calls, 0, "p=1")));
    assertThat(rows()).containsExactlyInAnyOrder("p=1 of 0", "old 3");
  }

  @Test
  void anAbortedJobGivesUpWhatItsTasksUploaded() throws IOException {
    SparkCalls calls = calls(false);
    ManifestCommitProtocol driver = new ManifestCommitProtocol(JOB, table.toString(), false);
    SparkCalls own = new SparkCalls(driver, JOB, conf);
    own.setUp();
    driver.onTaskCommit(task(own, 0, "p=1"));
    assertThat(state.uploads()).hasSize(1);
    own.abort();
    assertThat(state.uploads()).isEmpty();
    assertThat(rows()).containsExactly("old");
    assertThat(calls).isNotNull();
  }

  private SparkCalls calls(boolean isDynamic) {
    return calls(JOB, isDynamic);
  }

  private SparkCalls calls(String job, boolean isDynamic) {
    SparkCalls calls =
        new SparkCalls(new ManifestCommitProtocol(job, table.toString(), isDynamic), job, conf);
    started.add(calls);
    return calls;
  }

  private TaskCommitMessage task(SparkCalls calls, int task, String partition) throws IOException {
    SparkCalls.Attempt attempt = calls.attempt(task, 0);
    write(attempt.newFile(partition, ".txt"), partition + " of " + task);
    return attempt.commitApproved();
  }

  private void write(Path file, String content) throws IOException {
    try (OutputStream out = open(file)) {
      out.write(content.getBytes(StandardCharsets.UTF_8));
    }
  }

  private OutputStream open(Path file) throws IOException {
    assertThat(file.toUri().getScheme()).isEqualTo("file");
    return file.getFileSystem(conf).create(file);
  }

  private List<String> rows() {
    return state.files().entrySet().stream()
        .filter(file -> !file.getKey().contains("/_") && !file.getKey().contains("/."))
        .map(Map.Entry::getValue)
        .toList();
  }
}
