package io.manifestcommitter.store;

import io.manifestcommitter.manifest.FileEntry;
import java.util.Objects;
import java.util.function.Supplier;
import org.apache.hadoop.fs.Path;

/**
 * One name in a store: a file or a directory, as a listing or a probe showed it.
 *
 * <p>Etag and modification time are identity, not decoration: a store fills them in only where a
 * rename keeps them, so two entries may be compared without asking which store they come from.
 */
public final class StoreEntry {
  private final Path path;
  private final Kind kind;
  private final long length;
  private final String etag;
  private final long modificationTime;
  private final Supplier<Rights> rights;
  private long lastWritten;

  private StoreEntry(
      Path path,
      Kind kind,
      long length,
      String etag,
      long modificationTime,
      Supplier<Rights> rights) {
    this.path = Objects.requireNonNull(path);
    this.kind = kind;
    this.length = length;
    this.etag = etag == null ? "" : etag;
    this.modificationTime = modificationTime;
    this.rights = rights;
  }

  /**
   * A file.
   *
   * @param length in bytes
   * @param etag empty or null where the store has none that survives a rename
   * @param modificationTime in milliseconds since 1970, 0 where a rename changes it
   */
  public static StoreEntry file(Path path, long length, String etag, long modificationTime) {
    return new StoreEntry(path, Kind.FILE, length, etag, modificationTime, () -> null);
  }

  /**
   * A directory; it has no identity beyond its name.
   *
   * @param rights asked for when somebody wants to know
   */
  static StoreEntry directory(Path path, Supplier<Rights> rights) {
    return new StoreEntry(path, Kind.DIRECTORY, 0, "", 0, Objects.requireNonNull(rights));
  }

  /** A symbolic link in a staging tree, which nobody follows there; it is the same as no file. */
  static StoreEntry link(Path path) {
    return new StoreEntry(path, Kind.LINK, 0, "", 0, () -> null);
  }

  /** The full path, with scheme and authority. */
  public Path path() {
    return path;
  }

  /** The last component of the path. */
  public String name() {
    return path.getName();
  }

  /** Whether this is a directory; everything else counts as a file. */
  public boolean isDirectory() {
    return kind == Kind.DIRECTORY;
  }

  /** Whether this is a symbolic link in a staging tree: one outside is what it leads to. */
  public boolean isLink() {
    return kind == Kind.LINK;
  }

  /** The length in bytes. */
  public long length() {
    return length;
  }

  /** The etag, empty where there is none that survives a rename. */
  public String etag() {
    return etag;
  }

  /** The modification time in milliseconds since 1970, 0 where it does not survive a rename. */
  public long modificationTime() {
    return modificationTime;
  }

  /**
   * When the store says that it was last written, by its own clock and in milliseconds since 1970;
   * 0 if it does not. No identity: a rename may change it.
   */
  public long lastWritten() {
    return lastWritten;
  }

  /** Notes what the store says, once, before anybody else has the entry. */
  StoreEntry lastWritten(long time) {
    lastWritten = time;
    return this;
  }

  /**
   * What new entries of a directory inherit.
   *
   * @throws IllegalStateException for a file
   */
  public Rights rights() {
    if (!isDirectory()) {
      throw new IllegalStateException(path + " is a file");
    }
    return rights.get();
  }

  /** Whether this is, as far as the store can tell, the file that {@code planned} describes. */
  public boolean isSameFileAs(FileEntry planned) {
    return sameIdentity(planned.size(), planned.etag(), planned.modificationTime());
  }

  /** Whether {@code other} is the same unchanged file as this, under whatever name. */
  public boolean isSameFileAs(StoreEntry other) {
    return other.kind == Kind.FILE
        && sameIdentity(other.length, other.etag, other.modificationTime);
  }

  private boolean sameIdentity(long otherLength, String otherEtag, long otherTime) {
    if (kind != Kind.FILE || length != otherLength) {
      return false;
    }
    if (!etag.isEmpty() && !otherEtag.isEmpty() && !etag.equals(otherEtag)) {
      return false;
    }
    return modificationTime == 0 || otherTime == 0 || modificationTime == otherTime;
  }

  @Override
  public String toString() {
    switch (kind) {
      case DIRECTORY:
        return path + "/";
      case LINK:
        return path + " (a symbolic link)";
      default:
        return path + " (" + length + " bytes)";
    }
  }

  private enum Kind {
    FILE,
    DIRECTORY,
    LINK
  }
}
