// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import static io.manifestcommitter.testing.Failures.raise;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.store.RenameResult.Outcome;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What a store proves about a rename, whatever the filesystem answers, and how its other operations
 * fail. What it does where nothing fails is in the contract.
 */
class HadoopStoreTest {
  private final MemoryStoreState state = MemoryFileSystem.state("hadoop-store");

  @BeforeEach
  void emptyStore() {
    state.clear();
    state.write("/staging/a", "content");
    state.mkdirs("/table");
  }

  @Test
  void aRenameThatTheStoreConfirmsIsOneRequest() throws IOException {
    RenameResult result = store().renameFile(file("abfs"));
    assertThat(result.outcome()).isEqualTo(Outcome.RENAMED);
    assertThat(state.requests()).filteredOn(r -> !r.startsWith("status /staging/a")).hasSize(1);
    assertThat(state.files()).containsOnlyKeys("/table/a");
  }

  @ParameterizedTest
  @EnumSource(names = {"FAILS_AFTER", "DONE_ANSWERS_FALSE"})
  void aRenameThatWasDoneIsRecovered(Fate fate) throws IOException {
    for (String scheme : List.of("hdfs", "abfs", "gs", "mem")) {
      emptyStore();
      assertThat(rename(scheme, fate).outcome()).isEqualTo(Outcome.RECOVERED);
      assertThat(state.files()).containsOnlyKeys("/table/a");
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"FAILS_BEFORE", "ANSWERS_FALSE"})
  void aRenameThatWasNotDoneIsProvenSo(Fate fate) throws IOException {
    for (String scheme : List.of("hdfs", "abfs", "gs", "mem")) {
      emptyStore();
      RenameResult result = rename(scheme, fate);
      assertThat(result.outcome()).isEqualTo(Outcome.FAILED);
      assertThat(result.explanation()).contains("/staging/a").contains("/table/a");
      assertThat(state.files()).containsOnlyKeys("/staging/a");
    }
  }

  @Test
  void anotherFileAtTheDestinationIsNeverTakenForOurs() throws IOException {
    state.write("/table/a", "another");
    RenameResult result = rename("hdfs", Fate.NORMAL);
    assertThat(result.outcome()).isEqualTo(Outcome.FAILED);
    assertThat(result.explanation()).contains("something else stands at the destination");
    assertThat(state.files()).containsEntry("/table/a", "another").containsKey("/staging/a");
  }

  @Test
  void aFileThatIsAtNeitherEndIsUnknownAndBothEndsAreNamed() throws IOException {
    FileEntry planned = file("hdfs");
    state.remove("/staging/a");
    RenameResult result = store().renameFile(planned);
    assertThat(result.outcome()).isEqualTo(Outcome.UNKNOWN);
    assertThat(result.explanation()).contains("at the source there is nothing", "/table/a");
  }

  @ParameterizedTest
  @EnumSource(names = {"FAILS_BEFORE", "FAILS_AFTER"})
  void anOutcomeThatCannotBeLookedAtIsUnknown(Fate fate) throws IOException {
    FileEntry planned = file("hdfs");
    state.onRequest(
        (number, operation, path) -> operation.equals("rename") ? fate : Fate.FAILS_BEFORE);
    RenameResult result = store().renameFile(planned);
    assertThat(result.outcome()).isEqualTo(Outcome.UNKNOWN);
    assertThat(result.cause()).isPresent();
  }

  @Test
  void directoriesAreRenamedWithTheSameProof() throws IOException {
    Store store = store();
    Path source = path("hdfs", "/staging");
    Path target = path("hdfs", "/sealed");
    state.onRequest((number, operation, path) -> fateOfRename(operation, Fate.FAILS_AFTER));
    assertThat(store.renameDirectory(source, target).outcome()).isEqualTo(Outcome.RECOVERED);
    state.onRequest((number, operation, path) -> fateOfRename(operation, Fate.ANSWERS_FALSE));
    assertThat(store.renameDirectory(target, source).outcome()).isEqualTo(Outcome.FAILED);
    assertThat(state.files()).containsOnlyKeys("/sealed/a");
  }

  @Test
  void aRefusalToDeleteAnEmptyDirectoryIsToldFromADirectoryWithContent() {
    state.onRequest(Fault.on("delete", Fate.FAILS_BEFORE, path -> true));
    assertThatThrownBy(() -> store().deleteEmptyDirectory(path("hdfs", "/table")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("/table");
  }

  @Test
  void aDirectoryThatEmptiesBetweenRefusalAndLookIsDeletedAllTheSame() throws IOException {
    state.mkdirs("/table/_temporary/job2");
    state.before(
        "list",
        path -> true,
        path -> {
          // The other job's cleanup, just now.
          state.remove("/table/_temporary/job2");
        });
    assertThat(store().deleteEmptyDirectory(path("hdfs", "/table/_temporary"))).isTrue();
    assertThat(state.paths()).doesNotContain("/table/_temporary");
  }

  @Test
  void aListingIsClosedAlsoWhereItEndsEarly() throws IOException {
    OpenListings store = new OpenListings();
    IOException enough = new IOException("enough");

    assertThatThrownBy(() -> store.list(path("hdfs", "/table"), 0, entry -> raise(enough)))
        .isSameAs(enough);
    assertThat(store.open).isZero();

    state.write("/table/f", "content");
    assertThat(store.deleteEmptyDirectory(path("hdfs", "/table"))).isFalse();
    assertThat(store.open).isZero();
  }

  private RenameResult rename(String scheme, Fate fate) throws IOException {
    FileEntry planned = file(scheme);
    state.onRequest((number, operation, path) -> fateOfRename(operation, fate));
    return store().renameFile(planned);
  }

  private static Fate fateOfRename(String operation, Fate fate) {
    return operation.equals("rename") ? fate : Fate.NORMAL;
  }

  /** The plan to rename /staging/a to /table/a, with the identity that a listing would show. */
  private FileEntry file(String scheme) throws IOException {
    StoreEntry entry = store().status(path(scheme, "/staging/a")).orElseThrow();
    return new FileEntry(
        entry.path(),
        path(scheme, "/table/a"),
        entry.length(),
        entry.etag(),
        entry.modificationTime());
  }

  private static Store store() {
    return new Stores(MemoryFileSystem.configuration(), RequestGate.open()).all();
  }

  private static Path path(String scheme, String path) {
    return new Path(scheme + "://hadoop-store" + path);
  }

  /** A store whose listings never end, and have to be closed. */
  private static final class OpenListings extends HadoopStore {
    private int open;

    OpenListings() throws IOException {
      super(
          path("hdfs", "/").getFileSystem(MemoryFileSystem.configuration()),
          StoreTraits.HDFS,
          RequestGate.open());
    }

    @Override
    protected RemoteIterator<FileStatus> requestListing(Path directory) {
      open++;
      return new Endless(directory);
    }

    private final class Endless implements RemoteIterator<FileStatus>, Closeable {
      private final Path directory;
      private int entries;

      Endless(Path directory) {
        this.directory = directory;
      }

      @Override
      public boolean hasNext() {
        return true;
      }

      @Override
      public FileStatus next() {
        return new FileStatus(0, true, 1, 1, 0, new Path(directory, "p=" + entries++));
      }

      @Override
      public void close() {
        open--;
      }
    }
  }
}
