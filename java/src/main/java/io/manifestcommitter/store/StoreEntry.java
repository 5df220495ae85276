// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileIdentity;
import java.util.Objects;
import java.util.function.Supplier;
import org.apache.hadoop.fs.Path;

/**
 * One name in a store: a file or a directory, as a listing or a probe showed it.
 *
 * <p>Etag and modification time are there only where a rename keeps them: see {@link FileIdentity}.
 */
public final class StoreEntry {
  /** Of what is no file. */
  private static final FileIdentity NO_IDENTITY = new FileIdentity(0, "", 0);

  private final Path directory;
  private final String name;
  private final Kind kind;
  private final FileIdentity identity;
  private final Supplier<Rights> rights;
  private boolean isLink;
  private long lastWritten;
  private boolean isOwn;

  /** Made when it is asked for, of an entry that is known by its directory and name. */
  private volatile Path path;

  private StoreEntry(Path path, Kind kind, FileIdentity identity, Supplier<Rights> rights) {
    this(null, path.getName(), kind, identity, rights);
    this.path = path;
  }

  private StoreEntry(
      Path directory, String name, Kind kind, FileIdentity identity, Supplier<Rights> rights) {
    this.directory = directory;
    this.name = Objects.requireNonNull(name);
    this.kind = kind;
    this.identity = identity;
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
    return file(path, new FileIdentity(length, etag, modificationTime));
  }

  /** As above, a file of an identity that is known. */
  public static StoreEntry file(Path path, FileIdentity identity) {
    return new StoreEntry(path, Kind.FILE, identity, () -> null);
  }

  /** A file in a directory; its path is made when it is asked for. */
  public static StoreEntry fileIn(Path directory, String name, FileIdentity identity) {
    return new StoreEntry(Objects.requireNonNull(directory), name, Kind.FILE, identity, () -> null);
  }

  /**
   * A directory; it has no identity beyond its name.
   *
   * @param rights asked for when somebody wants to know
   */
  static StoreEntry directory(Path path, Supplier<Rights> rights) {
    return new StoreEntry(path, Kind.DIRECTORY, NO_IDENTITY, Objects.requireNonNull(rights));
  }

  /**
   * A symbolic link itself, which is not followed: in a staging directory, or because it leads to
   * nothing. It is never the same as a file.
   */
  static StoreEntry link(Path path) {
    return new StoreEntry(path, Kind.LINK, NO_IDENTITY, () -> null).behindLink(true);
  }

  /** The full path, with scheme and authority. */
  public Path path() {
    Path known = path;
    if (known == null) {
      known = StorePaths.resolve(directory, name);
      path = known;
    }
    return known;
  }

  /** The last component of the path. */
  public String name() {
    return name;
  }

  /** Whether this is a directory; everything else counts as a file. */
  public boolean isDirectory() {
    return kind == Kind.DIRECTORY;
  }

  /**
   * Whether there is a symbolic link at this path. One in a staging directory, or one that leads to
   * nothing, is not followed; any other is shown as what it leads to.
   */
  public boolean isLink() {
    return isLink;
  }

  /** By what the file is recognised. */
  public FileIdentity identity() {
    return identity;
  }

  /** The length in bytes. */
  public long length() {
    return identity.length;
  }

  /** The etag, empty where there is none that survives a rename. */
  public String etag() {
    return identity.etag;
  }

  /** The modification time in milliseconds since 1970, 0 where it does not survive a rename. */
  public long modificationTime() {
    return identity.modificationTime;
  }

  /**
   * When the store says that it was last written, by its own clock and in milliseconds since 1970;
   * 0 if it does not. No identity: a rename may change it.
   */
  public long lastWritten() {
    return lastWritten;
  }

  /** Notes what the store says, once, before anybody else has the entry. */
  public StoreEntry lastWritten(long time) {
    lastWritten = time;
    return this;
  }

  /**
   * Whether the store says that this process's user owns it; false where it belongs to somebody
   * else, and where that is not known.
   */
  public boolean isOwn() {
    return isOwn;
  }

  /** Notes that this process's user owns it, once, before anybody else has the entry. */
  StoreEntry own() {
    isOwn = true;
    return this;
  }

  /** Notes whether there is a symbolic link at this path, once, before anybody else has it. */
  StoreEntry behindLink(boolean isBehindLink) {
    isLink = isBehindLink;
    return this;
  }

  /** This file as one that is, or is to be, renamed to {@code destination}. */
  public FileEntry movedTo(Path destination) {
    return new FileEntry(path(), destination, identity);
  }

  /**
   * What new entries of a directory inherit.
   *
   * @throws IllegalStateException for a file
   */
  public Rights rights() {
    if (!isDirectory()) {
      throw new IllegalStateException(path() + " is a file");
    }
    return rights.get();
  }

  /** Whether this is, as far as the store can tell, the file that {@code planned} describes. */
  public boolean isSameFileAs(FileEntry planned) {
    return kind == Kind.FILE && identity.isOfSameFileAs(planned.identity());
  }

  /** Whether {@code other} is the same unchanged file as this, under whatever name. */
  public boolean isSameFileAs(StoreEntry other) {
    return kind == Kind.FILE && other.kind == Kind.FILE && identity.isOfSameFileAs(other.identity);
  }

  /**
   * Whether this is the same unchanged file as {@code other}, which nobody renamed since either was
   * seen. Where there is no etag to compare, the time at which a file was last written tells one
   * that another program wrote under the same name, with the same length.
   */
  public boolean isUntouchedSince(StoreEntry other) {
    boolean hasEtags = !etag().isEmpty() && !other.etag().isEmpty();
    boolean isOfOneTime =
        lastWritten == 0 || other.lastWritten == 0 || lastWritten == other.lastWritten;
    return isSameFileAs(other) && (hasEtags || isOfOneTime);
  }

  @Override
  public String toString() {
    switch (kind) {
      case DIRECTORY:
        return path() + "/";
      case LINK:
        return path() + " (a symbolic link)";
      default:
        return path() + " (" + length() + " bytes)";
    }
  }

  private enum Kind {
    FILE,
    DIRECTORY,
    LINK
  }
}
