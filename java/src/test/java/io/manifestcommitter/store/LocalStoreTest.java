// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.manifestcommitter.manifest.FileEntry;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSError;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What only the local store does; the rest is in the contract. */
class LocalStoreTest {
  @TempDir File directory;

  private Path root;
  private LocalStore store;

  @BeforeEach
  void open() throws IOException {
    root = new Path("file", null, directory.getPath());
    store = new LocalStore(FileSystem.getLocal(new Configuration()), RequestGate.open());
  }

  @Test
  void renameMovesAFileAndItsChecksum() throws Exception {
    FileEntry file = written("a/part-0", "b/part-0", "new");
    store.mkdirs(at("b"));
    assertThat(local("a/.part-0.crc")).exists();

    RenameResult result = store.renameFile(file);

    assertThat(result.outcome()).isEqualTo(RenameResult.Outcome.RENAMED);
    assertThat(text("b/part-0")).isEqualTo("new");
    assertThat(local("a")).isEmptyDirectory();
    assertThat(local("b/.part-0.crc")).exists();
  }

  @Test
  void aDirectoryWithNothingButChecksumsOfDeletedFilesIsEmpty() throws Exception {
    Files.createDirectories(local("p=1").toPath());
    Files.writeString(local("p=1/.part-0.crc").toPath(), "stale");
    assertThat(store.deleteEmptyDirectory(at("p=1"))).isTrue();
    assertThat(local("p=1")).doesNotExist();

    write("p=2/part-0", "x");
    assertThat(store.deleteEmptyDirectory(at("p=2"))).isFalse();
    assertThat(local("p=2/.part-0.crc")).exists();
  }

  @Test
  void renameDoesNotMoveAFileIntoADirectoryOfThatName() throws Exception {
    FileEntry file = written("a/part-0", "b/part-0", "new");
    store.mkdirs(at("b/part-0"));

    assertThat(store.renameFile(file).outcome()).isEqualTo(RenameResult.Outcome.FAILED);
    assertThat(text("a/part-0")).isEqualTo("new");
    assertThat(local("b/part-0")).isEmptyDirectory();
  }

  /** As when another job ends, and removes its staging directory, just then. */
  @Test
  void whatGoesWhileItIsListedIsNotThere() throws Exception {
    write("d/f", "1");
    FileSystem losing =
        new LocalFileSystem() {
          @Override
          public FileStatus[] listStatus(Path listed) throws IOException {
            super.delete(listed, true);
            throw new AccessDeniedException(listed.toString());
          }
        };
    losing.initialize(root.toUri(), new Configuration());
    LocalStore meeting = new LocalStore(losing, RequestGate.open());

    assertThatThrownBy(() -> meeting.list(at("d"), 0, entry -> {}))
        .isInstanceOf(FileNotFoundException.class);
  }

  @Test
  void listingsShowNoChecksums() throws Exception {
    write("d/f", "1");
    store.mkdirs(at("d/sub"));
    assertThat(local("d/.f.crc")).exists();

    assertThat(listed(at("d")))
        .extracting(StoreEntry::name, StoreEntry::isDirectory, StoreEntry::length)
        .containsExactlyInAnyOrder(tuple("f", false, 1L), tuple("sub", true, 0L));
  }

  @Test
  void deletingAFileTakesItsChecksum() throws Exception {
    write("d/f", "1");

    store.deleteFile(at("d/f"));
    store.deleteFile(at("d/f"));

    assertThat(local("d")).isEmptyDirectory();
  }

  @Test
  void aDirectoryIsRenamedWithItsChecksums() throws Exception {
    write("a/x/f", "1");

    assertThat(store.renameDirectory(at("a"), at("b")).isDone()).isTrue();
    assertThat(local("b/x/.f.crc")).exists();
    assertThat(local("a")).doesNotExist();
  }

  /** Hadoop says it by an {@link Error}. */
  @Test
  void aFullDiskIsAFailureThatSaysHowToMakeRoom() throws Exception {
    java.nio.file.Path full = java.nio.file.Path.of("/dev/full");
    assumeThat(full).exists();
    Files.createSymbolicLink(local("full").toPath(), full);

    assertThatThrownBy(() -> write("full", "new"))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("writing " + at("full"), "No space left on device", "make room")
        .hasCauseInstanceOf(FSError.class);
  }

  /** For which there can be no checksum file. */
  @Test
  void aLinkWithALongNameIsDeleted() throws Exception {
    String name = "x".repeat(255);
    Files.createSymbolicLink(local(name).toPath(), java.nio.file.Path.of("/nowhere"));
    store.deleteFile(at(name));
    assertThat(directory).isEmptyDirectory();
  }

  /** Hadoop's local filesystem says no, and nothing else. */
  @Test
  void aDirectoryThatCannotBeMadeFailsWithTheReasonOfTheSystem() {
    assertThatThrownBy(() -> store.mkdirs(at("a/" + "x".repeat(256))))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("File name too long");
  }

  @Test
  void theTraitsAreThoseOfALocalVolume() {
    assertThat(store.traits(root)).isEqualTo(StoreTraits.LOCAL);
  }

  private FileEntry written(String source, String destination, String text) throws IOException {
    write(source, text);
    StoreEntry entry = store.status(at(source)).orElseThrow();
    return new FileEntry(
        at(source), at(destination), entry.length(), entry.etag(), entry.modificationTime());
  }

  private void write(String relative, String text) throws IOException {
    store.write(at(relative), out -> out.write(text.getBytes(StandardCharsets.UTF_8)));
  }

  private String text(String relative) throws IOException {
    return Files.readString(local(relative).toPath());
  }

  private List<StoreEntry> listed(Path parent) throws IOException {
    List<StoreEntry> entries = new ArrayList<>();
    store.list(parent, 0, entries::add);
    return entries;
  }

  private Path at(String relative) {
    return StorePaths.resolve(root, relative);
  }

  private File local(String relative) {
    return new File(directory, relative);
  }
}
