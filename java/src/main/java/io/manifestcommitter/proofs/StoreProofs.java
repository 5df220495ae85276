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
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
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
  private static final Set<String> NOT_OF_HDFS = Set.of("file-identity", "late-writers");
  private static final String DIRECTORY = "manifest-committer-proofs-";

  private final Store store;
  private final FileSystem fs;
  private final Path root;
  private final List<StoreQuestion> questions;

  private StoreProofs(Store store, FileSystem fs, Path root, List<StoreQuestion> questions) {
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
    Store store = new Stores(vouching).of(parent);
    return new StoreProofs(
        store, fs, new Path(parent, DIRECTORY + UUID.randomUUID()), questions(store, fs, parent));
  }

  private static List<StoreQuestion> questions(Store store, FileSystem fs, Path path)
      throws IOException {
    List<StoreQuestion> questions = new ArrayList<>(FileProofs.questions());
    if (store.traits(path) == StoreTraits.VOUCHED) {
      questions.addAll(DirectoryProofs.questions());
      // As on HDFS, an open stream may go on after a rename, and two files may be of one time.
      questions.removeIf(question -> NOT_OF_HDFS.contains(question.name()));
    } else if (store instanceof AbfsStore) {
      questions.addAll(AbfsProofs.questions((AbfsStore) store));
    } else if (store instanceof GcsStore) {
      questions.addAll(GcsProofs.questions((GcsStore) store, fs));
    } else {
      throw new UnsupportedStoreException(
          "Nothing is known to ask the store of "
              + path
              + ": give an abfs, abfss or gs path, or one of a scheme that the committer does not"
              + " know");
    }
    return questions;
  }

  /** How the committer takes the store, as the answers depend on it. */
  public String about() {
    return root.getParent()
        + ": "
        + questions.size()
        + " questions, for a store with the traits "
        + store.traits(root);
  }

  /** Where all of it happens. */
  public Path directory() {
    return root;
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
      for (StoreQuestion question : questions) {
        Path own = new Path(root, question.name());
        store.mkdirs(own);
        listener.accept(question.ask(new ProofGround(store, fs, own)));
      }
    } finally {
      remove(made);
    }
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
}
