// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.manifest.Upload;

/** What a task attempt tells of a file that it uploaded, and that the driver may complete. */
final class UploadedFile {
  private final long length;
  private final String etag;

  /**
   * A file.
   *
   * @param length in bytes
   * @param etag with the {@link Upload} in it
   * @throws IllegalArgumentException if there is none in it, or the length is negative
   */
  UploadedFile(long length, String etag) {
    if (length < 0 || !Upload.in(etag).isPresent()) {
      throw new IllegalArgumentException(
          "'" + etag + "' of " + length + " bytes is not a file that was uploaded");
    }
    this.length = length;
    this.etag = etag;
  }

  /** In bytes. */
  long length() {
    return length;
  }

  /** The etag that the file will have, as far as it is known, and the upload. */
  String etag() {
    return etag;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof UploadedFile
        && length == ((UploadedFile) other).length
        && etag.equals(((UploadedFile) other).etag);
  }

  @Override
  public int hashCode() {
    return etag.hashCode();
  }

  @Override
  public String toString() {
    return length + " bytes, " + etag;
  }
}
