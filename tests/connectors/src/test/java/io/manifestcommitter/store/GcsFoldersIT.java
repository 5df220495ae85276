package io.manifestcommitter.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
    emulator = GcsEmulator.start();
    emulator.forgetTokens();
    Configuration conf = new Configuration();
    emulator.settings().forEach(conf::set);
    conf.setInt("fs.gs.http.read-timeout", 1000);
    conf.setBoolean("fs.gs.impl.disable.cache", true);
    fs = FileSystem.newInstance(emulator.hierarchicalRoot(), conf);
    store = new GcsStore(fs, RequestGate.open());
    root = new Path(emulator.hierarchicalRoot().toString(), "t");
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
    assertThat(emulator.hierarchicalTree())
        .containsKey("/t/table/p=1/q=1/f")
        .doesNotContainKey("/t/staged/p=1/");
  }

  @Test
  void aRenameThatGoesOnIsFollowedToItsEnd() throws Exception {
    emulator.holdRenames();

    Future<RenameResult> renaming = other.submit(this::rename);
    awaitRequests("operation", 2);
    assertThat(emulator.hierarchicalTree()).containsKey("/t/staged/p=1/q=1/f");
    emulator.releaseRenames();

    assertThat(renaming.get(1, TimeUnit.MINUTES).outcome()).isEqualTo(RenameResult.Outcome.RENAMED);
    assertThat(emulator.hierarchicalTree()).containsKey("/t/table/p=1/q=1/f");
  }

  @Test
  void aRenameThatFailsLeavesAllAsItWas() {
    emulator.failRenames();

    RenameResult result = rename();

    assertThat(result.outcome()).isEqualTo(RenameResult.Outcome.FAILED);
    assertThat(result.explanation()).contains("The rename was aborted");
    assertThat(emulator.hierarchicalTree()).containsKey("/t/staged/p=1/q=1/f");
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
    assertThat(emulator.hierarchicalTree()).containsKey("/t/table/p=1/q=1/f");
  }

  /** It began, nobody was told, and it goes on: what both ends show then proves nothing yet. */
  @Test
  void aLostAnswerToARenameThatGoesOnIsProvenAtItsEnd() throws Exception {
    emulator.holdRenames();
    emulator.faults().add(FaultRule.on("folder-rename").applyThenDrop());

    Future<RenameResult> renaming = other.submit(this::rename);
    awaitRequests("operation-list", 2);
    assertThat(renaming.isDone()).isFalse();
    emulator.releaseRenames();

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
    assertThatThrownBy(() -> store.awaitRenames(root, false)).isInstanceOf(IOException.class);
    emulator.faults().clear();
    emulator.releaseRenames();
  }

  /** Who has no right to operations sees the folder go. */
  @Test
  void aRenameThatGoesOnIsFollowedByWhoMayNotLookAtOperations() throws Exception {
    emulator.holdRenames();
    emulator.faults().add(FaultRule.on("operation").always().refuse(403));

    Future<RenameResult> renaming = other.submit(this::rename);
    awaitRequests("folder-get", 2);
    emulator.releaseRenames();

    assertThat(renaming.get(1, TimeUnit.MINUTES).outcome()).isEqualTo(RenameResult.Outcome.RENAMED);
    store.awaitRenames(root, false);
    assertThat(requests()).doesNotContainKey("operation-list");
  }

  /** What another process began with folders is left as it is where there are none. */
  @Test
  void withoutFoldersNothingIsRenamedAsOne() throws IOException {
    Configuration files = new Configuration(fs.getConf());
    files.set(GcsRequests.OPTION, "filesystem");
    try (FileSystem slow = FileSystem.newInstance(emulator.hierarchicalRoot(), files)) {
      RenameResult result =
          new GcsStore(slow, RequestGate.open())
              .renameDirectory(new Path(root, "staged/p=1"), new Path(root, "table/p=1"));

      assertThat(result.outcome()).isEqualTo(RenameResult.Outcome.FAILED);
      assertThat(result.explanation()).contains(GcsRequests.OPTION);
    }
    assertThat(emulator.hierarchicalTree()).containsKey("/t/staged/p=1/q=1/f");
  }

  /** Of a process that died, such as one whose job is recovered now. */
  @Test
  void theRenamesOfOthersAreWaitedFor() throws Exception {
    emulator.holdRenames();
    Future<RenameResult> dead = other.submit(this::rename);
    awaitRequests("operation", 1);
    ExecutorService recovery = Executors.newSingleThreadExecutor();
    try {
      Future<?> waiting =
          recovery.submit(
              () -> {
                store.awaitRenames(new Path(root, "table"), true);
                return null;
              });
      awaitRequests("operation-list", 2);
      assertThat(waiting.isDone()).isFalse();
      store.awaitRenames(new Path(root, "elsewhere"), true);

      emulator.releaseRenames();

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

    assertThat(emulator.hierarchicalTree().keySet()).noneMatch(name -> name.startsWith("/t/tree"));
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
    store.list(new Path(root, "kept"), entry -> names.add(entry.name()));
    assertThat(names).containsExactly("sub");
    assertThat(store.deleteEmptyDirectory(new Path(root, "kept"))).isFalse();
    assertThat(store.deleteEmptyDirectory(file.getParent())).isTrue();
    assertThat(store.deleteEmptyDirectory(new Path(root, "kept"))).isTrue();
    assertThatThrownBy(() -> store.list(new Path(root, "kept"), entry -> {}))
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

  private void awaitRequests(String operation, long count) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    while (requests().getOrDefault(operation, 0L) < count) {
      assertThat(System.nanoTime()).as("%d of %s", count, operation).isLessThan(end);
      Thread.sleep(10);
    }
  }
}
