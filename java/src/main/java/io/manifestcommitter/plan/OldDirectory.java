// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.plan;

import io.manifestcommitter.store.StoreEntry;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/**
 * One directory whose files an overwrite replaces, as it stood when the plan was made. Symbolic
 * links in it are files: what they lead to is not replaced. A link in the place of the directory is
 * its only file.
 */
public final class OldDirectory {
  private final Path path;
  private final List<StoreEntry> files;
  private final boolean holdsStaging;
  private final StoreEntry entry;

  /** A directory and the files directly in it. */
  public OldDirectory(Path path, List<StoreEntry> files) {
    this(path, files, false, null);
  }

  /**
   * A directory and the files directly in it.
   *
   * @param holdsStaging whether jobs keep their staging trees directly in it
   * @param entry the directory as the store shows it, null if it was not seen
   */
  public OldDirectory(Path path, List<StoreEntry> files, boolean holdsStaging, StoreEntry entry) {
    this.path = Objects.requireNonNull(path);
    this.files = List.copyOf(files);
    this.holdsStaging = holdsStaging;
    this.entry = entry;
  }

  /** The directory. */
  public Path path() {
    return path;
  }

  /** The symbolic link that is in the place of the directory, if there is one. */
  public Optional<StoreEntry> link() {
    return files.stream().filter(file -> file.path().equals(path) && file.isLink()).findFirst();
  }

  /** The files directly in it, with their identity. */
  public List<StoreEntry> files() {
    return files;
  }

  /** The directory as the store shows it, if it was seen. */
  public Optional<StoreEntry> entry() {
    return Optional.ofNullable(entry);
  }

  /** Whether jobs keep their staging trees directly in it, which have to stay where they are. */
  public boolean holdsStaging() {
    return holdsStaging;
  }
}
