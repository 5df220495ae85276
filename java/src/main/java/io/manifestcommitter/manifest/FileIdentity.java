// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.util.Objects;

/**
 * What identifies a file: its length, its etag, and when it was last modified. Etag and time are
 * there only where a rename keeps them, so two identities may be compared without asking which
 * store they come from.
 *
 * <p>The etag is that of a store whose renames keep it. On Google Cloud Storage it is the hash of
 * the content, which a rename keeps, and the generation of the object, which it does not, as {@code
 * COMPOSITE-CRC32C-9ae3af37#1700000000000000}. For a file that is still an {@link Upload}, it is
 * the etag that the file will have, and the upload.
 */
public final class FileIdentity {
  private static final String HASH = "COMPOSITE-CRC32C-";
  private static final char GENERATION = '#';

  private final long length;
  private final String etag;
  private final long modificationTime;

  /**
   * An identity.
   *
   * @param length in bytes
   * @param etag null or empty where the store has none that survives a rename
   * @param modificationTime in milliseconds since 1970, 0 where a rename changes it
   */
  public FileIdentity(long length, String etag, long modificationTime) {
    this.length = length;
    this.etag = etag == null ? "" : etag;
    this.modificationTime = modificationTime;
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

  /** Whether this is, as far as the store can tell, the identity of the same file as another. */
  public boolean isOfSameFileAs(FileIdentity other) {
    boolean hasEtags = !kept(etag).isEmpty() && !kept(other.etag).isEmpty();
    boolean hasTimes = modificationTime != 0 && other.modificationTime != 0;
    return length == other.length
        && (!hasEtags || isKept(etag, other.etag))
        && (!hasTimes || modificationTime == other.modificationTime);
  }

  @Override
  public boolean equals(Object o) {
    if (!(o instanceof FileIdentity)) {
      return false;
    }
    FileIdentity other = (FileIdentity) o;
    return length == other.length
        && modificationTime == other.modificationTime
        && etag.equals(other.etag);
  }

  @Override
  public int hashCode() {
    return Objects.hash(length, etag, modificationTime);
  }

  /**
   * Of an object.
   *
   * @param crc32c of its content, as a hexadecimal number
   * @param generation 0 if it is not known
   */
  public static String ofObject(String crc32c, long generation) {
    return HASH + crc32c + (generation == 0 ? "" : GENERATION + Long.toString(generation));
  }

  /** What of an etag is the same once the file is published. */
  public static String kept(String etag) {
    int end = generationAt(etag);
    return end < 0 ? Upload.without(etag) : etag.substring(0, end);
  }

  /** Whether two etags may be those of one file, published or not. */
  public static boolean isKept(String etag, String other) {
    return etag.equals(other) || kept(etag).equals(kept(other));
  }

  /**
   * The generation of the object.
   *
   * @return 0 if the etag has none
   */
  public static long generation(String etag) {
    int end = generationAt(etag);
    try {
      return end < 0 ? 0 : Long.parseLong(etag.substring(end + 1));
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  private static int generationAt(String etag) {
    return etag.startsWith(HASH) ? etag.indexOf(GENERATION, HASH.length()) : -1;
  }
}
