// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.commit.Workers;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file at the path of which an overwrite makes a table. Nothing can be staged below a file, so
 * the job stages beside it, and the file stays as it is until the commit. Then the table's
 * directory takes its place, with the file in it as the table's old data, and the job's staging
 * directory follows: from there on the job overwrites a directory as any other does.
 *
 * <pre>
 * $parent/.manifest-file-$name/_manifest_$jobId    what jobs stage; the same names as in a table
 * $parent/.manifest-file-$name/file                the file, after it left its place
 * $parent/$name/replaced-$name                     the file, as the old data of the table
 * </pre>
 *
 * <p>A long name is shortened in these places, see {@link StorePaths#prefixed}.
 *
 * <p>A driver that dies in between leaves the file beside an empty place, or an empty directory.
 * Whoever writes there next, or recovers it, puts the file into the table first: {@link #settle}.
 */
public final class TableFile {
  private static final Logger LOG = LoggerFactory.getLogger(TableFile.class);
  private static final String BESIDE = ".manifest-file-";
  private static final String PARKED = "file";
  private static final String IN_TABLE = "replaced-";

  private final Store store;
  private final Path table;
  private final Path beside;
  private final Path parked;
  private final Path inTable;

  /**
   * The file at a path, if there is one.
   *
   * @param table qualified
   */
  public TableFile(Store store, Path table) {
    this.store = store;
    this.table = table;
    // There is nothing beside the root of a store, and it is no file.
    Path parent = table.isRoot() ? table : table.getParent();
    this.beside = StorePaths.resolve(parent, StorePaths.prefixed(BESIDE, table.getName()));
    this.parked = new Path(beside, PARKED);
    this.inTable = StorePaths.resolve(table, StorePaths.prefixed(IN_TABLE, table.getName()));
  }

  /** Where jobs stage while the file is at its place. */
  public Path beside() {
    return beside;
  }

  /**
   * Requires that the file can be replaced. One request.
   *
   * @throws IOException naming what speaks against it; nothing was touched
   */
  public void requireReplaceable() throws IOException {
    if (store.traits(table).completesUploads()) {
      throw new IOException(
          table
              + " is a file, and this store renames a file by copying it, so that one which is replaced"
              + " could be left twice. It was not touched: remove it or choose another path.");
    }
    if (store.status(table).flatMap(StoreEntry::asLink).isPresent()) {
      throw new IOException(
          table
              + " is a symbolic link to a file, so no table can be written there. It was not touched:"
              + " remove it or choose another path.");
    }
  }

  /** Whether a driver took the file from its place and has not put it anywhere. One request. */
  public boolean isParked() throws IOException {
    return store.status(parked).isPresent();
  }

  /**
   * Puts a file that a driver had taken from its place, before it died, into the table as the old
   * data that it is. Not into a table that somebody has written since. One request where there is
   * no such file.
   *
   * @return whether it was put there
   * @throws IOException if it could not be moved; it names both places
   */
  public boolean settle() throws IOException {
    Optional<StoreEntry> file = store.status(parked);
    if (!file.isPresent()) {
      return false;
    }
    if (hasData()) {
      LOG.warn(
          "{} holds the file that stood at {} before an overwrite of it began. Others have written"
              + " there since, so it is left alone: remove it if nobody needs it",
          parked,
          table);
      return false;
    }
    store.mkdirs(table);
    RenameResult moved = Retries.rename(store, file.get(), inTable);
    if (!moved.isDone() && store.status(parked).isPresent()) {
      throw moved.failure(
          parked
              + " holds the file that stood at "
              + table
              + " before an overwrite of it, and is the table's data. Move it to "
              + inTable
              + ", and run the job again. It could not be moved");
    }
    LOG.warn(
        "{} was a file that an overwrite had begun to replace: it is in {} now", table, inTable);
    return true;
  }

  private boolean hasData() throws IOException {
    boolean[] found = {false};
    try {
      store.list(table, entry -> found[0] |= !StagingRoot.isStaging(entry.name()));
    } catch (FileNotFoundException e) {
      LOG.debug("Nothing is at {}", table, e);
    }
    return found[0];
  }

  /**
   * Makes a directory of the file, with the file in it, if nobody has done so yet, and moves a
   * job's staging directory there. If that fails the file is back, or {@link #settle} finds it.
   *
   * @param jobId whose tasks have all ended
   * @throws IOException if it fails
   */
  public void replace(String jobId, Workers workers) throws IOException {
    StagingRoot staging = new StagingRoot(table, jobId);
    try {
      Optional<StoreEntry> file = store.status(table).filter(entry -> !entry.isDirectory());
      if (file.isPresent()) {
        requireMoved(Retries.rename(store, file.get(), parked), table, parked);
      }
      settle();
      moveStaging(new StagingRoot(beside, jobId), staging, workers);
    } catch (IOException | RuntimeException | Error e) {
      try {
        workers.<Void>shield(
            () -> {
              Retries.few(() -> rollBackMove(staging));
              return null;
            });
      } catch (IOException | RuntimeException | Error suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
  }

  private void rollBackMove(StagingRoot staging) throws IOException {
    if (store.status(table).filter(StoreEntry::isDirectory).isPresent()) {
      store.deleteTree(staging.root());
    }
    rollBack();
  }

  /**
   * Moves the file to its place, after a job that had replaced it failed, unless something else is
   * in the directory by now. May be repeated from wherever it ended.
   *
   * @throws IOException if it fails: then the file is in the directory, or {@link #settle} puts it
   *     there
   */
  public void rollBack() throws IOException {
    List<Path> there = new ArrayList<>();
    try {
      store.list(table, entry -> there.add(entry.path()));
    } catch (FileNotFoundException e) {
      LOG.debug("Nothing is at {} any more", table, e);
    }
    if (!List.of(inTable).containsAll(there)) {
      return;
    }
    if (!there.isEmpty()) {
      store.mkdirs(beside);
      StoreEntry file = store.status(inTable).orElseThrow(FileNotFoundException::new);
      requireMoved(Retries.rename(store, file, parked), inTable, parked);
    }
    if (!store.status(table).isPresent() || store.deleteEmptyDirectory(table)) {
      Optional<StoreEntry> file = store.status(parked);
      if (file.isPresent()) {
        requireMoved(Retries.rename(store, file.get(), table), parked, table);
      }
    } else {
      settle();
    }
  }

  /** At once where the store can; else file by file, which nobody sees. */
  private void moveStaging(StagingRoot from, StagingRoot to, Workers workers) throws IOException {
    if (store.traits(from.root()).hasAtomicDirectoryRename()) {
      requireMoved(store.renameDirectory(from.root(), to.root()), from.root(), to.root());
      return;
    }
    moveTree(from.output(), to.output(), workers);
    moveTree(from.locations(), to.locations(), workers);
  }

  private void moveTree(Path from, Path to, Workers workers) throws IOException {
    List<StoreEntry> entries = new ArrayList<>();
    try {
      store.list(from, entries::add);
    } catch (FileNotFoundException e) {
      return;
    }
    store.mkdirs(to);
    List<StoreEntry> files = new ArrayList<>(entries);
    files.removeIf(StoreEntry::isDirectory);
    workers.forEach(
        files,
        file -> {
          Path goal = StorePaths.resolve(to, file.name());
          StoreEntry identified = store.identified(file);
          requireMoved(Retries.rename(store, identified, goal), file.path(), goal);
        });
    for (StoreEntry entry : entries) {
      if (entry.isDirectory()) {
        moveTree(entry.path(), StorePaths.resolve(to, entry.name()), workers);
      }
    }
  }

  private static void requireMoved(RenameResult result, Path from, Path to) throws IOException {
    result.orThrow(from + " could not be moved to " + to);
  }

  /** Removes what a job staged beside the file, and then the place itself if it is empty. */
  public void removeStaging(String jobId) throws IOException {
    store.deleteTree(new StagingRoot(beside, jobId).root());
    removeBesideIfEmpty();
  }

  /** Removes the place beside the file if nothing is in it. One request where there is none. */
  public void removeBesideIfEmpty() throws IOException {
    if (store.status(beside).filter(StoreEntry::isDirectory).isPresent()) {
      store.deleteEmptyDirectory(beside);
    }
  }
}
