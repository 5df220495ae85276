// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/**
 * A file at the path of which an overwrite makes a table. Nothing can be staged below a file, so
 * the job stages beside it, in {@code .manifest-file-$name/_manifest_$jobId}. When it commits, the
 * file moves to {@code .manifest-file-$name/file-$jobId}, and the staging directory into the new
 * table. The file goes when the job has committed. If the job fails, it returns to its place. After
 * a driver's death it stays where it is: no job deletes it.
 */
public final class TableFile {
  private static final String BESIDE = ".manifest-file-";

  private final Store store;
  private final StagingRoot staging;
  private final StagingRoot beside;
  private final Path parked;

  /** What stands at the path of the table of a job. */
  public TableFile(Store store, StagingRoot staging) {
    this.store = store;
    this.staging = staging;
    this.beside = new StagingRoot(beside(staging.directory()), staging.jobId());
    this.parked = new Path(beside.directory(), "file-" + staging.jobId());
  }

  /** Where jobs stage while a file stands at the path of their table. */
  static Path beside(Path table) {
    // There is nothing beside the root of a store, and it is no file.
    Path parent = table.isRoot() ? table : table.getParent();
    return StorePaths.resolve(parent, StorePaths.prefixed(BESIDE, table.getName()));
  }

  static boolean isBeside(Path directory) {
    return directory.getName().startsWith(BESIDE);
  }

  /**
   * Where the job stages beside the file. One request.
   *
   * @throws IOException if the file cannot be replaced; nothing was touched
   */
  public StagingRoot stageBeside() throws IOException {
    if (!store.traits(staging.directory()).hasAtomicDirectoryRename()) {
      throw refused(", and this store cannot move what the job stages beside it to its place");
    }
    if (store.status(staging.directory()).filter(StoreEntry::isLink).isPresent()) {
      throw refused(" behind a symbolic link");
    }
    return beside;
  }

  /** That no table is written there. */
  public IOException refused(String reason) {
    return new IOException(
        staging.directory()
            + " is a file"
            + reason
            + ". It was not touched: remove it or choose another path.");
  }

  /** Makes a directory of the file, if nobody has done so yet, and stages there. */
  public void replace() throws IOException {
    Path table = staging.directory();
    Optional<StoreEntry> file = store.status(table).filter(entry -> !entry.isDirectory());
    if (file.isPresent()) {
      Retries.rename(store, file.get(), parked).orThrow("The file could not be moved aside");
      if (store.status(parked).filter(StoreEntry::isDirectory).isPresent()) {
        store
            .renameDirectory(parked, table)
            .orThrow(parked + " is a table, which belongs to " + table);
        throw new IOException(
            "Another job has just made a table at "
                + table
                + ". It is back there: run the job again");
      }
    }
    store.mkdirs(table);
    RenameResult moved = store.renameDirectory(beside.root(), staging.root());
    moved.orThrow("The job's staging directory could not be moved");
  }

  /** What to know of a commit that failed. */
  public IOException advice() {
    return new IOException(
        staging.directory()
            + " was a file. If it is not there when the job has been aborted, it is "
            + parked
            + ": move it back once nobody needs what else is there");
  }

  /** Deletes the file of a job that committed. */
  public void delete() throws IOException {
    store.deleteFile(parked);
    removeBeside();
  }

  /**
   * Returns the file of a job that failed to its place, if that is free. To be called when the job
   * has nothing left in the table.
   *
   * @throws IOException if that fails; it names both places
   */
  public void putBack() throws IOException {
    Path table = staging.directory();
    Optional<StoreEntry> file = store.status(parked);
    Optional<StoreEntry> there = store.status(table);
    if (!file.isPresent() && there.isPresent()) {
      removeTable(there.get());
    } else if (file.isPresent()) {
      // Most stores would move it into a directory that is there.
      if (there.isPresent() && !removeTable(there.get())) {
        throw advice();
      }
      Retries.rename(store, file.get(), table).orThrow(advice().getMessage());
    }
    removeBeside();
  }

  /** Whether that leaves nothing at the path. */
  private boolean removeTable(StoreEntry there) throws IOException {
    if (!there.isDirectory()) {
      return false;
    }
    store.deleteTree(staging.root());
    return store.deleteEmptyDirectory(there.path());
  }

  /**
   * The files that stood at the path of a table, and that jobs which did not come to their end have
   * put aside. One request.
   */
  public static List<Path> parked(Store store, Path table) throws IOException {
    List<Path> files = new ArrayList<>();
    try {
      store.list(
          beside(table),
          entry -> {
            if (!entry.isDirectory()) {
              files.add(entry.path());
            }
          });
    } catch (FileNotFoundException e) {
      // Nothing was put aside there.
    }
    return files;
  }

  private void removeBeside() throws IOException {
    store.deleteTree(beside.root());
    if (store.status(beside.directory()).isPresent()) {
      store.deleteEmptyDirectory(beside.directory());
    }
  }
}
