// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.connectors.EmulatedStore;
import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.emulator.GcsEmulator;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileIdentity;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the connector's own client sends, and what its answers come to. */
class GcsClientIT {
  private static final int ENTRIES = 60;
  private static final int PAGE = 50;

  private GcsEmulator emulator;
  private FileSystem fs;
  private GcsStore store;
  private Path root;

  @BeforeEach
  void start() throws IOException {
    emulator = GcsEmulator.start();
    Configuration conf = EmulatedStore.conf(emulator);
    conf.setInt("fs.gs.http.read-timeout", 1000);
    conf.setInt("fs.gs.list.max.items.per.call", PAGE);
    // Else another one of the same bucket is taken for this one, opened again.
    conf.setBoolean("fs.gs.impl.disable.cache", true);
    fs = FileSystem.newInstance(emulator.root(), conf);
    store = new GcsStore(fs, fs.getConf(), RequestGate.open());
    root = new Path(emulator.root().toString(), "table");
  }

  @AfterEach
  void stop() throws IOException {
    fs.close();
    emulator.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"part-0", "a b", "100%", "a+b", "q?=1", "x#y", "\"quoted\"", "日本"})
  void aRenamedFileIsOneRequest(String name) throws IOException {
    write("from/" + name, "content");
    FileEntry file = listed("from/" + name, "to/" + name);
    emulator.log().clear();

    assertThat(store.renameFile(file).outcome()).isEqualTo(RenameResult.Outcome.RENAMED);

    assertThat(requests()).isEqualTo(Map.of("move", 1L));
    assertThat(emulator.tree()).containsOnlyKeys("/table/to/" + name);
    StoreEntry moved = store.status(file.destination()).orElseThrow();
    assertThat(moved.isSameFileAs(file)).isTrue();
    assertThat(moved.etag()).isNotEqualTo(file.etag());
  }

  @Test
  void aFileThatIsWrittenAgainAfterItWasCommittedIsNotMoved() throws IOException {
    write("from/a", "content");
    FileEntry committed = listed("from/a", "to/a");
    write("from/a", "another");

    RenameResult result = store.renameFile(committed);

    assertThat(result.isDone()).isFalse();
    assertThat(emulator.tree()).containsOnlyKeys("/table/from/a");
    assertThat(read("from/a")).isEqualTo("another");
  }

  /** As where a commit is rolled back and then repeated. */
  @Test
  void aFileThatWasMovedAndBackIsStillTheCommittedOne() throws IOException {
    write("from/a", "content");
    FileEntry committed = listed("from/a", "to/a");
    store.renameFile(committed).orThrow("there");
    store.renameFile(listed("to/a", "from/a")).orThrow("and back");
    emulator.log().clear();

    assertThat(store.renameFile(committed).outcome()).isEqualTo(RenameResult.Outcome.RENAMED);

    assertThat(requests()).isEqualTo(Map.of("move", 2L, "get", 1L));
    assertThat(read("to/a")).isEqualTo("content");
  }

  /** The service forgets what it answered after some two minutes. */
  @ParameterizedTest
  @CsvSource({"true,RENAMED", "false,RECOVERED"})
  void aLostAnswerIsProven(boolean isRemembered, RenameResult.Outcome outcome) throws IOException {
    write("from/a", "content");
    FileEntry file = listed("from/a", "to/a");
    if (!isRemembered) {
      emulator.forgetTokens();
    }
    FaultRule lost = emulator.faults().add(FaultRule.on("move").applyThenDrop());

    assertThat(store.renameFile(file).outcome()).isEqualTo(outcome);

    assertThat(lost.applied()).isEqualTo(1);
    assertThat(emulator.tree()).containsOnlyKeys("/table/to/a");
  }

  @ParameterizedTest
  @CsvSource({"403,", "429,", "500,", "503,text/html", "404,text/html", "412,"})
  void aRefusedMoveChangesNothing(int status, String code) throws IOException {
    write("from/a", "content");
    FileEntry file = listed("from/a", "to/a");
    emulator.faults().add(FaultRule.on("move").always().refuse(status, code == null ? "" : code));

    RenameResult result = store.renameFile(file);

    assertThat(result.outcome()).isEqualTo(RenameResult.Outcome.FAILED);
    assertThat(result.cause()).isPresent();
    assertThat(emulator.tree()).containsOnlyKeys("/table/from/a");
  }

  @Test
  void aListingIsOneRequestForEachPageAndShowsWhatIdentifiesTheFiles() throws IOException {
    for (int entry = 0; entry < ENTRIES; entry++) {
      write("many/part-" + entry, "content " + entry);
    }
    write("many/below/part", "content");
    emulator.log().clear();

    List<StoreEntry> entries = list("many");

    assertThat(requests()).isEqualTo(Map.of("list", 2L));
    assertThat(entries).hasSize(ENTRIES + 1);
    for (StoreEntry entry : entries) {
      assertThat(entry.isDirectory()).isEqualTo(entry.name().equals("below"));
      if (!entry.isDirectory()) {
        assertThat(FileIdentity.generation(entry.etag())).as(entry.name()).isPositive();
        assertThat(entry.lastWritten()).isPositive();
        assertThat(store.identified(entry)).isSameAs(entry);
      }
    }
    assertThat(requests()).isEqualTo(Map.of("list", 2L));
  }

  @Test
  void whatIdentifiesAFileIsTheSameByEitherWay() throws IOException {
    write("from/a", "content");
    fs.getConf().set("fs.gs.checksum.type", "CRC32C");
    Configuration other = new Configuration(fs.getConf());
    other.set(GcsStore.REQUESTS, "filesystem");
    try (FileSystem slow = FileSystem.newInstance(emulator.root(), other)) {
      StoreEntry seen =
          new GcsStore(slow, slow.getConf(), RequestGate.open())
              .status(new Path(root, "from/a"))
              .orElseThrow();

      assertThat(seen.etag())
          .isEqualTo(FileIdentity.kept(listed("from/a", "to/a").etag()))
          .startsWith("COMPOSITE-CRC32C-");
    }
  }

  /** The filesystem is shared, and keeps the settings of whoever opened it. */
  @Test
  void eachJobChoosesByItsOwnSettings() {
    Configuration files = new Configuration(fs.getConf());
    files.set(GcsStore.REQUESTS, "filesystem");
    GcsStore other = new GcsStore(fs, files, RequestGate.open());

    assertThat(other.traits(root)).isEqualTo(StoreTraits.GCS);
    assertThat(store.traits(root)).isEqualTo(StoreTraits.GCS_DIRECT);
  }

  @Test
  void aDirectoryIsListedWithoutItself() throws IOException {
    store.mkdirs(new Path(root, "empty"));
    emulator.log().clear();

    assertThat(list("empty")).isEmpty();
    assertThat(requests()).isEqualTo(Map.of("list", 1L));
    assertThatThrownBy(() -> list("none"))
        .isInstanceOf(FileNotFoundException.class)
        .hasMessageContaining("/table/none");
    write("file", "content");
    assertThat(list("file")).extracting(StoreEntry::name).containsExactly("file");
  }

  @Test
  void aLookIsOneRequestForAFile() throws IOException {
    write("dir/a", "content");
    emulator.log().clear();

    assertThat(store.status(new Path(root, "dir/a")).orElseThrow().length()).isEqualTo(7);
    assertThat(requests()).isEqualTo(Map.of("get", 1L));
    assertThat(store.status(new Path(root, "dir")).orElseThrow().isDirectory()).isTrue();
    assertThat(store.status(new Path(root, "none"))).isEmpty();
    assertThat(store.status(new Path(emulator.root()))).isPresent();
  }

  @Test
  void aNewFileIsTwoRequestsAndOneThatIsReplacedFewMore() throws IOException {
    emulator.log().clear();

    write("a", "first");

    assertThat(total()).isEqualTo(2);
    emulator.log().clear();
    write("a", "second");
    assertThat(total()).isLessThanOrEqualTo(5);
    assertThat(read("a")).isEqualTo("second");
  }

  /** A cache of the connector's would show what was there before. */
  @Test
  void theConnectorsCacheIsNotAsked() throws IOException {
    Configuration cached = new Configuration(fs.getConf());
    cached.setBoolean("fs.gs.performance.cache.enable", true);
    try (FileSystem other = FileSystem.newInstance(emulator.root(), cached)) {
      GcsStore throughCache = new GcsStore(other, other.getConf(), RequestGate.open());
      write("dir/a", "content");
      Path file = new Path(root, "dir/a");
      String before = throughCache.status(file).orElseThrow().etag();
      throughCache.list(file.getParent(), 0, entry -> {});
      write("dir/a", "another");
      write("dir/b", "more");

      assertThat(throughCache.status(file).orElseThrow().etag()).isNotEqualTo(before);
      List<String> names = new ArrayList<>();
      throughCache.list(file.getParent(), 0, entry -> names.add(entry.name()));
      assertThat(names).containsExactlyInAnyOrder("a", "b");
    }
  }

  @Test
  void aDirectoryBesideAnotherIsTwoRequests() throws IOException {
    store.mkdirs(new Path(root, "p=1"));
    emulator.log().clear();

    store.mkdirs(new Path(root, "p=2"));

    assertThat(requests()).isEqualTo(Map.of("get", 1L, "insert", 1L));
    assertThat(emulator.tree()).containsOnlyKeys("/table/p=1/", "/table/p=2/");
    store.mkdirs(new Path(root, "p=2"));
    assertThat(emulator.tree()).containsOnlyKeys("/table/p=1/", "/table/p=2/");
    write("p=3", "a file");
    for (String below : List.of("p=3", "p=3/q=1")) {
      assertThatThrownBy(() -> store.mkdirs(new Path(root, below)))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("/p=3 is a file");
    }
  }

  @Test
  void aFilesystemThatSomebodyClosedIsOpenedAgain() throws Exception {
    write("from/a", "content");
    FileEntry file = listed("from/a", "to/a");
    Configuration cached = new Configuration(fs.getConf());
    cached.setBoolean("fs.gs.impl.disable.cache", false);
    UserGroupInformation user =
        UserGroupInformation.createUserForTesting("closes", new String[] {"users"});
    try {
      user.doAs(
          (PrivilegedExceptionAction<Void>)
              () -> {
                FileSystem shared = FileSystem.get(emulator.root(), cached);
                GcsStore onShared = new GcsStore(shared, shared.getConf(), RequestGate.open());
                shared.close();
                assertThat(onShared.renameFile(file).isDone()).isTrue();
                assertThat(onShared.status(file.destination())).isPresent();
                return null;
              });
    } finally {
      FileSystem.closeAllForUGI(user);
    }
  }

  private void write(String name, String content) throws IOException {
    byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
    store.write(new Path(root, name), out -> out.write(bytes));
  }

  private String read(String name) throws IOException {
    return new String(store.readStart(new Path(root, name), 100), StandardCharsets.UTF_8);
  }

  private List<StoreEntry> list(String name) throws IOException {
    List<StoreEntry> entries = new ArrayList<>();
    store.list(new Path(root, name), 0, entries::add);
    return entries;
  }

  /** A file as a listing shows it, and where it is to go. */
  private FileEntry listed(String source, String destination) throws IOException {
    Path path = new Path(root, source);
    List<StoreEntry> found = new ArrayList<>();
    store.list(
        path.getParent(),
        0,
        entry -> {
          if (entry.path().equals(path)) {
            found.add(entry);
          }
        });
    StoreEntry entry = found.get(0);
    return new FileEntry(
        entry.path(),
        new Path(root, destination),
        entry.length(),
        entry.etag(),
        entry.modificationTime());
  }

  private Map<String, Long> requests() {
    return emulator.log().counts();
  }

  private long total() {
    return requests().values().stream().mapToLong(Long::longValue).sum();
  }
}
