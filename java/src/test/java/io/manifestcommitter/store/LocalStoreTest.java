package io.manifestcommitter.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.manifestcommitter.manifest.FileEntry;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LocalStoreTest {
  @TempDir File directory;

  private Path root;
  private LocalStore store;

  @BeforeEach
  void open() throws IOException {
    root = new Path("file", null, directory.getPath());
    store = new LocalStore(FileSystem.getLocal(new Configuration()));
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

  @ParameterizedTest
  @ValueSource(
      strings = {"with space", "a:b/f", "100%", "%2F", "a#b", "a?b", "ünï/cödé 日本", "p=1/😀"})
  void namesAreTakenAsTheyAre(String name) throws Exception {
    FileEntry file = written("from/" + name, "to/" + name, "x");
    store.mkdirs(file.destination().getParent());

    assertThat(store.renameFile(file).isDone()).isTrue();
    assertThat(text("to/" + name)).isEqualTo("x");
    assertThat(listed(file.destination().getParent()))
        .extracting(StoreEntry::path)
        .containsExactly(file.destination());
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
  void renameNeverReplacesAFile() throws Exception {
    FileEntry file = written("a/part-0", "b/part-0", "new");
    write("b/part-0", "old");

    RenameResult result = store.renameFile(file);

    assertThat(result.outcome()).isEqualTo(RenameResult.Outcome.FAILED);
    assertThat(result.explanation())
        .contains(file.source().toString(), file.destination().toString());
    assertThat(text("a/part-0")).isEqualTo("new");
    assertThat(text("b/part-0")).isEqualTo("old");
  }

  @Test
  void renameDoesNotReplaceAnEqualFileEither() throws Exception {
    FileEntry file = written("a/part-0", "b/part-0", "same");
    write("b/part-0", "same");

    assertThat(store.renameFile(file).outcome()).isEqualTo(RenameResult.Outcome.FAILED);
    assertThat(text("a/part-0")).isEqualTo("same");
  }

  @Test
  void renameDoesNotMoveAFileIntoADirectoryOfThatName() throws Exception {
    FileEntry file = written("a/part-0", "b/part-0", "new");
    store.mkdirs(at("b/part-0"));

    assertThat(store.renameFile(file).outcome()).isEqualTo(RenameResult.Outcome.FAILED);
    assertThat(text("a/part-0")).isEqualTo("new");
    assertThat(local("b/part-0")).isEmptyDirectory();
  }

  @Test
  void renameOfAMissingSourceIsNotTakenForDone() throws Exception {
    store.mkdirs(at("a"));
    store.mkdirs(at("b"));
    FileEntry file = new FileEntry(at("a/part-0"), at("b/part-0"), 3, null, 0);

    RenameResult result = store.renameFile(file);

    assertThat(result.isDone()).isFalse();
    assertThat(result.explanation())
        .contains(file.source().toString(), file.destination().toString());
    assertThat(local("b")).isEmptyDirectory();
  }

  @Test
  void renameThatWasDoneBeforeIsRecognised() throws Exception {
    FileEntry file = written("a/part-0", "b/part-0", "new");
    store.mkdirs(at("b"));
    assertThat(store.renameFile(file).isDone()).isTrue();

    assertThat(store.renameFile(file).outcome()).isEqualTo(RenameResult.Outcome.RECOVERED);
    assertThat(text("b/part-0")).isEqualTo("new");
  }

  @Test
  void anotherFileAtTheDestinationIsNotTakenForOurs() throws Exception {
    FileEntry file = written("a/part-0", "b/part-0", "new");
    store.deleteFile(file.source());
    write("b/part-0", "of another length");

    assertThat(store.renameFile(file).isDone()).isFalse();
    assertThat(text("b/part-0")).isEqualTo("of another length");
  }

  @Test
  void renameKeepsTheIdentityThatTheTraitsPromise() throws Exception {
    FileEntry file = written("a/part-0", "b/part-0", "new");
    store.mkdirs(at("b"));
    StoreEntry before = store.status(file.source()).orElseThrow();
    assertThat(store.renameFile(file).isDone()).isTrue();

    assertThat(store.traits(root)).isEqualTo(StoreTraits.LOCAL);
    assertThat(before.modificationTime()).isPositive();
    assertThat(store.status(file.destination()).orElseThrow().isSameFileAs(before)).isTrue();
  }

  @Test
  void directoriesAreRenamedWhole() throws Exception {
    write("a/x/f", "1");
    RenameResult result = store.renameDirectory(at("a"), at("b"));

    assertThat(result.isDone()).isTrue();
    assertThat(text("b/x/f")).isEqualTo("1");
    assertThat(local("a")).doesNotExist();
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
  void listingOfNothingSaysSo() {
    assertThatThrownBy(() -> store.list(at("none"), entry -> {}))
        .isInstanceOf(FileNotFoundException.class)
        .hasMessageContaining("none");
  }

  @Test
  void statusTellsFileDirectoryAndNothing() throws Exception {
    write("d/f", "123");

    assertThat(store.status(at("d")).orElseThrow().isDirectory()).isTrue();
    StoreEntry file = store.status(at("d/f")).orElseThrow();
    assertThat(file.isDirectory()).isFalse();
    assertThat(file.length()).isEqualTo(3);
    assertThat(file.path()).isEqualTo(at("d/f"));
    assertThat(store.status(at("d/none"))).isEmpty();
    assertThat(store.status(at("none/f"))).isEmpty();
  }

  @Test
  void mkdirsMakesParentsAndLeavesWhatExists() throws Exception {
    store.mkdirs(at("a/b/c"));
    write("a/b/f", "1");
    store.mkdirs(at("a/b"));

    assertThat(local("a/b/c")).isDirectory();
    assertThat(text("a/b/f")).isEqualTo("1");
  }

  @Test
  void mkdirsRefusesWhereAFileStands() throws Exception {
    write("a", "1");

    assertThatThrownBy(() -> store.mkdirs(at("a"))).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> store.mkdirs(at("a/b"))).isInstanceOf(IOException.class);
    assertThat(text("a")).isEqualTo("1");
  }

  @Test
  void anEmptyDirectoryIsDeleted() throws Exception {
    store.mkdirs(at("d"));

    assertThat(store.deleteEmptyDirectory(at("d"))).isTrue();
    assertThat(local("d")).doesNotExist();
  }

  @Test
  void aDirectoryWithContentStays() throws Exception {
    write("d/sub/f", "1");

    assertThat(store.deleteEmptyDirectory(at("d"))).isFalse();
    assertThat(text("d/sub/f")).isEqualTo("1");
  }

  @Test
  void aDirectoryThatIsGoneCountsAsDeleted() throws Exception {
    assertThat(store.deleteEmptyDirectory(at("none"))).isTrue();
  }

  @Test
  void deletingAFileTakesItsChecksum() throws Exception {
    write("d/f", "1");

    store.deleteFile(at("d/f"));
    store.deleteFile(at("d/f"));

    assertThat(local("d")).isEmptyDirectory();
  }

  @Test
  void deletingATreeTakesAllOfIt() throws Exception {
    write("d/a/b/f", "1");
    write("other", "2");

    store.deleteTree(at("d"));
    store.deleteTree(at("d"));

    assertThat(local("d")).doesNotExist();
    assertThat(text("other")).isEqualTo("2");
  }

  @Test
  void readGivesTheContent() throws Exception {
    write("f", "content");

    assertThat(store.read(at("f"), 7)).asString(StandardCharsets.UTF_8).isEqualTo("content");
  }

  @Test
  void readRefusesAFileOverTheLimit() throws Exception {
    write("f", "content");

    assertThatThrownBy(() -> store.read(at("f"), 6))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll(at("f").toString(), "7", "6");
  }

  @Test
  void readOfNothingSaysSo() {
    assertThatThrownBy(() -> store.read(at("none"), 10))
        .isInstanceOf(FileNotFoundException.class)
        .hasMessageContaining("none");
  }

  @Test
  void writeMakesParentsAndReplaces() throws Exception {
    write("a/b/f", "first");
    write("a/b/f", "2nd");

    assertThat(text("a/b/f")).isEqualTo("2nd");
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
    store.list(parent, entries::add);
    return entries;
  }

  private Path at(String relative) {
    return StorePaths.resolve(root, relative);
  }

  private File local(String relative) {
    return new File(directory, relative);
  }
}
