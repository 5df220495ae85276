// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.apache.hadoop.fs.Path;

/**
 * Files of earlier jobs whose names this job uses. They are kept in the job's own directory, under
 * a name that tells where they belong, until cleanup: a job that fails moves them to their places.
 */
final class ReplacedFiles {
  private final Store store;
  private final Path directory;
  private volatile boolean made;

  /**
   * The files that gave way.
   *
   * @param workDirectory the job's own, in the table's store
   */
  ReplacedFiles(Store store, Path workDirectory) {
    this.store = store;
    this.directory = JobDescription.replacedFiles(workDirectory);
  }

  /** Takes a file away from its place. */
  void moveAside(StoreEntry old) throws IOException {
    if (old.isDirectory()) {
      throw new IOException(
          "A directory stands where a file of the job goes, and was not touched: " + old.path());
    }
    if (!made) {
      store.mkdirs(directory);
      made = true;
    }
    FileEntry move = old.movedTo(aside(old.path()));
    RenameResult result = Retries.renameOverCopy(store, move, () -> removeCopy(move));
    result.orThrow("Could not move the old file " + old.path() + " aside");
  }

  /**
   * Of a file that is at its place and aside, removes the copy: that aside, or at its place what an
   * earlier try to roll it back left.
   */
  private boolean removeCopy(FileEntry move) throws IOException {
    Optional<StoreEntry> there = store.status(move.source());
    Optional<StoreEntry> aside = store.status(move.destination());
    if (!there.isPresent() || !aside.isPresent()) {
      return false;
    }
    if (Parts.isCopy(store, aside.get(), there.get())) {
      store.deleteFile(move.destination());
      return true;
    }
    if (Parts.isPart(store, there.get(), aside.get())) {
      store.deleteFile(move.source());
      return true;
    }
    return false;
  }

  /** Whether the file that gave way at a place is here. One request. */
  boolean holds(Path place) throws IOException {
    return store.status(aside(place)).isPresent();
  }

  /** Where they are. */
  Path directory() {
    return directory;
  }

  /** What was moved aside, by name. */
  Map<String, StoreEntry> list() throws IOException {
    Map<String, StoreEntry> found = new HashMap<>();
    try {
      store.list(
          directory,
          entry -> {
            if (!entry.isDirectory()) {
              found.put(entry.name(), entry);
            }
          });
    } catch (FileNotFoundException e) {
      // Nothing had to give way.
    }
    return found;
  }

  /**
   * Moves the file that gave way at {@code place} there again, if there is one and its place is
   * free.
   *
   * @param asides what {@link #list} found
   */
  void rollBack(Path place, Map<String, StoreEntry> asides) throws IOException {
    StoreEntry aside = asides.get(aside(place).getName());
    if (aside == null) {
      return;
    }
    Optional<StoreEntry> there = store.status(place);
    if (there.isPresent() && !removePart(there.get(), aside)) {
      return;
    }
    if (!store.status(aside.path()).isPresent()) {
      return;
    }
    // With its directory, which on an object store is gone with its last file.
    RenameResult result = Retries.rename(store, aside.movedTo(place));
    result.orThrow("the old file is still at " + aside.path());
  }

  /** Of an earlier try. */
  private boolean removePart(StoreEntry there, StoreEntry aside) throws IOException {
    if (!Parts.isPart(store, there, aside)) {
      return false;
    }
    store.deleteFile(there.path());
    return true;
  }

  /** One name for one place, whatever characters that has. */
  private Path aside(Path place) {
    byte[] text = place.toUri().toString().getBytes(StandardCharsets.UTF_8);
    return new Path(directory, UUID.nameUUIDFromBytes(text).toString());
  }
}
