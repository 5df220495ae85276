// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import io.manifestcommitter.manifest.FileIdentity.Upload;
import java.util.Objects;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/**
 * One file of a task's work: where it goes, and by what it is recognised. It lies somewhere, to be
 * renamed; it is an upload, to be completed; or it is linked, to be merged. Directories and names
 * are kept apart, and a path is made when it is asked for: of many files most are never asked for
 * theirs.
 */
public final class FileEntry {
  /** Empty for an upload and for what is linked, which lie nowhere. */
  private final Optional<Path> sourceDirectory;

  private final String sourceName;
  private final Path destinationDirectory;
  private final String name;
  private final FileIdentity identity;
  private Path source;
  private Path destination;

  /**
   * A file to rename.
   *
   * @param source where the task left it; absolute
   * @param destination where the job's commit puts it; absolute
   * @param size in bytes
   * @param etag null or empty where the store has none
   * @param modificationTime in milliseconds since 1970, 0 where it is unknown
   * @throws IllegalArgumentException if a path is relative, is a root, or has a component that is
   *     empty, {@code .} or {@code ..}, or if a number is negative
   */
  public FileEntry(Path source, Path destination, long size, String etag, long modificationTime) {
    this(source, destination, new FileIdentity(size, etag, modificationTime));
  }

  /** As above, a file of an identity that is known. */
  public FileEntry(Path source, Path destination, FileIdentity identity) {
    this.source = PathText.canonicalFile(source);
    this.destination = PathText.canonicalFile(destination);
    this.sourceDirectory = Optional.of(this.source.getParent());
    this.sourceName = this.source.getName();
    this.destinationDirectory = this.destination.getParent();
    this.name = this.destination.getName();
    this.identity = identity;
    requireWritable();
  }

  /** Of directories and names that were checked before. */
  FileEntry(
      Optional<Path> sourceDirectory,
      String sourceName,
      Path destinationDirectory,
      String name,
      FileIdentity identity) {
    this.sourceDirectory = sourceDirectory;
    this.sourceName = sourceName;
    this.destinationDirectory = destinationDirectory;
    this.name = name;
    this.identity = identity;
  }

  /**
   * An upload to complete: as {@link #of}, without a source.
   *
   * @param identity with the upload
   */
  public static FileEntry uploaded(Path destination, String name, FileIdentity identity) {
    return of(Optional.empty(), destination, name, identity);
  }

  /**
   * A file that is linked to a branch, from which a merge makes it visible.
   *
   * @param identity with the checksum under which it is linked
   */
  public static FileEntry linked(Path destination, String name, FileIdentity identity) {
    return checked(Optional.empty(), destination, name, identity);
  }

  /**
   * A file to rename to the same name in another directory, or an upload to complete.
   *
   * @param source the directory where the task left it, as {@link PathText} has it in one form;
   *     empty for an upload
   * @param destination the directory where the job's commit puts it, as well
   * @throws IllegalArgumentException if the name or the upload is none, or a number is negative
   */
  public static FileEntry of(
      Optional<Path> source, Path destination, String name, FileIdentity identity) {
    FileEntry file = checked(source, destination, name, identity);
    if (!source.isPresent() && !file.upload().isPresent()) {
      throw file.neitherOrBoth();
    }
    return file;
  }

  private static FileEntry checked(
      Optional<Path> source, Path destination, String name, FileIdentity identity) {
    if (name.indexOf('/') >= 0 || PathText.hasDotSegment(name)) {
      throw new IllegalArgumentException("'" + name + "' is not a file's name");
    }
    PathText.requireWellFormed(name);
    FileEntry file = new FileEntry(source, name, destination, name, identity);
    file.requireWritable();
    return file;
  }

  private void requireWritable() {
    PathText.requireWellFormed(etag());
    if (size() < 0 || modificationTime() < 0) {
      throw new IllegalArgumentException(
          "the file "
              + destination()
              + " has size "
              + size()
              + " and modification time "
              + modificationTime()
              + "; neither can be negative");
    }
    if (upload().isPresent() && sourceDirectory.isPresent()) {
      throw neitherOrBoth();
    }
  }

  private IllegalArgumentException neitherOrBoth() {
    return new IllegalArgumentException(
        "the file " + destination() + " needs either a source or an upload");
  }

  /**
   * Where the task left the file.
   *
   * @throws java.util.NoSuchElementException of an upload, and of what is linked
   */
  public Path source() {
    if (source == null) {
      source = PathText.child(sourceDirectory.orElseThrow(), sourceName);
    }
    return source;
  }

  /** For messages: where the task left it, or that it was uploaded or linked. */
  public String origin() {
    if (isUpload()) {
      return "an upload";
    }
    return sourceDirectory.isPresent() ? source().toString() : "a linked file";
  }

  public Path destination() {
    if (destination == null) {
      destination = PathText.child(destinationDirectory, name);
    }
    return destination;
  }

  /** Where the task left the file; empty for an upload, and for what is linked. */
  public Optional<Path> sourceDirectory() {
    return sourceDirectory;
  }

  public Path destinationDirectory() {
    return destinationDirectory;
  }

  public String sourceName() {
    return sourceName;
  }

  public String name() {
    return name;
  }

  public FileIdentity identity() {
    return identity;
  }

  /** The length in bytes. */
  public long size() {
    return identity.length;
  }

  /** Whether the file is an upload to be completed. */
  public boolean isUpload() {
    return !sourceDirectory.isPresent() && Upload.isIn(etag());
  }

  /** The upload, where the file is one to be completed; else empty. */
  public Optional<Upload> upload() {
    return Upload.in(etag());
  }

  /** The etag, empty where it is unknown. */
  public String etag() {
    return identity.etag;
  }

  /** The modification time in milliseconds since 1970, 0 where it is unknown. */
  public long modificationTime() {
    return identity.modificationTime;
  }

  @Override
  public boolean equals(Object o) {
    if (!(o instanceof FileEntry)) {
      return false;
    }
    FileEntry other = (FileEntry) o;
    return identity.equals(other.identity)
        && sourceDirectory.equals(other.sourceDirectory)
        && sourceName.equals(other.sourceName)
        && destination().equals(other.destination());
  }

  @Override
  public int hashCode() {
    return Objects.hash(sourceDirectory, destination(), identity);
  }

  @Override
  public String toString() {
    return origin() + " -> " + destination() + " (" + size() + " bytes)";
  }
}
