package io.manifestcommitter.plan;

import java.util.Set;
import org.apache.hadoop.fs.Path;

/** What stands today at the paths where a plan needs directories. */
public final class ExistingDirectories {
  private final Set<Path> directories;
  private final Set<Path> files;

  /**
   * What was found.
   *
   * @param directories needed directories that exist
   * @param files needed directories where a file stands
   */
  public ExistingDirectories(Set<Path> directories, Set<Path> files) {
    this.directories = Set.copyOf(directories);
    this.files = Set.copyOf(files);
  }

  /** Needed directories that exist. */
  public Set<Path> directories() {
    return directories;
  }

  /** Files that stand where directories are needed. */
  public Set<Path> files() {
    return files;
  }
}
