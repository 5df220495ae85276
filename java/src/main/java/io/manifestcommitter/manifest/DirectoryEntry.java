// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.util.Objects;
import org.apache.hadoop.fs.Path;

/** One directory that a task's files need at the destination. */
public final class DirectoryEntry {
  private final Path path;
  private final DirectoryState state;
  private final int level;

  /**
   * A directory.
   *
   * @param path where it has to be; absolute
   * @param state what was there
   * @param level how many levels below the table's root, which is 0
   * @throws IllegalArgumentException if the path is relative or has a component that is empty,
   *     {@code .} or {@code ..}, or if the level is negative
   */
  public DirectoryEntry(Path path, DirectoryState state, int level) {
    this.path = PathText.canonical(path);
    this.state = Objects.requireNonNull(state);
    this.level = level;
    if (level < 0) {
      throw new IllegalArgumentException(
          "the directory " + path + " has a negative level " + level);
    }
  }

  /** Where the directory has to be. */
  public Path path() {
    return path;
  }

  /** What the task found there. */
  public DirectoryState state() {
    return state;
  }

  /** How many levels below the table's root. */
  public int level() {
    return level;
  }

  @Override
  public boolean equals(Object o) {
    if (!(o instanceof DirectoryEntry)) {
      return false;
    }
    DirectoryEntry other = (DirectoryEntry) o;
    return level == other.level && state == other.state && path.equals(other.path);
  }

  @Override
  public int hashCode() {
    return Objects.hash(path, state, level);
  }

  @Override
  public String toString() {
    return path + " (" + state + ", level " + level + ")";
  }
}
