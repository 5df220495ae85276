// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.proofs;

import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreFamily;
import io.manifestcommitter.store.StorePaths;
import io.manifestcommitter.store.StoreTraits;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.store.UnsupportedStoreException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
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

  private final Store store;
  private final FileSystem fs;
  private final Path root;
  private final Set<Question> questions;

  private StoreProofs(Store store, FileSystem fs, Path root, Set<Question> questions) {
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
    return new StoreProofs(
        stores.all(),
        fs,
        new Path(parent, DIRECTORY + UUID.randomUUID()),
        questions(stores.all().traits(parent), parent));
  }

  private static Set<Question> questions(StoreTraits traits, Path path)
      throws UnsupportedStoreException {
    switch (traits) {
      case VOUCHED:
        // As on HDFS, an open stream may go on after a rename, and two files may be of one time.
        return upTo(
            Question.DIRECTORY_DELETION, Question.FILE_IDENTITY, Question.GENERATION_CONDITION);
      case ABFS:
        return upTo(Question.DIRECTORY_ONTO_DIRECTORY, Question.GENERATION_CONDITION);
      case GCS:
      case GCS_WITH_CHECKSUMS:
        return upTo(Question.LISTINGS);
      case GCS_DIRECT:
        return upTo(Question.GENERATION_CONDITION);
      case GCS_HIERARCHICAL:
        return upTo(
            Question.WRITERS_DURING_RENAME,
            Question.HIERARCHICAL_NAMESPACE,
            Question.DELETED_FILE,
            Question.DIRECTORY_ONTO_DIRECTORY);
      default:
        throw new UnsupportedStoreException(
            "Nothing is known to ask the store of "
                + path
                + ": give an abfs, abfss or gs path, or one of a scheme that the committer does not"
                + " know");
    }
  }

  private static Set<Question> upTo(Question last, Question... without) {
    Set<Question> asked = EnumSet.range(Question.FILE_RENAME, last);
    asked.removeAll(List.of(without));
    return asked;
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
        Path own = new Path(root, question.text());
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
    return new StoreProof(question.text(), question.statement, answer.verdict, seen);
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
  @SuppressWarnings("ImmutableEnumChecker") // a trial keeps nothing
  private enum Question {
    FILE_RENAME("A rename moves a file unchanged to its new name", FileProofs::rename),
    FILE_ONTO_FILE("A file is never renamed onto another one", FileProofs::ontoAnother),
    FILE_RIVALS(
        "If " + FileProofs.RIVALS + " files are renamed to one name at once, one gets it",
        FileProofs::rivals),
    FILE_IDENTITY("A file that is written again gets another identity", FileProofs::writtenAgain),
    LISTINGS("Listings show each write, rename and deletion at once", FileProofs::listings),

    GENERATION_CONDITION(
        "A rename that names an old generation of a file is refused", CloudProofs::oldGeneration),

    DIRECTORY_RENAME(
        "A rename moves a directory to its new name, with all that is in it",
        FileProofs::directoryRename),
    DIRECTORY_MISSING("The rename of a missing directory is refused", FileProofs::missingDirectory),
    DIRECTORY_DELETION(
        "A directory that holds something is not deleted as an empty one",
        FileProofs::emptyDirectory),
    LATE_WRITERS(
        "Nobody adds to a renamed directory through its old name", FileProofs::lateWriters),

    HIERARCHICAL_NAMESPACE("The account has a hierarchical namespace", CloudProofs::isHierarchical),
    DELETED_FILE(
        "A file that was deleted before its content came stays deleted", CloudProofs::deletedFile),
    DIRECTORY_ONTO_DIRECTORY(
        "No file is lost if a directory is renamed onto another one",
        CloudProofs::directoryOntoAFullOne),

    FOLDER_ONTO_FOLDER(
        "A folder is never renamed onto one with files", CloudProofs::folderOntoAFullOne),
    FOLDER_ONTO_EMPTY(
        "A folder is never renamed onto an empty one", CloudProofs::folderOntoAnEmptyOne),
    FOLDER_RIVALS(
        "If " + CloudProofs.RIVALS + " folders are renamed to one name at once, one gets it",
        CloudProofs::rivalFolders),
    EMPTY_FOLDER("An empty folder is listed", CloudProofs::emptyFolder),
    OPERATIONS_LISTED("Running renames can be listed", CloudProofs::runningRenames),
    WRITERS_DURING_RENAME(
        "A file that is written into a folder during its rename is there afterwards, once",
        CloudProofs::writersDuringARename);

    private final String statement;
    private final Trial trial;

    Question(String statement, Trial trial) {
      this.statement = statement;
      this.trial = trial;
    }

    /** As answers and directories call it. */
    String text() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  private interface Trial {
    /** An {@link IOException} says that a request failed for another reason. */
    StoreProof.Answer run(ProofGround ground) throws IOException, InterruptedException;
  }
}
