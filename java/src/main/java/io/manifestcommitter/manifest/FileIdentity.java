// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

/**
 * What proves which file it is, as text: the etag of a store whose renames keep it; on Google Cloud
 * Storage the hash of the content, which a rename keeps, and the generation of the object, which it
 * does not, as {@code COMPOSITE-CRC32C-9ae3af37#1700000000000000}; of a file that is an {@link
 * Upload} still, the etag that it will have, and the upload.
 */
public final class FileIdentity {
  private static final String HASH = "COMPOSITE-CRC32C-";
  private static final char GENERATION = '#';

  private FileIdentity() {}

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
