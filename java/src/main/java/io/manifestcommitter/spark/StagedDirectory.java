// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.fs.Path;

/**
 * A directory of a sealed staging directory: where its content goes, and what of it the driver
 * named.
 */
final class StagedDirectory {
  private final Path source;
  private final Path destination;
  private final Set<String> subdirectories = new HashSet<>();
  private CommittedFiles.Directory files;

  private StagedDirectory(Path source, Path destination) {
    this.source = source;
    this.destination = destination;
  }

  /**
   * The directories of a staging directory, of all levels, that lead to files that were named; the
   * topmost first.
   *
   * @param output the staged output
   * @param directories those with files, by their path relative to {@code output}
   */
  static List<StagedDirectory> tree(
      Path output, Path target, NavigableMap<String, CommittedFiles.Directory> directories) {
    Map<Path, StagedDirectory> known = new TreeMap<>();
    directories.forEach(
        (relative, files) -> {
          Path source = StorePaths.resolve(output, relative);
          StagedDirectory directory =
              known.computeIfAbsent(
                  source, path -> new StagedDirectory(path, StorePaths.resolve(target, relative)));
          directory.files = files;
          while (!source.equals(output)) {
            StagedDirectory below = directory;
            source = source.getParent();
            directory =
                known.computeIfAbsent(
                    source, path -> new StagedDirectory(path, below.destination.getParent()));
            if (!directory.subdirectories.add(below.source.getName())) {
              break;
            }
          }
        });
    return new ArrayList<>(known.values());
  }

  /** Where its content is. */
  Path source() {
    return source;
  }

  /** Where its content goes. */
  Path destination() {
    return destination;
  }

  /** Whether files in it were named. */
  boolean hasFiles() {
    return files != null;
  }

  /** How many files in it were named. */
  int count() {
    return files == null ? 0 : files.count();
  }

  /**
   * The number of the file, as {@link CommittedFiles} gives it; -1 if the driver did not name it.
   */
  int find(StoreEntry entry) {
    return entry.isDirectory() || entry.isLink() || files == null ? -1 : files.find(entry.name());
  }

  /** Whether an entry is a directory that leads to files that were named. */
  boolean leadsOn(StoreEntry entry) {
    return entry.isDirectory() && subdirectories.contains(entry.name());
  }

  /** What becomes of a file that was named. */
  FileEntry planned(StoreEntry entry) {
    return FileEntry.between(source, destination, entry.name(), entry.identity());
  }
}
