package io.manifestcommitter.manifest;

import java.util.Objects;
import org.apache.hadoop.fs.Path;

/** One file of a task's work: where it lies, where it goes, and by what it is recognised. */
public final class FileEntry {
  private final Path source;
  private final Path destination;
  private final long size;
  private final String etag;
  private final long modificationTime;

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
    this.source = PathText.canonicalFile(source);
    this.destination = PathText.canonicalFile(destination);
    this.size = size;
    this.etag = etag == null ? "" : Text.requireWellFormed(etag);
    this.modificationTime = modificationTime;
    if (size < 0 || modificationTime < 0) {
      throw new IllegalArgumentException(
          "the file "
              + source
              + " has size "
              + size
              + " and modification time "
              + modificationTime
              + "; neither can be negative");
    }
  }

  /** Where the task left the file. */
  public Path source() {
    return source;
  }

  /** Where the file goes. */
  public Path destination() {
    return destination;
  }

  /** The length in bytes. */
  public long size() {
    return size;
  }

  /** The etag, empty where it is unknown. */
  public String etag() {
    return etag;
  }

  /** The modification time in milliseconds since 1970, 0 where it is unknown. */
  public long modificationTime() {
    return modificationTime;
  }

  @Override
  public boolean equals(Object o) {
    if (!(o instanceof FileEntry)) {
      return false;
    }
    FileEntry other = (FileEntry) o;
    return size == other.size
        && modificationTime == other.modificationTime
        && etag.equals(other.etag)
        && source.equals(other.source)
        && destination.equals(other.destination);
  }

  @Override
  public int hashCode() {
    return Objects.hash(source, destination, size, etag, modificationTime);
  }

  @Override
  public String toString() {
    return source + " -> " + destination + " (" + size + " bytes)";
  }
}
