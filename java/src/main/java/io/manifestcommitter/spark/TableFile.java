// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/**
 * A file at the path of which an overwrite makes a table. Nothing can be staged below a file, so
 * the job's setup moves it to {@code .manifest-file-$jobId} beside the table. The file goes when
 * the job has committed, and returns to its place if the job fails. After a driver's death it stays
 * where it is: no job deletes it.
 */
final class TableFile {
  private final Store store;
  private final Path table;
  private final Path aside;

  /** What stands at the path of the table of a job. */
  TableFile(WriteRequest write) {
    this.store = write.store;
    this.table = write.table;
    // There is nothing beside the root of a store, and it is no file.
    this.aside =
        new Path(table.isRoot() ? table : table.getParent(), ".manifest-file-" + write.jobId);
  }

  /**
   * Requires that the file can be replaced. One request.
   *
   * @throws IOException if it cannot; nothing was touched
   */
  void requireReplaceable() throws IOException {
    if (!store.traits(table).hasAtomicDirectoryRename()) {
      throw refused(", which this store cannot move aside at once");
    }
    if (store.status(table).filter(StoreEntry::isLink).isPresent()) {
      throw refused(" behind a symbolic link");
    }
  }

  /** That no table is written there. */
  IOException refused(String reason) {
    return new IOException(
        table + " is a file" + reason + ". It was not touched: remove it or choose another path.");
  }

  /** Makes a directory of the file, if nobody has done so yet. */
  void moveAside() throws IOException {
    Optional<StoreEntry> file = store.status(table).filter(entry -> !entry.isDirectory());
    if (file.isPresent()) {
      Retries.rename(store, file.get(), aside).orThrow("The file could not be moved aside");
    }
    store.mkdirs(table);
  }

  /** What to know of a commit that failed. */
  IOException advice() {
    return new IOException(
        table
            + " was a file. If it is not there when the job has been aborted, it is "
            + aside
            + ": move it back once nobody needs what else is there");
  }

  /** Deletes the file of a job that committed. */
  void delete() throws IOException {
    store.deleteFile(aside);
  }

  /**
   * Returns the file of a job that failed to its place, if that is free. To be called when the job
   * has nothing left in the table.
   *
   * @throws IOException if that fails; it names both places
   */
  void putBack() throws IOException {
    Optional<StoreEntry> file = store.status(aside);
    Optional<StoreEntry> there = store.status(table);
    // Most stores would move it into a directory that is there.
    boolean isFree =
        !there.isPresent()
            || (there.get().isDirectory() && store.deleteEmptyDirectory(there.get().path()));
    if (file.isPresent() && !isFree) {
      throw advice();
    }
    if (file.isPresent()) {
      Retries.rename(store, file.get(), table).orThrow(advice().getMessage());
    }
  }
}
