// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileIdentity;
import io.manifestcommitter.manifest.FileIdentity.Upload;
import io.manifestcommitter.manifest.PathText;
import io.manifestcommitter.store.StorePaths;
import java.util.Comparator;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/**
 * A file that a task attempt staged, by where it goes, in one of three forms. It is in the staging
 * directory, to be renamed; it is an upload, to be completed; or it is linked to the job's branch
 * in lakeFS, to be merged. Files are in order by place alone.
 */
final class StagedFile implements Comparable<StagedFile> {
  /** The location of files that go to the table itself. */
  static final String TABLE = "";

  private static final Comparator<StagedFile> BY_PLACE =
      Comparator.<StagedFile, String>comparing(file -> file.location)
          .thenComparing(file -> file.directory)
          .thenComparing(file -> file.name);

  /** {@link #TABLE}, or the path of a custom location. */
  final String location;

  /** Relative to the location; empty for the location itself. */
  final String directory;

  final String name;

  final Form form;

  /**
   * Length and etag, that of an upload with the {@link Upload} in it; empty for one to be renamed.
   */
  final Optional<FileIdentity> identity;

  /**
   * A file to be renamed.
   *
   * @throws IllegalArgumentException for a directory or name that would lead anywhere else, or a
   *     location that is none
   */
  StagedFile(String location, String directory, String name) {
    this(
        requireLocation(location),
        requireDirectory(directory),
        name,
        Form.TO_RENAME,
        Optional.empty());
  }

  private StagedFile(
      String location, String directory, String name, Form form, Optional<FileIdentity> identity) {
    if (name.indexOf('/') >= 0 || PathText.hasDotSegment(name)) {
      throw new IllegalArgumentException("'" + name + "' is not a file's name");
    }
    this.location = location;
    this.directory = directory;
    this.name = name;
    this.form = form;
    this.identity = identity;
  }

  /** Another file in the same directory. */
  StagedFile next(String otherName) {
    return new StagedFile(location, directory, otherName, Form.TO_RENAME, Optional.empty());
  }

  /**
   * This file as one that is uploaded, or linked to the job's branch.
   *
   * @param etag has the upload in it; or the checksum under which a file of the table is linked
   * @throws IllegalArgumentException if it is no such file
   */
  StagedFile as(Form other, long length, String etag) {
    boolean isComplete = Upload.in(etag).isPresent() == (other == Form.TO_COMPLETE);
    boolean isElsewhere = other == Form.TO_MERGE && !location.equals(TABLE);
    if (length < 0 || etag.isEmpty() || !isComplete || isElsewhere) {
      throw new IllegalArgumentException(
          this + ", '" + etag + "' of " + length + " bytes, is not a file " + other);
    }
    return new StagedFile(
        location, directory, name, other, Optional.of(new FileIdentity(length, etag, 0)));
  }

  /** This file, at a location that is called by another name of its store. */
  StagedFile at(String calledLocation) {
    return new StagedFile(calledLocation, directory, name, form, identity);
  }

  /**
   * This file as one that is published from where the task put it.
   *
   * @param destination the directory it goes to
   * @throws java.util.NoSuchElementException of one to be renamed
   */
  FileEntry entry(Path destination) {
    return form == Form.TO_MERGE
        ? FileEntry.linked(destination, name, identity.orElseThrow())
        : FileEntry.uploaded(destination, name, identity.orElseThrow());
  }

  /** Its path, where the root is that of the location or a staging directory there. */
  Path in(Path root) {
    return StorePaths.resolve(StorePaths.resolve(root, directory), name);
  }

  boolean isBeside(String otherLocation, String otherDirectory) {
    return location.equals(otherLocation) && directory.equals(otherDirectory);
  }

  @Override
  public int compareTo(StagedFile other) {
    return BY_PLACE.compare(this, other);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof StagedFile && compareTo((StagedFile) other) == 0;
  }

  @Override
  public int hashCode() {
    return name.hashCode();
  }

  @Override
  public String toString() {
    String within = directory.isEmpty() ? name : directory + "/" + name;
    return location.equals(TABLE) ? within : location + "/" + within;
  }

  private static String requireLocation(String location) {
    if (!location.equals(TABLE)) {
      Path path = new Path(location);
      String text = path.toUri().getPath();
      if (path.toUri().getScheme() == null
          || !path.toString().equals(location)
          || !text.startsWith("/")
          || (text.length() > 1 && PathText.hasDotSegment(text.substring(1)))) {
        throw new IllegalArgumentException("'" + location + "' is not a location's path");
      }
    }
    return location;
  }

  private static String requireDirectory(String directory) {
    if (!directory.isEmpty() && PathText.hasDotSegment(directory)) {
      throw new IllegalArgumentException("'" + directory + "' is not a relative directory");
    }
    return directory;
  }

  /** What the commit of the job does with a file. */
  enum Form {
    TO_RENAME,
    TO_COMPLETE,
    TO_MERGE
  }
}
