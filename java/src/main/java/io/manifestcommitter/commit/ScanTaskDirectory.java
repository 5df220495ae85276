// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.manifest.DirectoryEntry;
import io.manifestcommitter.manifest.DirectoryState;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.Path;

/**
 * Lists all that a task attempt wrote, one request a directory, and works out where it goes.
 * Nothing at the destination is looked at ("Manifest Committer Protocol", "Task Commit").
 */
final class ScanTaskDirectory {
  private final Store store;
  private final Workers workers;
  private final Runnable progress;

  /**
   * A scan.
   *
   * @param progress called with every entry that is found
   */
  ScanTaskDirectory(Store store, Workers workers, Runnable progress) {
    this.store = store;
    this.workers = workers;
    this.progress = progress;
  }

  /**
   * Scans an attempt's directory.
   *
   * @param attemptDirectory where the attempt wrote
   * @param destination the table's directory
   */
  Scan run(Path attemptDirectory, Path destination) throws IOException {
    Scan scan = new Scan();
    List<StoreEntry> found = new ArrayList<>();
    List<Path> level = List.of(attemptDirectory);
    for (int depth = 1; !level.isEmpty(); depth++) {
      List<Path> next = new ArrayList<>();
      for (Path directory : level) {
        int below = depth;
        store.list(
            directory,
            entry -> {
              progress.run();
              if (entry.isLink()) {
                throw new IOException(
                    entry
                        + " is in the output of a task, which can have files and directories only."
                        + " Let the task write a file instead");
              }
              if (entry.isDirectory()) {
                next.add(entry.path());
                Path target = target(attemptDirectory, destination, entry);
                scan.directories.add(new DirectoryEntry(target, DirectoryState.UNKNOWN, below));
              } else {
                found.add(entry);
              }
            });
      }
      level = next;
    }
    for (StoreEntry file : identified(found)) {
      scan.files.add(file.movedTo(target(attemptDirectory, destination, file)));
    }
    return scan;
  }

  /** The same files, where a listing does not show what identifies them, and the store can tell. */
  private List<StoreEntry> identified(List<StoreEntry> files) throws IOException {
    return files.isEmpty() || !store.traits(files.get(0).path()).identityCostsRequest()
        ? files
        : workers.map(files, store::identified);
  }

  private static Path target(Path attemptDirectory, Path destination, StoreEntry entry) {
    return StorePaths.resolve(destination, StorePaths.relative(attemptDirectory, entry.path()));
  }

  /** What a scan found. */
  static final class Scan {
    private final List<FileEntry> files = new ArrayList<>();
    private final List<DirectoryEntry> directories = new ArrayList<>();

    List<FileEntry> files() {
      return files;
    }

    List<DirectoryEntry> directories() {
      return directories;
    }
  }
}
