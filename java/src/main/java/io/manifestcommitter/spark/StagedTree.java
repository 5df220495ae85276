// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.layout.StagingRoot;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import org.apache.hadoop.fs.Path;

/** The output of a job that is staged below one target: the table, or a custom location. */
final class StagedTree {
  private final StagingRoot root;
  private final Path output;
  private final boolean isByDirectory;
  private final boolean isUploaded;
  private final List<StagedDirectory> directories;

  /**
   * A sealed tree.
   *
   * @param output the directory that holds the output
   * @param isByDirectory whether whole directories may be published
   * @param isUploaded whether its files are uploads, and nothing is in it
   * @param directories those with files, by their path relative to the target
   */
  StagedTree(
      StagingRoot root,
      Path output,
      boolean isByDirectory,
      boolean isUploaded,
      NavigableMap<String, CommittedFiles.Directory> directories) {
    this.root = root;
    this.output = output;
    this.isByDirectory = isByDirectory;
    this.isUploaded = isUploaded;
    this.directories = StagedDirectory.tree(output, root.directory(), directories);
  }

  StagingRoot root() {
    return root;
  }

  /** The table or location. */
  Path target() {
    return root.directory();
  }

  Path output() {
    return output;
  }

  /** Whether whole directories of it may be published. */
  boolean isByDirectory() {
    return isByDirectory;
  }

  /**
   * The directories to list: all of a tree whose directories may be published as they are, and none
   * where there are uploads in their place.
   */
  List<StagedDirectory> toList() {
    if (isUploaded) {
      return List.of();
    }
    List<StagedDirectory> listed = new ArrayList<>(directories);
    listed.removeIf(directory -> !isByDirectory && !directory.hasFiles());
    return listed;
  }

  /** The directories of the plan that come from this tree. */
  Set<Path> destinations(Set<Path> planned) {
    Set<Path> destinations = new HashSet<>();
    directories.forEach(directory -> destinations.add(directory.destination()));
    destinations.retainAll(planned);
    return destinations;
  }
}
