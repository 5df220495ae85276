package io.manifestcommitter.commit;

import io.manifestcommitter.manifest.DirectoryEntry;
import io.manifestcommitter.manifest.DirectoryState;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.Path;

/**
 * Lists all that a task attempt wrote, one request a directory, and works out where it goes.
 * Nothing at the destination is looked at (protocol seed, "Task Commit").
 */
final class ScanTaskDirectory {
  private final Store store;
  private final Runnable progress;

  /**
   * A scan.
   *
   * @param progress called with every entry that is found
   */
  ScanTaskDirectory(Store store, Runnable progress) {
    this.store = store;
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
    List<Path> level = List.of(attemptDirectory);
    for (int depth = 1; !level.isEmpty(); depth++) {
      List<Path> next = new ArrayList<>();
      for (Path directory : level) {
        int below = depth;
        store.list(
            directory,
            entry -> {
              progress.run();
              Path target =
                  StorePaths.resolve(
                      destination, StorePaths.relative(attemptDirectory, entry.path()));
              if (entry.isDirectory()) {
                next.add(entry.path());
                scan.directories.add(new DirectoryEntry(target, DirectoryState.UNKNOWN, below));
              } else {
                scan.files.add(
                    new FileEntry(
                        entry.path(),
                        target,
                        entry.length(),
                        entry.etag(),
                        entry.modificationTime()));
              }
            });
      }
      level = next;
    }
    return scan;
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
