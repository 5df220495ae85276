// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.fs.Path;

/** The output of a job that is staged below one target: the table, or a custom location. */
final class StagedTree {
  final StagingRoot root;

  /** The directory that holds the output. */
  final Path output;

  /** Whether whole directories may be published. */
  final boolean isByDirectory;

  private final Map<Path, Directory> directories = new TreeMap<>();

  /**
   * A sealed tree.
   *
   * @param files directories with files that were named, by their path relative to the target
   */
  StagedTree(
      StagingRoot root,
      Path output,
      boolean isByDirectory,
      NavigableMap<String, CommittedFiles.Directory> files) {
    this.root = root;
    this.output = output;
    this.isByDirectory = isByDirectory;
    files.forEach(this::add);
  }

  /** Adds a directory, and those of all levels that lead to it. */
  private void add(String relative, CommittedFiles.Directory files) {
    Path source = StorePaths.resolve(output, relative);
    Path destination = StorePaths.resolve(root.directory(), relative);
    Directory directory = directory(source, destination);
    directory.files = files;
    while (!source.equals(output)) {
      String name = source.getName();
      source = source.getParent();
      destination = destination.getParent();
      if (!directory(source, destination).subdirectories.add(name)) {
        break;
      }
    }
  }

  private Directory directory(Path source, Path destination) {
    return directories.computeIfAbsent(source, path -> new Directory(path, destination));
  }

  /**
   * The directories to list: all of a tree whose directories may be published as they are, or those
   * with files to rename; the topmost first.
   */
  List<Directory> toList() {
    List<Directory> listed = new ArrayList<>(directories.values());
    listed.removeIf(directory -> !isByDirectory && directory.count() == 0);
    return listed;
  }

  /** The directories of the plan that come from this tree. */
  Set<Path> destinations(Set<Path> planned) {
    Set<Path> destinations = new HashSet<>();
    directories.values().forEach(directory -> destinations.add(directory.destination));
    destinations.retainAll(planned);
    return destinations;
  }

  /** A directory: where its content goes, and what of it the driver named. */
  static final class Directory {
    final Path source;
    private final Path destination;
    private final Set<String> subdirectories = new HashSet<>();

    /** Null where no file in it was named. */
    private CommittedFiles.Directory files;

    private Directory(Path source, Path destination) {
      this.source = source;
      this.destination = destination;
    }

    /** How many files in it were named that are to be renamed. */
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
      return FileEntry.of(Optional.of(source), destination, entry.name(), entry.identity());
    }
  }
}
