// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import static io.manifestcommitter.testing.Failures.raise;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileIdentity;
import io.manifestcommitter.store.RenameResult.Outcome;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What {@link Store} promises, as tests that every store passes. A store's own test class says how
 * to get at it, and adds what only that store does.
 *
 * <p>Left to each store: what a rename does where the destination is a directory, and what reading
 * or probing below a file says.
 */
abstract class StoreContract {
  private static final int THREADS = 8;

  /** Where a name does not keep others from beginning with it. */
  private static final Set<StoreTraits> OBJECTS_ONLY =
      EnumSet.of(StoreTraits.GCS_DIRECT, StoreTraits.GCS_HIERARCHICAL);

  /** More than HDFS puts on one page of a listing. */
  private static final int LONG_LISTING = 1_100;

  private Store store;
  private Path root;

  /** The store under test. */
  protected abstract Store store() throws IOException;

  /**
   * A directory for one test, under a qualified path; it is made if it is missing, and nothing is
   * in it.
   */
  protected abstract Path root() throws IOException;

  /** Whether the filesystem can hold a directory of this name; where not, it has to refuse it. */
  protected boolean allowsDirectory(String name) {
    return true;
  }

  /** Whether the filesystem can hold a file of this name; where not, it has to refuse it. */
  protected boolean allowsFile(String name) {
    return allowsDirectory(name);
  }

  @BeforeEach
  final void makeRoot() throws IOException {
    store = store();
    root = root();
    store.mkdirs(root);
  }

  // Status.

  @Test
  void statusTellsFileDirectoryAndNothing() throws IOException {
    write("d/f", "123");

    StoreEntry directory = store.status(at("d")).orElseThrow();
    assertThat(directory.isDirectory()).isTrue();
    assertThat(directory.path()).isEqualTo(at("d"));
    StoreEntry file = store.status(at("d/f")).orElseThrow();
    assertThat(file.isDirectory()).isFalse();
    assertThat(file.path()).isEqualTo(at("d/f"));
    assertThat(file.name()).isEqualTo("f");
    assertThat(file.length()).isEqualTo(3);
    assertThat(store.status(at("d/none"))).isEmpty();
    assertThat(store.status(at("none/f"))).isEmpty();
  }

  // Listings.

  @Test
  void aListingShowsTheDirectChildren() throws IOException {
    write("d/f", "123");
    write("d/empty-file", "");
    write("d/sub/deeper", "1");
    store.mkdirs(at("d/empty-directory"));
    write("dd", "not in d");

    assertThat(listed("d"))
        .extracting(StoreEntry::path, StoreEntry::isDirectory, StoreEntry::length)
        .containsExactlyInAnyOrder(
            tuple(at("d/f"), false, 3L),
            tuple(at("d/empty-file"), false, 0L),
            tuple(at("d/sub"), true, 0L),
            tuple(at("d/empty-directory"), true, 0L));
  }

  @Test
  void aListingOfAFileShowsTheFile() throws IOException {
    write("d/f", "123");

    assertThat(listed("d/f"))
        .extracting(StoreEntry::path, StoreEntry::isDirectory, StoreEntry::length)
        .containsExactly(tuple(at("d/f"), false, 3L));
  }

  @Test
  void aListingOfNothingSaysSo() {
    assertThatThrownBy(() -> listed("none"))
        .isInstanceOf(FileNotFoundException.class)
        .hasMessageContaining("none");
  }

  @Test
  void aLongListingIsComplete() throws Exception {
    List<Callable<Void>> work = new ArrayList<>();
    for (int i = 0; i < LONG_LISTING; i++) {
      Path child = at("d/p=" + i);
      work.add(
          () -> {
            store.mkdirs(child);
            return null;
          });
    }
    inParallel(work);

    assertThat(listed("d")).extracting(StoreEntry::path).doesNotHaveDuplicates();
    assertThat(listed("d")).hasSize(LONG_LISTING).allMatch(StoreEntry::isDirectory);
  }

