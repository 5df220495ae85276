// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.plan;

import io.manifestcommitter.store.StoreEntry;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.fs.Path;

/** What stands today at the paths where a plan needs directories. */
public final class ExistingDirectories {
  private final Set<Path> directories;
  private final Set<Path> files;
  private final Map<Path, StoreEntry> entries;

  /** What was found, of which nothing more was seen. */
  public ExistingDirectories(Set<Path> directories, Set<Path> files) {
    this(directories, files, Map.of());
  }

  /**
   * What was found.
   *
   * @param directories needed directories that exist
   * @param files needed directories where a file stands
   * @param entries of directories by path, as far as they were seen
   */
  public ExistingDirectories(
      Set<Path> directories, Set<Path> files, Map<Path, StoreEntry> entries) {
    this.directories = Set.copyOf(directories);
    this.files = Set.copyOf(files);
    this.entries = Map.copyOf(entries);
  }

  /**
   * The same, and the directories that hold old data: another job may have made one of them between
   * the two looks.
   */
  public ExistingDirectories with(Collection<OldDirectory> old) {
    Set<Path> all = new HashSet<>(directories);
    for (OldDirectory directory : old) {
      for (Path path = directory.path(); path != null && all.add(path); path = path.getParent()) {}
    }
    return new ExistingDirectories(all, files, entries);
  }

  /** The same, and what was seen of more directories. */
  public ExistingDirectories withEntries(Map<Path, StoreEntry> more) {
    Map<Path, StoreEntry> all = new HashMap<>(entries);
    all.putAll(more);
    return new ExistingDirectories(directories, files, all);
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
