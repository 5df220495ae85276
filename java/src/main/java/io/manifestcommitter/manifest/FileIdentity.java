// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;

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

  public final long length;

  /** The etag, empty where there is none that survives a rename. */
  public final String etag;

  /** The modification time in milliseconds since 1970, 0 where it does not survive a rename. */
  public final long modificationTime;

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

  /** Whether this is, as far as the store can tell, the identity of the same file as another. */
  public boolean isOfSameFileAs(FileIdentity other) {
    boolean hasEtags = !kept(etag).isEmpty() && !kept(other.etag).isEmpty();
    boolean hasTimes = modificationTime != 0 && other.modificationTime != 0;
    return length == other.length
        && (!hasEtags || kept(etag).equals(kept(other.etag)))
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

  /**
   * A multipart upload that waits to be completed: invisible until then. It travels as text in the
   * etag of a file, after the etag that the file will have, as {@code
   * 9a0e...-1#upload=<id>#<part>,<part>}. The id is URL-encoded. A part has one URL-encoded text,
   * or three with colons between; what they say is known where it is uploaded and completed.
   */
  public static final class Upload {
    private static final String MARK = "#upload=";
    private static final Pattern PART = Pattern.compile("[\\w.*+%-]*(:[\\w.*+%-]+:[\\w.*+%-]*)?");

    public final String id;
    public final List<String> parts;

    /**
     * An upload, with its parts in their order.
     *
     * @throws IllegalArgumentException if it has no id or no part, or a part is none
     */
    public Upload(String id, List<String> parts) {
      if (id.isEmpty() || parts.isEmpty()) {
        throw new IllegalArgumentException("an upload has an id and a part at least");
      }
      for (String part : parts) {
        if (!PART.matcher(part).matches()) {
          throw new IllegalArgumentException("'" + part + "' is not a part of an upload");
        }
      }
      this.id = id;
      this.parts = List.copyOf(parts);
    }

    /**
     * The upload in the etag of a file; empty if there is none.
     *
     * @throws IllegalArgumentException if it is damaged
     */
    public static Optional<Upload> in(String etag) {
      int end = etag.indexOf(MARK);
      if (end < 0) {
        return Optional.empty();
      }
      String[] fields = etag.substring(end + MARK.length()).split("#", -1);
      if (fields.length != 2) {
        throw new IllegalArgumentException("'" + etag + "' is not an upload");
      }
      String id = URLDecoder.decode(fields[0], StandardCharsets.UTF_8);
      return Optional.of(new Upload(id, List.of(fields[1].split(",", -1))));
    }

    /** Whether there is an upload in an etag, be it damaged. */
    static boolean isIn(String etag) {
      return etag.contains(MARK);
    }

    /** What of the etag of a file is not the upload; all of it if there is none. */
    static String without(String etag) {
      int end = etag.indexOf(MARK);
      return end < 0 ? etag : etag.substring(0, end);
    }

    /**
     * This upload as text, with the etag of the file that it becomes.
     *
     * @param etag empty where it is not known before
     */
    public String toEtag(String etag) {
      return etag
          + MARK
          + URLEncoder.encode(id, StandardCharsets.UTF_8)
          + "#"
          + String.join(",", parts);
    }
  }
}