  @Test
  void whatAVisitorThrowsEndsTheListing() throws IOException {
    write("d/f", "1");
    IOException failure = new IOException("enough");

    assertThatThrownBy(() -> store.list(at("d"), entry -> raise(failure))).isSameAs(failure);
  }

  // Directories.

  @Test
  void mkdirsMakesParents() throws IOException {
    store.mkdirs(at("a/b/c"));

    assertThat(store.status(at("a/b/c"))).get().matches(StoreEntry::isDirectory);
    assertThat(store.status(at("a/b"))).get().matches(StoreEntry::isDirectory);
    assertThat(listed("a/b/c")).isEmpty();
  }

  @Test
  void mkdirsLeavesADirectoryThatExistsAsItIs() throws IOException {
    write("a/b/f", "1");
    store.mkdirs(at("a/b"));
    store.mkdirs(at("a"));

    assertThat(text("a/b/f")).isEqualTo("1");
  }

  @Test
  void mkdirsRefusesWhereAFileStands() throws IOException {
    write("a", "1");

    assertThatThrownBy(() -> store.mkdirs(at("a"))).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> store.mkdirs(at("a/b"))).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> store.mkdirs(at("a/b/c"))).isInstanceOf(IOException.class);
    assertThat(text("a")).isEqualTo("1");
  }

  @Test
  void anEmptyDirectoryIsDeleted() throws IOException {
    store.mkdirs(at("a/b"));

    assertThat(store.deleteEmptyDirectory(at("a/b"))).isTrue();
    assertThat(store.status(at("a/b"))).isEmpty();
    assertThat(store.status(at("a"))).isPresent();
  }

  @Test
  void aDirectoryWithContentIsNotDeletedAsEmpty() throws IOException {
    write("a/f", "1");
    store.mkdirs(at("b/empty"));

    assertThat(store.deleteEmptyDirectory(at("a"))).isFalse();
    assertThat(store.deleteEmptyDirectory(at("b"))).isFalse();
    assertThat(text("a/f")).isEqualTo("1");
    assertThat(store.status(at("b/empty"))).isPresent();
  }

  @Test
  void aDirectoryThatWasEmptiedIsEmpty() throws IOException {
    write("from/f", "1");
    write("d/f", "1");
    store.mkdirs(at("to"));
    assertThat(store.renameFile(planned("from/f", "to/f")).isDone()).isTrue();
    store.deleteFile(at("d/f"));

    assertThat(store.deleteEmptyDirectory(at("from"))).isTrue();
    assertThat(store.deleteEmptyDirectory(at("d"))).isTrue();
    assertThat(listed("")).extracting(StoreEntry::name).containsExactly("to");
  }

  @Test
  void aMissingDirectoryCountsAsDeleted() throws IOException {
    assertThat(store.deleteEmptyDirectory(at("none"))).isTrue();
    assertThat(store.deleteEmptyDirectory(at("none/below"))).isTrue();
  }

  @Test
  void aTreeIsDeletedWhole() throws IOException {
    write("d/a/b/f", "1");
    write("d/f", "1");
    store.mkdirs(at("d/empty"));
    write("dd/f", "stays");
    store.deleteTree(at("d"));

    assertThat(store.status(at("d"))).isEmpty();
    assertThat(store.status(at("d/a/b/f"))).isEmpty();
    assertThat(text("dd/f")).isEqualTo("stays");
  }

  @Test
  void deletingATreeThatIsGoneIsFine() throws IOException {
    write("f", "stays");
    store.deleteTree(at("none"));
    store.deleteTree(at("none/below"));

    assertThat(text("f")).isEqualTo("stays");
  }

  // Renames of files.

  @Test
  void aRenameMovesAFile() throws IOException {
    write("a/f", "content");
    store.mkdirs(at("b"));
    RenameResult result = store.renameFile(planned("a/f", "b/g"));

    assertThat(result.outcome()).isEqualTo(Outcome.RENAMED);
    assertThat(text("b/g")).isEqualTo("content");
    assertThat(left("a")).isEmpty();
    assertThat(listed("b")).extracting(StoreEntry::name).containsExactly("g");
  }

  @Test
  void anEmptyFileIsAFileLikeAnother() throws IOException {
    write("a/empty", "");
    store.mkdirs(at("b"));

    assertThat(store.renameFile(planned("a/empty", "b/empty")).outcome())
        .isEqualTo(Outcome.RENAMED);
    assertThat(store.read(at("b/empty"), 0)).isEmpty();
    assertThat(listed("b"))
        .extracting(StoreEntry::name, StoreEntry::isDirectory, StoreEntry::length)
        .containsExactly(tuple("empty", false, 0L));
    assertThat(store.status(at("a/empty"))).isEmpty();
  }

  /** The parent has to be there. Where the store makes it all the same, the rename is whole. */
  @Test
  void aRenameToAMissingDirectoryIsDoneOrProvenNotToBe() throws IOException {
    write("a/f", "content");
    RenameResult result = store.renameFile(planned("a/f", "none/below/f"));

    if (result.isDone()) {
      assertThat(text("none/below/f")).isEqualTo("content");
      assertThat(store.status(at("a/f"))).isEmpty();
    } else {
      assertThat(result.outcome()).isEqualTo(Outcome.FAILED);
      assertThat(text("a/f")).isEqualTo("content");
      assertThat(store.status(at("none/below/f"))).isEmpty();
    }
  }

  @Test
  void aRenameNeverReplacesAFile() throws IOException {
    write("a/f", "new");
    write("b/f", "old file");
    RenameResult result = store.renameFile(planned("a/f", "b/f"));

    assertThat(result.outcome()).isEqualTo(Outcome.FAILED);
    assertThat(result.isDone()).isFalse();
    assertThat(result.explanation()).contains(at("a/f").toString(), at("b/f").toString());
    assertThat(text("a/f")).isEqualTo("new");
    assertThat(text("b/f")).isEqualTo("old file");
  }

  @Test
  void aRenameDoesNotReplaceAnEqualFileEither() throws IOException {
    write("a/f", "same");
    write("b/f", "same");
    RenameResult result = store.renameFile(planned("a/f", "b/f"));

    assertThat(result.isDone()).isFalse();
    assertThat(text("a/f")).isEqualTo("same");
    assertThat(text("b/f")).isEqualTo("same");
  }

  @Test
  void aRenameOfNothingIsNotTakenForDone() throws IOException {
    write("a/f", "content");
    FileEntry file = planned("a/f", "b/f");
    store.deleteFile(at("a/f"));
    store.mkdirs(at("b"));
    RenameResult result = store.renameFile(file);

    assertThat(result.isDone()).isFalse();
    assertThat(result.explanation()).contains(at("a/f").toString(), at("b/f").toString());
    assertThat(listed("b")).isEmpty();
  }

  @Test
  void aRenameThatWasDoneBeforeIsRecovered() throws IOException {
    write("a/f", "content");
    FileEntry file = planned("a/f", "b/f");
    store.mkdirs(at("b"));
    assertThat(store.renameFile(file).outcome()).isEqualTo(Outcome.RENAMED);

    RenameResult again = store.renameFile(file);

    assertThat(again.outcome()).isEqualTo(Outcome.RECOVERED);
    assertThat(again.isDone()).isTrue();
    assertThat(text("b/f")).isEqualTo("content");
  }

  @Test
  void aFileOfAnotherLengthIsNotTakenForOurs() throws IOException {
    write("a/f", "content");
    FileEntry file = planned("a/f", "b/f");
    store.deleteFile(at("a/f"));
    write("b/f", "of another length");
    RenameResult result = store.renameFile(file);

    assertThat(result.isDone()).isFalse();
    assertThat(text("b/f")).isEqualTo("of another length");
  }

  @Test
  void aFileOfTheSameLengthIsToldApartByItsIdentity() throws IOException {
    write("b/f", "content");
    StoreEntry there = store.status(at("b/f")).orElseThrow();
    FileEntry other =
        new FileEntry(
            at("a/f"),
            at("b/f"),
            there.length(),
            there.etag().isEmpty() ? null : "x" + there.etag(),
            there.modificationTime() == 0 ? 0 : there.modificationTime() + 1);

    assertThat(store.renameFile(other).isDone())
        .as("only where nothing but the length tells files apart")
        .isEqualTo(there.etag().isEmpty() && there.modificationTime() == 0);
    assertThat(text("b/f")).isEqualTo("content");
  }

  @ParameterizedTest
  @MethodSource("names")
  void aNameOfAFileIsTakenAsItIs(String name) throws IOException {
    if (!allowsFile(name)) {
      assertThatThrownBy(() -> write("from/" + name, "x")).hasMessageContaining(name);
      return;
    }
    write("from/" + name, "content");
    store.mkdirs(at("to"));
    FileEntry file = planned("from/" + name, "to/" + name);

    assertThat(store.renameFile(file).outcome()).isEqualTo(Outcome.RENAMED);
    assertThat(listed("to"))
        .extracting(StoreEntry::path, StoreEntry::name)
        .containsExactly(tuple(file.destination(), name));
    assertThat(text("to/" + name)).isEqualTo("content");
    assertThat(store.renameFile(file).outcome()).isEqualTo(Outcome.RECOVERED);
    store.deleteFile(file.destination());
    assertThat(listed("to")).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("names")
  void aNameOfADirectoryIsTakenAsItIs(String name) throws IOException {
    if (!allowsDirectory(name)) {
      assertThatThrownBy(() -> store.mkdirs(at("from/" + name))).hasMessageContaining(name);
      return;
    }
    write("from/" + name + "/f", "content");
    store.mkdirs(at("to/" + name));
    FileEntry file = planned("from/" + name + "/f", "to/" + name + "/f");

    assertThat(store.renameFile(file).outcome()).isEqualTo(Outcome.RENAMED);
    assertThat(listed("to"))
        .extracting(StoreEntry::path, StoreEntry::name, StoreEntry::isDirectory)
        .containsExactly(tuple(at("to/" + name), name, true));
    assertThat(listed("to/" + name))
        .extracting(StoreEntry::path)
        .containsExactly(file.destination());
    assertThat(store.deleteEmptyDirectory(at("to/" + name))).isFalse();
    store.deleteFile(file.destination());
    assertThat(store.deleteEmptyDirectory(at("to/" + name))).isTrue();
    store.deleteTree(at("from/" + name));
    assertThat(left("from")).isEmpty();
    assertThat(left("to")).isEmpty();
  }

  static List<String> names() {
    return List.of(
        "with space",
        "100%",
        "%2F%20",
        "a+b",
        "p=1",
        "time=12:30:00",
        "hdfs:x",
        "a#b",
        "a?b=c",
        "a&b;c,d@e",
        "\"it's\"",
        "[a]{b}*^~",
        "ünïcödé",
        "日本 😀",
        ".hidden",
        "...",
        "_underscore");
  }

  // Renames of directories.

  @Test
  void aDirectoryIsRenamedWhole() throws IOException {
    write("a/f", "1");
    write("a/x/y/f", "2");
    store.mkdirs(at("a/empty"));
    RenameResult result = store.renameDirectory(at("a"), at("b"));

    if (refusesDirectories()) {
      assertThat(result.outcome()).isEqualTo(Outcome.FAILED);
      assertThat(text("a/f")).isEqualTo("1");
      assertThat(store.status(at("b"))).isEmpty();
      return;
    }
    assertThat(result.outcome()).isEqualTo(Outcome.RENAMED);
    assertThat(store.status(at("a"))).isEmpty();
    assertThat(text("b/f")).isEqualTo("1");
    assertThat(text("b/x/y/f")).isEqualTo("2");
    assertThat(listed("b"))
        .extracting(StoreEntry::name)
        .containsExactlyInAnyOrder("f", "x", "empty");
  }

  @Test
  void aDirectoryThatWasRenamedBeforeIsRecovered() throws IOException {
    write("a/f", "1");
    assertThat(store.renameDirectory(at("a"), at("b")).isDone()).isNotEqualTo(refusesDirectories());
    if (refusesDirectories()) {
      return;
    }

    assertThat(store.renameDirectory(at("a"), at("b")).outcome()).isEqualTo(Outcome.RECOVERED);
    assertThat(text("b/f")).isEqualTo("1");
    assertThat(listed("b")).extracting(StoreEntry::name).containsExactly("f");
  }

  /** A store that is known to rename them file by file does not do it. */
  private boolean refusesDirectories() {
    StoreTraits traits = store.traits(root);
    return !traits.hasAtomicDirectoryRename();
  }

  @Test
  void aRenameOfAMissingDirectoryIsNotTakenForDone() throws IOException {
    assertThat(store.renameDirectory(at("a"), at("b")).isDone()).isFalse();
    assertThat(store.status(at("b"))).isEmpty();
  }

  // Deleting, reading and writing files.

  @Test
  void aFileIsDeletedAndNothingElse() throws IOException {
    write("d/f", "1");
    write("d/ff", "2");
    store.deleteFile(at("d/f"));

    assertThat(listed("d")).extracting(StoreEntry::name).containsExactly("ff");
  }

  @Test
  void deletingAFileThatIsGoneIsFine() throws IOException {
    store.mkdirs(at("d"));
    store.deleteFile(at("d/none"));
    store.deleteFile(at("none/f"));

    assertThat(listed("")).extracting(StoreEntry::name).containsExactly("d");
  }

  @Test
  void readGivesAFileOfManyBlocksWhole() throws IOException {
    byte[] content = new byte[3 << 20];
    new Random(7).nextBytes(content);
    store.write(at("f"), out -> out.write(content));

    assertThat(store.read(at("f"), content.length)).isEqualTo(content);
    assertThat(store.read(at("f"), 2 * content.length)).isEqualTo(content);
    assertThatThrownBy(() -> store.read(at("f"), content.length - 1))
        .isInstanceOf(IOException.class);
  }

  @Test
  void readRefusesAFileOverTheLimit() throws IOException {
    write("f", "content");

    assertThatThrownBy(() -> store.read(at("f"), 6))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll(at("f").toString(), "6");
    assertThatThrownBy(() -> store.read(at("f"), 0)).isInstanceOf(IOException.class);
  }

  @Test
  void readOfNothingSaysSo() throws IOException {
    assertThatThrownBy(() -> store.read(at("none"), 10))
        .isInstanceOf(FileNotFoundException.class)
        .hasMessageContaining("none");
  }

  @Test
  void readOfADirectoryFails() throws IOException {
    store.mkdirs(at("d"));

    assertThatThrownBy(() -> store.read(at("d"), 10)).isInstanceOf(IOException.class);
  }

  @Test
  void theStartOfAFileIsReadAndNoMore() throws IOException {
    write("f", "content");
    write("empty", "");

    assertThat(store.readStart(at("f"), 3)).asString(StandardCharsets.UTF_8).isEqualTo("con");
    assertThat(store.readStart(at("f"), 7)).asString(StandardCharsets.UTF_8).isEqualTo("content");
    assertThat(store.readStart(at("f"), 100)).asString(StandardCharsets.UTF_8).isEqualTo("content");
    assertThat(store.readStart(at("empty"), 100)).isEmpty();
    assertThatThrownBy(() -> store.readStart(at("none"), 3))
        .isInstanceOf(FileNotFoundException.class)
        .hasMessageContaining("none");
  }

  @Test
  void writeMakesParentsAndReplaces() throws IOException {
    write("a/b/f", "the first content");
    write("a/b/f", "2nd");

    assertThat(text("a/b/f")).isEqualTo("2nd");
    assertThat(store.status(at("a/b/f")).orElseThrow().length()).isEqualTo(3);
    assertThat(listed("a/b")).extracting(StoreEntry::name).containsExactly("f");
  }

  @Test
  void writeDoesNotReplaceADirectory() throws IOException {
    write("d/f", "1");

    if (OBJECTS_ONLY.contains(store.traits(root))) {
      // An object of that name says nothing about others whose names begin with it.
      write("d", "2");
      assertThat(text("d")).isEqualTo("2");
    } else {
      assertThatThrownBy(() -> write("d", "2")).isInstanceOf(IOException.class);
    }
    assertThat(text("d/f")).isEqualTo("1");
  }

  @Test
  void writeFailsAsItsContentFails() {
    IOException failure = new IOException("no content");

    assertThatThrownBy(() -> store.write(at("f"), out -> raise(failure))).isSameAs(failure);
  }

  /** Where a file is there before its content; elsewhere nothing is made before. */
  @Test
  void aFileThatWasCreatedIsFilledLater() throws IOException {
    boolean isThere = store.traits(root).createsBeforeContent();

    store.create(at("a/b/f"));
    assertThat(store.status(at("a/b/f")).map(StoreEntry::length))
        .isEqualTo(isThere ? Optional.of(0L) : Optional.empty());
    assertThat(store.fill(at("a/b/f"), StoreContract::content)).isEqualTo(isThere);
    assertThat(store.fill(at("a/b/f"), StoreContract::content)).as("once").isFalse();

    if (isThere) {
      assertThat(text("a/b/f")).isEqualTo("content");
    } else {
      assertThat(store.status(at("a"))).isEmpty();
    }
  }

  @Test
  void aFileThatWasCreatedIsWrittenAsAnyOther() throws IOException {
    store.create(at("f"));
    store.write(at("f"), StoreContract::content);
    assertThat(text("f")).isEqualTo("content");

    write("f", "2nd");
    assertThat(text("f")).isEqualTo("2nd");
  }

  /** Who took the directory away has the last word. */
  @Test
  void aFileThatWasDeletedIsNotFilledAndNotMadeAgain() throws IOException {
    store.create(at("d/f"));
    store.create(at("d/g"));
    store.deleteTree(at("d"));

    assertThat(isFilled("d/f")).isFalse();
    store.release(at("d/g"));

    assertThat(store.status(at("d"))).isEmpty();
  }

  private boolean isFilled(String file) throws IOException {
    try {
      return store.fill(at(file), StoreContract::content);
    } catch (FileNotFoundException e) {
      return false;
    }
  }

  private static void content(OutputStream out) throws IOException {
    out.write("content".getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void aFileThatIsGivenUpStaysEmpty() throws IOException {
    store.create(at("f"));
    store.release(at("f"));
    store.release(at("f"));

    assertThat(store.fill(at("f"), StoreContract::content)).isFalse();
    assertThat(store.status(at("f")).map(StoreEntry::length).orElse(0L)).isZero();
  }

  // Identity.

  @Test
  void listingAndStatusAgreeOnWhatAFileIs() throws IOException {
    write("d/f", "content");

    assertThat(identity(store.identified(listed("d").get(0))))
        .isEqualTo(identity(store.status(at("d/f")).orElseThrow()));
  }

  @Test
  void identitySurvivesARenameAsTheTraitsPromise() throws IOException {
    write("a/f", "content");
    store.mkdirs(at("b"));
    StoreEntry before = store.status(at("a/f")).orElseThrow();
    StoreTraits traits = store.traits(root);
    assertThat(!before.etag().isEmpty() || !traits.renameKeepsEtag()).isTrue();
    assertThat(before.modificationTime() != 0).isEqualTo(traits.renameKeepsModificationTime());

    assertThat(store.renameFile(planned("a/f", "b/f")).isDone()).isTrue();

    StoreEntry after = store.status(at("b/f")).orElseThrow();
    assertThat(after.isSameFileAs(before)).isTrue();
    assertThat(identity(after)).isEqualTo(identity(before));
  }

  @Test
  void anEtagIsOfOneFileOnly() throws IOException {
    write("a", "content");
    // A content hash tells contents apart, an etag also files of one content.
    write("b", store.traits(root).identityCostsRequest() ? "another" : "content");
    String etag = store.status(at("a")).orElseThrow().etag();
    String other = store.status(at("b")).orElseThrow().etag();

    assertThat(etag.isEmpty()).isEqualTo(other.isEmpty());
    assertThat(etag.isEmpty() || !etag.equals(other)).isTrue();
  }

  // Many threads.

  @Test
  void manyThreadsWriteRenameReadAndDeleteAtOnce() throws Exception {
    int files = 20 * THREADS;
    List<Callable<Void>> work = new ArrayList<>();
    for (int i = 0; i < files; i++) {
      String name = "p=" + i % 3 + "/f" + i;
      work.add(
          () -> {
            write("from/" + name, name);
            store.mkdirs(at("to/" + name).getParent());
            FileEntry file = planned("from/" + name, "to/" + name);
            assertThat(store.renameFile(file).outcome()).isEqualTo(Outcome.RENAMED);
            assertThat(text("to/" + name)).isEqualTo(name);
            write("gone/" + name, name);
            store.deleteFile(at("gone/" + name));
            return null;
          });
    }
    inParallel(work);

    int found = 0;
    for (int p = 0; p < 3; p++) {
      found += listed("to/p=" + p).size();
      assertThat(left("from/p=" + p)).isEmpty();
      assertThat(left("gone/p=" + p)).isEmpty();
    }
    assertThat(found).isEqualTo(files);
  }

  /** The plan to rename a file, with the identity that its listing shows. */
  private FileEntry planned(String source, String destination) throws IOException {
    StoreEntry entry = store.status(at(source)).orElseThrow();
    return new FileEntry(
        at(source), at(destination), entry.length(), entry.etag(), entry.modificationTime());
  }

  private void write(String relative, String text) throws IOException {
    store.write(at(relative), out -> out.write(text.getBytes(StandardCharsets.UTF_8)));
  }

  private String text(String relative) throws IOException {
    return new String(store.read(at(relative), 1 << 20), StandardCharsets.UTF_8);
  }

  private List<StoreEntry> listed(String relative) throws IOException {
    List<StoreEntry> entries = new ArrayList<>();
    store.list(at(relative), entries::add);
    return entries;
  }

  /** What is left in a directory, which object stores forget with its last file. */
  private List<StoreEntry> left(String relative) throws IOException {
    try {
      return listed(relative);
    } catch (FileNotFoundException e) {
      return List.of();
    }
  }

  private Path at(String relative) {
    return StorePaths.resolve(root, relative);
  }

  private static List<Object> identity(StoreEntry entry) {
    return List.of(
        entry.isDirectory(),
        entry.length(),
        FileIdentity.kept(entry.etag()),
        entry.modificationTime());
  }

  /** Runs everything in a few threads and gives the results in order, or the first failure. */
  private static <T> List<T> inParallel(List<Callable<T>> work) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(THREADS);
    try {
      List<T> results = new ArrayList<>();
      for (Future<T> future : pool.invokeAll(work)) {
        results.add(future.get());
      }
      return results;
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception ? (Exception) e.getCause() : e;
    } finally {
      pool.shutdownNow();
    }
  }
}
