// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.connectors.EmulatedStore;
import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.emulator.GcsEmulator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Renames and deletions of folders in a bucket with hierarchical namespace. */
class GcsFoldersIT {
  private GcsEmulator emulator;
  private FileSystem fs;
  private GcsStore store;
  private Path root;
  private final ExecutorService other = Executors.newSingleThreadExecutor();

  @BeforeEach
  void start() throws IOException {
    emulator = GcsEmulator.startHierarchical();
    emulator.forgetTokens();
    Configuration conf = EmulatedStore.conf(emulator);
    conf.setInt("fs.gs.http.read-timeout", 1000);
    conf.setBoolean("fs.gs.impl.disable.cache", true);
    fs = FileSystem.newInstance(emulator.root(), conf);
    store = new GcsStore(fs, fs.getConf(), RequestGate.open());
    root = new Path(emulator.root().toString(), "t");
    write("staged/p=1/q=1/f");
    store.mkdirs(new Path(root, "table"));
    emulator.log().clear();
  }

  @AfterEach
  void stop() throws IOException {
    other.shutdownNow();
    fs.close();
    emulator.close();
  }

  @Test
  void aDirectoryIsRenamedByOneRequest() {
    assertThat(store.traits(root)).isEqualTo(StoreTraits.GCS_HIERARCHICAL);

    assertThat(rename().outcome()).isEqualTo(RenameResult.Outcome.RENAMED);

    assertThat(requests()).isEqualTo(Map.of("folder-rename", 1L));
    assertThat(emulator.tree())
        .containsKey("/t/table/p=1/q=1/f")
        .doesNotContainKey("/t/staged/p=1/");
  }

  @Test
  void aRenameThatGoesOnIsFollowedToItsEnd() throws Exception {
    emulator.holdRenames();

    FaultRule look = second("operation");
    Future<RenameResult> renaming = other.submit(this::rename);
    look.awaitHeld();
    assertThat(emulator.tree()).containsKey("/t/staged/p=1/q=1/f");
    emulator.releaseRenames();

    assertThat(renaming.get(1, TimeUnit.MINUTES).outcome()).isEqualTo(RenameResult.Outcome.RENAMED);
    assertThat(emulator.tree()).containsKey("/t/table/p=1/q=1/f");
  }

  @Test
  void aRenameThatFailsLeavesAllAsItWas() {
    emulator.failRenames();

    RenameResult result = rename();

    assertThat(result.outcome()).isEqualTo(RenameResult.Outcome.FAILED);
    assertThat(result.explanation()).contains("The rename was aborted");
    assertThat(emulator.tree()).containsKey("/t/staged/p=1/q=1/f");
  }

  @Test
  void onAnEmptyFolderNothingIsRenamed() throws IOException {
    store.mkdirs(new Path(root, "table/p=1"));

    RenameResult result = rename();

    assertThat(result.isDone()).isFalse();
    assertThat(result.inTheWay()).isPresent();
    assertThat(store.deleteEmptyDirectory(new Path(root, "table/p=1"))).isTrue();
    assertThat(rename().isDone()).isTrue();
  }

  /** The connector sends it again, and the source is gone. */
  @ParameterizedTest
  @CsvSource({"500", "503", "-1"})
  void aLostAnswerIsProven(int status) {
    FaultRule.When when = FaultRule.on("folder-rename");
    FaultRule lost =
        emulator.faults().add(status < 0 ? when.applyThenDrop() : when.applyThenFail(status));

    assertThat(rename().outcome()).isEqualTo(RenameResult.Outcome.RECOVERED);

    assertThat(lost.applied()).isEqualTo(1);
    assertThat(emulator.tree()).containsKey("/t/table/p=1/q=1/f");
  }

  /** It began, nobody was told, and it goes on: what both ends show then proves nothing yet. */
  @Test
  void aLostAnswerToARenameThatGoesOnIsProvenAtItsEnd() throws Exception {
    emulator.holdRenames();
    emulator.faults().add(FaultRule.on("folder-rename").applyThenDrop());

    FaultRule look = second("operation-list");
    Future<RenameResult> renaming = other.submit(this::rename);
    look.awaitHeld();
    emulator.releaseRenames();
    look.release();

    assertThat(renaming.get(1, TimeUnit.MINUTES).outcome())
        .isEqualTo(RenameResult.Outcome.RECOVERED);
  }

  @Test
  void whereNobodyCanTellWhetherARenameGoesOnItsOutcomeIsUnknown() {
    emulator.holdRenames();
    emulator.faults().add(FaultRule.on("folder-rename").applyThenFail(403));
    emulator.faults().add(FaultRule.on("operation-list").always().refuse(403));

    RenameResult result = rename();

    assertThat(result.outcome()).isEqualTo(RenameResult.Outcome.UNKNOWN);
    assertThat(result.explanation()).contains("may still be renaming");
    assertThatThrownBy(() -> store.awaitRenames(root, /* ofAnybody= */ false))
        .isInstanceOf(IOException.class);
    emulator.faults().clear();
    emulator.releaseRenames();
  }

