// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

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

  /**
   * A multipart upload that waits to be completed: invisible until then. It travels as text in the
   * etag of a file, after the etag that the file will have, as {@code
   * 9a0e...-1#upload=<id>#<etag>,<etag>}. A part that has a checksum has it after its etag, {@code
   * <etag>:<algorithm>:<checksum>}. Id, etags and checksums are URL-encoded.
   */
  public static final class Upload {
    private static final String MARK = "#upload=";

    private final String id;
    private final List<Part> parts;

    /** An upload, with its parts in their order. */
    public Upload(String id, List<Part> parts) {
      if (id.isEmpty() || parts.isEmpty()) {
        throw new IllegalArgumentException("an upload has an id and a part at least");
      }
      this.id = id;
      this.parts = List.copyOf(parts);
    }

    /** One part, as the store answered it. */
    public static final class Part {
      private final String etag;
      private final String algorithm;
      private final String checksum;

      /** A part; algorithm and checksum are empty where the store keeps none. */
      public Part(String etag, String algorithm, String checksum) {
        this.etag = etag;
        this.algorithm = algorithm;
        this.checksum = checksum;
      }

      /** As the store gave it, perhaps in quotes. */
      public String etag() {
        return etag;
      }

      public String algorithm() {
        return algorithm;
      }

      public String checksum() {
        return checksum;
      }

      private String text() {
        return algorithm.isEmpty()
            ? encoded(etag)
            : encoded(etag) + ":" + encoded(algorithm) + ":" + encoded(checksum);
      }

      private static Part of(String text) {
        String[] fields = text.split(":", -1);
        if (fields.length != 1 && fields.length != 3) {
          throw new IllegalArgumentException("'" + text + "' is not a part of an upload");
        }
        return fields.length == 1
            ? new Part(decoded(text), "", "")
            : new Part(decoded(fields[0]), decoded(fields[1]), decoded(fields[2]));
      }
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
      List<Part> parts = new ArrayList<>();
      for (String part : fields[1].split(",", -1)) {
        parts.add(Part.of(part));
      }
      return Optional.of(new Upload(decoded(fields[0]), parts));
    }

    /** What of the etag of a file is not the upload; all of it if there is none. */
    static String without(String etag) {
      int end = etag.indexOf(MARK);
      return end < 0 ? etag : etag.substring(0, end);
    }

    public String id() {
      return id;
    }

    public List<Part> parts() {
      return parts;
    }

    /**
     * This upload as text, with the etag of the file that it becomes.
     *
     * @param etag empty where it is not known before
     */
    public String toEtag(String etag) {
      return etag
          + MARK
          + encoded(id)
          + "#"
          + parts.stream().map(Part::text).collect(Collectors.joining(","));
    }

    private static String encoded(String text) {
      return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static String decoded(String text) {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }
  }
}
