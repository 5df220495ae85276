// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.plan;

import io.manifestcommitter.store.StoreEntry;
import java.util.Objects;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/**
 * What renames of a whole directory do to one place in a table. The old content moves aside, if it
 * is to be replaced; the staged directory takes its place, if the job wrote one.
 */
public final class Swap {
  private final Path place;
  private final Path staged;
  private final Path aside;
  private final StoreEntry oldFile;

  private Swap(Path place, Path staged, Path aside, StoreEntry oldFile) {
    this.place = Objects.requireNonNull(place);
    this.staged = staged;
    this.aside = aside;
    this.oldFile = oldFile;
  }

  /** A directory that the table does not have. */
  public static Swap publish(Path place, Path staged) {
    return new Swap(place, Objects.requireNonNull(staged), null, null);
  }

  /** A directory instead of an old one. */
  public static Swap replace(Path place, Path staged, Path aside) {
    return new Swap(place, Objects.requireNonNull(staged), Objects.requireNonNull(aside), null);
  }

  /** An old directory goes, and nothing comes. */
  public static Swap moveAside(Path place, Path aside) {
    return new Swap(place, null, Objects.requireNonNull(aside), null);
  }

  /** The same, where the old content is a file. */
  public Swap ofFile(StoreEntry file) {
    return new Swap(place, staged, aside, Objects.requireNonNull(file));
  }

  /** The place in the table. */
  public Path place() {
    return place;
  }

  /** The directory that is published here, empty if none is. */
  public Optional<Path> staged() {
    return Optional.ofNullable(staged);
  }

  /** Where the old content goes, empty if there is none to replace. */
  public Optional<Path> aside() {
    return Optional.ofNullable(aside);
  }

  /** The old content, if that is a file; else it is a directory. */
  public Optional<StoreEntry> oldFile() {
    return Optional.ofNullable(oldFile);
  }

  @Override
  public String toString() {
    return place
        + (staged == null ? "" : " from " + staged)
        + (aside == null ? "" : ", the old content to " + aside);
  }
}
