package io.manifestcommitter.plan;

import io.manifestcommitter.store.StoreEntry;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.fs.Path;

/** What stands today at the paths where a plan needs directories. */
public final class ExistingDirectories {
  private final Set<Path> directories;
  private final Set<Path> files;
  private final Map<Path, StoreEntry> entries;

  /**
   * What was found.
   *
   * @param directories needed directories that exist
   * @param files needed directories where a file stands
   */
  public ExistingDirectories(Set<Path> directories, Set<Path> files) {
    this(directories, files, Map.of());
  }

  /**
   * What was found.
   *
   * @param directories needed directories that exist
   * @param files needed directories where a file stands
   * @param entries of directories, by path, as far as they were seen
   */
  public ExistingDirectories(
      Set<Path> directories, Set<Path> files, Map<Path, StoreEntry> entries) {
    this.directories = Set.copyOf(directories);
    this.files = Set.copyOf(files);
    this.entries = Map.copyOf(entries);
  }

  /** Needed directories that exist. */
  public Set<Path> directories() {
    return directories;
  }

  /** Files that stand where directories are needed. */
  public Set<Path> files() {
    return files;
  }

  /** A needed directory that exists, as the store shows it. */
  public Optional<StoreEntry> entry(Path directory) {
    return Optional.ofNullable(entries.get(directory));
  }
}
