// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.proofs;

import io.manifestcommitter.store.AbfsStore;
import io.manifestcommitter.store.GcsStore;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreFamily;
import io.manifestcommitter.store.StorePaths;
import io.manifestcommitter.store.StoreTraits;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.store.UnsupportedStoreException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Asks a real store, by trying it, whether it does what its documentation says and the committer
 * relies on, and what it does where nothing is documented. Needs no job and no other party. All of
 * it happens below a fresh directory, which is deleted at the end. Some hundred small requests.
 */
public final class StoreProofs {
  private static final String DIRECTORY = "manifest-committer-proofs-";

  private static final List<Question> FILES =
      List.of(
          new Question(
              "file-rename", "A rename moves a file unchanged to its new name", FileProofs::rename),
          new Question(
              "file-onto-file",
              "A file is never renamed onto another one",
              FileProofs::ontoAnother),
          new Question(
              "file-rivals",
              "If " + FileProofs.RIVALS + " files are renamed to one name at once, one gets it",
              FileProofs::rivals),
          new Question(
              "file-identity",
              "A file that is written again gets another identity",
              FileProofs::writtenAgain),
          new Question(
              "listings",
              "Listings show each write, rename and deletion at once",
              FileProofs::listings));

  private static final List<Question> DIRECTORIES =
      List.of(
          new Question(
              "directory-rename",
              "A rename moves a directory to its new name, with all that is in it",
              FileProofs::directoryRename),
          new Question(
              "directory-missing",
              "The rename of a missing directory is refused",
              FileProofs::missingDirectory),
          new Question(
              "directory-deletion",
              "A directory that holds something is not deleted as an empty one",
              FileProofs::emptyDirectory),
          new Question(
              "late-writers",
              "Nobody adds to a renamed directory through its old name",
              FileProofs::lateWriters));

  private static final List<Question> ABFS =
      List.of(
          new Question(
              "hierarchical-namespace",
              "The account has a hierarchical namespace",
              CloudProofs::isHierarchical),
          new Question(
              "deleted-file",
              "A file that was deleted before its content came stays deleted",
              CloudProofs::deletedFile),
          new Question(
              "directory-onto-directory",
              "No file is lost if a directory is renamed onto another one",
              CloudProofs::directoryOntoAFullOne));

  private static final List<Question> GCS =
      List.of(
          new Question(
              "generation-condition",
              "A rename that names an old generation of a file is refused",
              CloudProofs::oldGeneration));

  private static final List<Question> FOLDERS =
      List.of(
          new Question(
              "folder-onto-folder",
              "A folder is never renamed onto one with files",
              CloudProofs::folderOntoAFullOne),
          new Question(
              "folder-onto-empty",
              "A folder is never renamed onto an empty one",
              CloudProofs::folderOntoAnEmptyOne),
          new Question(
              "folder-rivals",
              "If " + CloudProofs.RIVALS + " folders are renamed to one name at once, one gets it",
              CloudProofs::rivalFolders),
          new Question("empty-folder", "An empty folder is listed", CloudProofs::emptyFolder),
          new Question(
              "operations-listed", "Running renames can be listed", CloudProofs::runningRenames),
          new Question(
              "writers-during-rename",
              "A file that is written into a folder during its rename is there afterwards, once",
              CloudProofs::writersDuringARename));

  private final Store store;
  private final FileSystem fs;
  private final Path root;
  private final List<Question> questions;

  private StoreProofs(Store store, FileSystem fs, Path root, List<Question> questions) {
    this.store = store;
    this.fs = fs;
    this.root = root;
    this.questions = questions;
  }

  /**
   * The questions for the store of a path. One that is served only if its user vouches for it is
   * asked as if that was so.
   *
   * @param path a directory, which need not exist; only below it something is written
   * @throws UnsupportedStoreException if nothing is known to ask this store
   */
  public static StoreProofs of(Path path, Configuration conf) throws IOException {
    FileSystem fs = path.getFileSystem(conf);
    Path parent = StorePaths.plain(fs.makeQualified(path));
    Configuration vouching = new Configuration(conf);
    if (new Stores(conf).family(parent) == StoreFamily.OTHER) {
      vouching.set(StoreFamily.ATOMIC_RENAME_SCHEMES, parent.toUri().getScheme());
    }
    Stores stores = new Stores(vouching);
    if (stores.isLakefs(parent)) {
      throw new UnsupportedStoreException(
          "The committer renames nothing in lakeFS, so there is nothing to try at "
              + path
              + ": 'manifest-committer info "
              + path
              + "' asks lakeFS whether jobs can write there");
    }
    Store store = stores.of(parent);
    return new StoreProofs(
        store, fs, new Path(parent, DIRECTORY + UUID.randomUUID()), questions(store, parent));
  }

