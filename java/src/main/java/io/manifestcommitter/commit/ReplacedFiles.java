// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.apache.hadoop.fs.Path;

/**
 * Files of earlier jobs whose names this job uses. They are kept in the job's own directory, under
 * a name that tells where they belong, until cleanup: a job that fails moves them to their places.
 */
final class ReplacedFiles {
  private final Store store;

  /** Where they are. */
  final Path directory;

  private volatile boolean made;

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
    RenameResult result = Retries.rename(store, old.movedTo(aside(old.path())));
    result.orThrow("Could not move the old file " + old.path() + " aside");
  }

  /** What was moved aside, by name. */
  Map<String, StoreEntry> list() throws IOException {
    Map<String, StoreEntry> found = new HashMap<>();
    store.listIfThere(
        directory,
        entry -> {
          if (!entry.isDirectory()) {
            found.put(entry.name(), entry);
          }
        });
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
    if (aside == null
        || store.status(place).isPresent()
        || !store.status(aside.path()).isPresent()) {
      return;
    }
    // With its directory, which on an object store is gone with its last file.
    RenameResult result = Retries.rename(store, aside.movedTo(place));
    result.orThrow("the old file is still at " + aside.path());
  }

  /** One name for one place, whatever characters that has. */
  private Path aside(Path place) {
    byte[] text = place.toUri().toString().getBytes(StandardCharsets.UTF_8);
    return new Path(directory, UUID.nameUUIDFromBytes(text).toString());
  }
}
