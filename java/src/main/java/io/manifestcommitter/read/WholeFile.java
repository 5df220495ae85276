// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.read;

import java.util.Objects;
import org.apache.hadoop.fs.Path;

/** A file of a table: where it belongs, which tells its partition, and where it can be read. */
public final class WholeFile {
  private final Path place;
  private final Path at;
  private final long length;
  private final long lastWritten;

  /**
   * A file.
   *
   * @param place in the table
   * @param at the same, or where a job keeps it for now
   * @param length in bytes
   * @param lastWritten in milliseconds since 1970, 0 if that is not known
   */
  public WholeFile(Path place, Path at, long length, long lastWritten) {
    this.place = Objects.requireNonNull(place);
    this.at = Objects.requireNonNull(at);
    this.length = length;
    this.lastWritten = lastWritten;
  }

  /** Where it belongs in the table. */
  public Path place() {
    return place;
  }

  /** Where it can be read. */
  public Path at() {
    return at;
  }

  /** In bytes. */
  public long length() {
    return length;
  }

  /** When it was last written, in milliseconds since 1970; 0 if that is not known. */
  public long lastWritten() {
    return lastWritten;
  }

  @Override
  public String toString() {
    return place.equals(at) ? place.toString() : place + ", now at " + at;
  }
}
