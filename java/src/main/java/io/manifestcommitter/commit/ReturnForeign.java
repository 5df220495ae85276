// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.Path;

/**
 * Moves the content of a directory that was moved aside, or a part of it, back to where it was.
 * Nothing that stands there is replaced.
 */
final class ReturnForeign {
  private final Store store;

  ReturnForeign(Store store) {
    this.store = store;
  }

  /**
   * Moves it back. May be repeated from wherever it ended.
   *
   * @param from the directory; nothing happens if it does not exist
   * @param to its old place
   * @param claim what stays
   */
  void run(Path from, Path to, Claim claim) throws IOException {
    List<StoreEntry> entries = new ArrayList<>();
    try {
      store.list(from, entries::add);
    } catch (FileNotFoundException e) {
      return;
    }
    for (StoreEntry entry : entries) {
      Path place = StorePaths.resolve(to, entry.name());
      if (entry.isDirectory()) {
        directory(entry.path(), place, claim.keepsDirectory(place) ? claim : Claim.NOTHING);
      } else if (!claim.keepsFile(place, entry)) {
        file(entry, place);
      }
    }
  }

  /** File by file: a store may put a renamed directory into one that appeared at its place. */
  private void directory(Path from, Path to, Claim claim) throws IOException {
    if (claim == Claim.NOTHING) {
      store.mkdirs(to);
    }
    run(from, to, claim);
    if (claim == Claim.NOTHING) {
      store.deleteEmptyDirectory(from);
    }
  }

  /** Moves one file back to its place. */
  void file(StoreEntry listed, Path place) throws IOException {
    StoreEntry file = store.identified(listed);
    RenameResult result = Retries.rename(store, file, place);
    result.orThrow("Could not move " + file.path() + " back to " + place);
  }

  /** What stays where it is. */
  interface Claim {
    /** Everything goes. */
    Claim NOTHING =
        new Claim() {
          @Override
          public boolean keepsFile(Path place, StoreEntry file) {
            return false;
          }

          @Override
          public boolean keepsDirectory(Path place) {
            return false;
          }
        };

    /**
     * Whether a file stays.
     *
     * @param place where it would go
     */
    boolean keepsFile(Path place, StoreEntry file);

    /** Whether a directory stays, so that its content is looked at one by one. */
    boolean keepsDirectory(Path place);
  }
}
