// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.Queue;
import java.util.TreeMap;
import org.apache.hadoop.fs.Path;

/**
 * Deletes directories in which nothing is left, children before parents, those of one depth in
 * parallel.
 */
public final class RemoveEmptyDirectories {
  private final Store store;
  private final Workers workers;

  /** A step on {@code store}. */
  public RemoveEmptyDirectories(Store store, Workers workers) {
    this.store = store;
    this.workers = workers;
  }

  /**
   * Deletes them; one that is not empty stays, and counts as done.
   *
   * @param left takes what could not be deleted, with the reason
   */
  public void run(Collection<Path> directories, Queue<String> left) throws IOException {
    NavigableMap<Integer, List<Path>> byDepth = new TreeMap<>();
    directories.forEach(
        directory ->
            byDepth.computeIfAbsent(directory.depth(), depth -> new ArrayList<>()).add(directory));
    for (List<Path> level : byDepth.descendingMap().values()) {
      workers.forEach(
          level, directory -> Retries.fewOrNote(directory, left, () -> remove(directory)));
    }
  }

  /** A file that stands there by now is somebody's. */
  private void remove(Path directory) throws IOException {
    if (store.status(directory).filter(StoreEntry::isDirectory).isPresent()) {
      store.deleteEmptyDirectory(directory);
    }
  }
}
