// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A multipart upload that waits to be completed: invisible until then. It travels as text in the
 * etag of a file, after the etag that the file will have, as {@code
 * 9a0e...-1#upload=<id>#<etag>,<etag>}. A part that has a checksum has it after its etag, {@code
 * <etag>:<algorithm>:<checksum>}. Id, etags and checksums are URL-encoded.
 */
public final class Upload {
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

    /** Of the checksum; empty if there is none. */
    public String algorithm() {
      return algorithm;
    }

    /** The checksum; empty if there is none. */
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

  /** The store's id of it. */
  public String id() {
    return id;
  }

  /** The parts, in their order. */
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
