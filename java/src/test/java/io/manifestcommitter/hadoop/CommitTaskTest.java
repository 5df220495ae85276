// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.TaskManifest;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CommitTaskTest {
  private static final String MANIFEST =
      "/table/_temporary/manifest_job1/01/manifests/task_7-manifest.json";
  private static final String TEMPORARY =
      "/table/_temporary/manifest_job1/01/manifests/attempt_7_0-manifest.json.tmp";
  private static final String WORK = "/table/_temporary/manifest_job1/01/tasks/attempt_7_0";

  private final MemoryStoreState state = MemoryFileSystem.state("task");
  private final Configuration conf = MemoryFileSystem.configuration();
  private final JobPaths paths = new JobPaths(new Path("abfs://task/table"), "job1", 1);
  private final List<Long> pauses = new ArrayList<>();
  private final AtomicInteger progress = new AtomicInteger();
  private boolean interrupted;

  @BeforeEach
  void writeAttempt() {
    state.clear();
    state.write(WORK + "/part-0", "a");
    state.write(WORK + "/y=1/m=1/part-0", "bbb");
    state.mkdirs("/table/_temporary/manifest_job1/01/manifests");
  }

  @Test
  void theManifestIsWrittenUnderATemporaryNameAndRenamed() throws Exception {
    TaskManifest committed = commit();

    assertThat(state.requests())
        .containsExactly(
            "list " + WORK,
            "list " + WORK + "/y=1",
            "list " + WORK + "/y=1/m=1",
            "create " + TEMPORARY,
            "write " + TEMPORARY,
            "rename " + TEMPORARY + " -> " + MANIFEST);
    assertThat(TaskManifest.parse(state.bytes(MANIFEST), "manifest").toJson())
        .isEqualTo(committed.toJson());
    assertThat(committed.files)
        .extracting(FileEntry::destination)
        .containsExactlyInAnyOrder(
            new Path("abfs://task/table/part-0"), new Path("abfs://task/table/y=1/m=1/part-0"));
    assertThat(committed.jobAttemptNumber).isEqualTo(1);
    assertThat(pauses).isEmpty();
    assertThat(progress.get()).as("progress is told").isGreaterThanOrEqualTo(4);
  }

  @Test
  void theLaterOfTwoAttemptsIsTheTasks() throws Exception {
    state.write(MANIFEST, "of the attempt before");
    commit();

    assertThat(TaskManifest.parse(state.bytes(MANIFEST), "manifest").taskAttemptId)
        .isEqualTo("attempt_7_0");
  }

  @ParameterizedTest
  @EnumSource(
      names = {"NORMAL", "BREAKS_BEFORE", "BREAKS_AFTER"},
      mode = EnumSource.Mode.EXCLUDE)
  void aManifestThatIsHardToSaveIsSavedInTheEnd(Fate fate) throws Exception {
    state.onRequest((number, operation, path) -> number >= 4 && number <= 5 ? fate : Fate.NORMAL);
    commit();

    assertThat(TaskManifest.parse(state.bytes(MANIFEST), "manifest").files).hasSize(2);
    assertThat(state.files()).doesNotContainKey(TEMPORARY);
    assertThat(pauses).isNotEmpty().startsWith(500L).isSorted();
  }

  @Test
  void pausesGrowAndEndAfterTheLastTry() {
    state.onRequest(Fault.on("create", Fate.FAILS_BEFORE, path -> true));

    assertThatThrownBy(this::commit)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("create")
        .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
    assertThat(pauses).containsExactly(500L, 1000L, 1500L, 2000L);
  }

  @Test
  void oneTryMeansNoPause() {
    conf.setInt(CommitterConfig.MANIFEST_SAVE_ATTEMPTS, 1);
    state.onRequest(Fault.on("rename", Fate.ANSWERS_FALSE, path -> true));

    assertThatThrownBy(this::commit).isInstanceOf(IOException.class).hasMessageContaining("task_7");
    assertThat(pauses).isEmpty();
    assertThat(state.requests().stream().filter(request -> request.startsWith("create")))
        .hasSize(1);
  }

  @Test
  void anInterruptEndsTheTries() {
    interrupted = true;
    state.onRequest(Fault.on("create", Fate.FAILS_BEFORE, path -> true));

    assertThatThrownBy(this::commit).isInstanceOf(InterruptedIOException.class);
    assertThat(Thread.interrupted()).isTrue();
  }

  private TaskManifest commit() throws IOException {
    return new CommitTask(
            new Stores(conf).all(),
            new CommitterConfig(conf),
            paths,
            progress::incrementAndGet,
            millis -> {
              if (interrupted) {
                throw new InterruptedException();
              }
              pauses.add(millis);
            })
        .run("task_7", "attempt_7_0");
  }
}