  private static List<Question> questions(Store store, Path path) throws IOException {
    StoreTraits traits = store.traits(path);
    if (traits == StoreTraits.VOUCHED) {
      // As on HDFS, an open stream may go on after a rename, and two files may be of one time.
      return of(List.of(FILES, DIRECTORIES), Set.of("file-identity", "late-writers"));
    }
    if (store instanceof AbfsStore) {
      return of(List.of(FILES, DIRECTORIES, ABFS), Set.of());
    }
    if (store instanceof GcsStore) {
      return of(
          traits == StoreTraits.GCS_HIERARCHICAL
              ? List.of(FILES, GCS, DIRECTORIES, FOLDERS)
              : traits == StoreTraits.GCS_DIRECT ? List.of(FILES, GCS) : List.of(FILES),
          Set.of());
    }
    throw new UnsupportedStoreException(
        "Nothing is known to ask the store of "
            + path
            + ": give an abfs, abfss or gs path, or one of a scheme that the committer does not"
            + " know");
  }

  private static List<Question> of(List<List<Question>> groups, Set<String> without) {
    return groups.stream()
        .flatMap(List::stream)
        .filter(question -> !without.contains(question.name))
        .collect(Collectors.toList());
  }

  /** Where all of it happens, and how the committer takes the store, on which answers depend. */
  public String about() {
    return "tried in " + root.getName() + ", for a store with the traits " + store.traits(root);
  }

  /** How many questions there are. */
  public int count() {
    return questions.size();
  }

  /**
   * Asks them one after the other and tells each answer. Then deletes what it made.
   *
   * @throws IOException if the directory cannot be made, or cannot be deleted: the message names it
   */
  public void run(Consumer<StoreProof> listener) throws IOException, InterruptedException {
    Deque<Path> made = new ArrayDeque<>();
    for (Path above = root.getParent();
        !above.isRoot() && !store.status(above).isPresent();
        above = above.getParent()) {
      made.addLast(above);
    }
    try {
      for (Question question : questions) {
        Path own = new Path(root, question.name);
        store.mkdirs(own);
        listener.accept(ask(question, new ProofGround(store, fs, own)));
      }
    } finally {
      remove(made);
    }
  }

  /** Tries it in a directory of its own. A failure is an answer, too. */
  private static StoreProof ask(Question question, ProofGround ground) throws InterruptedException {
    StoreProof.Answer answer;
    try {
      answer = question.trial.run(ground);
    } catch (IOException | RuntimeException e) {
      answer = new StoreProof.Answer(StoreProof.Verdict.FAILED, e.toString());
    }
    // Names below the directory say enough.
    String seen = answer.seen.replace(ground.at("") + "/", "");
    return new StoreProof(question.name, question.statement, answer.verdict, seen);
  }

  /** Deletes the fresh directory, and what had to be made for it. */
  private void remove(Deque<Path> made) throws IOException {
    try {
      store.deleteTree(root);
      for (Path above : made) {
        if (store.status(above).isPresent()) {
          store.deleteEmptyDirectory(above);
        }
      }
    } catch (IOException e) {
      throw new IOException(root + " was not deleted. Delete it by hand", e);
    }
  }

  /** Something that a real store is asked, by trying it. */
  private static final class Question {
    private final String name;
    private final String statement;
    private final Trial trial;

    Question(String name, String statement, Trial trial) {
      this.name = name;
      this.statement = statement;
      this.trial = trial;
    }
  }

  private interface Trial {
    /** An {@link IOException} says that a request failed for another reason. */
    StoreProof.Answer run(ProofGround ground) throws IOException, InterruptedException;
  }
}