  /** Who has no right to operations sees the folder go. */
  @Test
  void aRenameThatGoesOnIsFollowedByWhoMayNotLookAtOperations() throws Exception {
    emulator.holdRenames();
    emulator.faults().add(FaultRule.on("operation").always().refuse(403));

    FaultRule look = second("folder-get");
    Future<RenameResult> renaming = other.submit(this::rename);
    look.awaitHeld();
    emulator.releaseRenames();
    look.release();

    assertThat(renaming.get(1, TimeUnit.MINUTES).outcome()).isEqualTo(RenameResult.Outcome.RENAMED);
    store.awaitRenames(root, /* ofAnybody= */ false);
    assertThat(requests()).doesNotContainKey("operation-list");
  }

  /** What another process began with folders is left as it is where there are none. */
  @Test
  void withoutFoldersNothingIsRenamedAsOne() throws IOException {
    Configuration files = new Configuration(fs.getConf());
    files.set(GcsStore.REQUESTS, "filesystem");
    try (FileSystem slow = FileSystem.newInstance(emulator.root(), files)) {
      RenameResult result =
          new GcsStore(slow, slow.getConf(), RequestGate.open())
              .renameDirectory(new Path(root, "staged/p=1"), new Path(root, "table/p=1"));

      assertThat(result.outcome()).isEqualTo(RenameResult.Outcome.FAILED);
      assertThat(result.explanation()).contains(GcsStore.REQUESTS);
    }
    assertThat(emulator.tree()).containsKey("/t/staged/p=1/q=1/f");
  }

  /** Of a process that died, such as one whose job is recovered now. */
  @Test
  void theRenamesOfOthersAreWaitedFor() throws Exception {
    emulator.holdRenames();
    FaultRule poll = emulator.faults().add(FaultRule.on("operation").hold());
    FaultRule look = second("operation-list");
    Future<RenameResult> dead = other.submit(this::rename);
    poll.awaitHeld();
    poll.release();
    ExecutorService recovery = Executors.newSingleThreadExecutor();
    try {
      Future<?> waiting =
          recovery.submit(
              () -> {
                store.awaitRenames(new Path(root, "table"), /* ofAnybody= */ true);
                return null;
              });
      look.awaitHeld();
      store.awaitRenames(new Path(root, "elsewhere"), /* ofAnybody= */ true);

      emulator.releaseRenames();
      look.release();

      waiting.get(1, TimeUnit.MINUTES);
      assertThat(dead.get(1, TimeUnit.MINUTES).isDone()).isTrue();
    } finally {
      recovery.shutdownNow();
    }
  }

  @Test
  void aTreeIsDeletedWithItsFolders() throws IOException {
    write("tree/a/b/f");
    write("tree/a/g");
    store.mkdirs(new Path(root, "tree/empty"));
    emulator.log().clear();

    store.deleteTree(new Path(root, "tree"));

    assertThat(emulator.tree().keySet()).noneMatch(name -> name.startsWith("/t/tree"));
    assertThat(requests())
        .containsEntry("list", 1L)
        .containsEntry("folder-list", 1L)
        .containsEntry("delete", 3L)
        .containsEntry("folder-delete", 4L);
    store.deleteTree(new Path(root, "tree"));
  }

  @Test
  void anEmptyFolderIsADirectory() throws IOException {
    Path file = new Path(root, "kept/sub/f");
    write("kept/sub/f");
    store.deleteFile(file);

    assertThat(store.status(file.getParent()).orElseThrow().isDirectory()).isTrue();
    List<String> names = new ArrayList<>();
    store.list(new Path(root, "kept"), 0, entry -> names.add(entry.name()));
    assertThat(names).containsExactly("sub");
    assertThat(store.deleteEmptyDirectory(new Path(root, "kept"))).isFalse();
    assertThat(store.deleteEmptyDirectory(file.getParent())).isTrue();
    assertThat(store.deleteEmptyDirectory(new Path(root, "kept"))).isTrue();
    assertThatThrownBy(() -> store.list(new Path(root, "kept"), 0, entry -> {}))
        .isInstanceOf(IOException.class);
  }

  private RenameResult rename() {
    return store.renameDirectory(new Path(root, "staged/p=1"), new Path(root, "table/p=1"));
  }

  private void write(String name) throws IOException {
    store.write(new Path(root, name), out -> out.write(1));
  }

  private Map<String, Long> requests() {
    return emulator.log().counts();
  }

  /** Holds the second request of a kind: whoever makes it was not content with the first. */
  private FaultRule second(String operation) {
    return emulator.faults().add(FaultRule.on(operation).call(2).hold());
  }
}
