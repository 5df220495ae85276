// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.plan;

import io.manifestcommitter.store.StorePaths;
import java.util.Objects;
import org.apache.hadoop.fs.Path;

/**
 * A directory tree that a job publishes into, and the staging directory from which alone it may do
 * so.
 */
public final class Target {
  private final Path directory;
  private final Path staging;

  /**
   * A target.
   *
   * @param directory the table, or the custom location of a partition
   * @param staging the job's own tree, below {@code directory}
   * @throws IllegalArgumentException if the staging directory lies elsewhere
   */
  public Target(Path directory, Path staging) {
    this.directory = Objects.requireNonNull(directory);
    this.staging = Objects.requireNonNull(staging);
    if (!StorePaths.isBelow(directory, staging)) {
      throw new IllegalArgumentException(staging + " is not below " + directory);
    }
  }

  /** The table, or the custom location of a partition. */
  public Path directory() {
    return directory;
  }

  /** The job's own tree below the directory. */
  public Path staging() {
    return staging;
  }

  /** Whether the job may rename {@code source} to {@code destination}. */
  boolean allows(Path source, Path destination) {
    return holdsSource(source) && holdsDestination(destination);
  }

  boolean holdsSource(Path source) {
    return StorePaths.isBelow(staging, source);
  }

  /** A destination below the staging directory would be deleted with it. */
  boolean holdsDestination(Path destination) {
    return StorePaths.isBelow(directory, destination)
        && !StorePaths.isSameOrBelow(staging, destination);
  }

  @Override
  public String toString() {
    return directory.toString();
  }
}
