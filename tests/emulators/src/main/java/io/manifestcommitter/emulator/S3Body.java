// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/**
 * The body of a request: as it is, or in signed or unsigned chunks ({@code aws-chunked}), each
 * after a line with its length in hexadecimal digits, and trailers after the last one, which is
 * empty.
 */
final class S3Body {
  private final byte[] sent;
  private int position;

  private S3Body(byte[] sent) {
    this.sent = sent;
  }

  /**
   * What was meant, compared with the hashes that came with it.
   *
   * @throws S3Exception 400 where a hash or the length differs
   */
  static byte[] of(Call call) throws S3Exception {
    Map<String, String> given = new HashMap<>(call.headers());
    byte[] content = call.body();
    if (call.header("x-amz-content-sha256").orElse("").startsWith("STREAMING-")) {
      content = new S3Body(call.body()).chunks(given);
      String length = call.header("x-amz-decoded-content-length").orElse("");
      if (!length.equals(Integer.toString(content.length))) {
        throw new S3Exception(
            400, "IncompleteBody", "The body has " + content.length + " bytes, not " + length);
      }
    }
    S3Hashes.prove(content, given);
    return content;
  }

  private byte[] chunks(Map<String, String> given) throws S3Exception {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    int length = length();
    while (length > 0) {
      if (position + length > sent.length) {
        throw incomplete();
      }
      content.write(sent, position, length);
      position += length;
      if (!line().isEmpty()) {
        throw incomplete();
      }
      length = length();
    }
    while (position < sent.length) {
      String trailer = line();
      int colon = trailer.indexOf(':');
      if (colon > 0) {
        given.put(
            trailer.substring(0, colon).toLowerCase(Locale.ROOT),
            trailer.substring(colon + 1).trim());
      }
    }
    return content.toByteArray();
  }

  private int length() throws S3Exception {
    String line = line();
    int semicolon = line.indexOf(';');
    try {
      return Integer.parseInt(semicolon < 0 ? line : line.substring(0, semicolon), 16);
    } catch (NumberFormatException e) {
      throw incomplete();
    }
  }

  private String line() throws S3Exception {
    int end = position;
    while (end + 1 < sent.length && !(sent[end] == '\r' && sent[end + 1] == '\n')) {
      end++;
    }
    if (end + 1 >= sent.length) {
      throw incomplete();
    }
    String line = new String(sent, position, end - position, StandardCharsets.ISO_8859_1);
    position = end + 2;
    return line;
  }

  private static S3Exception incomplete() {
    return new S3Exception(400, "IncompleteBody", "The request body terminated unexpectedly");
  }

  /** Hashes of S3, and those that a client gives for what it sends. */
  static final class S3Hashes {
    private static final String PREFIX = "x-amz-checksum-";

    /** Begin like a checksum, and are about some. */
    private static final Set<String> NO_CHECKSUMS =
        Set.of(PREFIX + "algorithm", PREFIX + "mode", PREFIX + "type");

    private S3Hashes() {}

    /**
     * Compares a body with what the client says of it.
     *
     * @param given headers, and trailers, by lower-case name
     * @throws S3Exception 400 BadDigest where one differs, 501 for an algorithm that is not known
     *     here
     */
    static void prove(byte[] body, Map<String, String> given) throws S3Exception {
      for (Map.Entry<String, String> header : given.entrySet()) {
        String name = header.getKey();
        if (name.equals("content-md5")) {
          require(name, header.getValue(), base64(md5(body)));
        } else if (isChecksum(name)) {
          require(name, header.getValue(), base64(hash(name.substring(PREFIX.length()), body)));
        }
      }
    }

    /** Whether the client says anything of a body that could be compared with it. */
    static boolean areGiven(Map<String, String> given) {
      return given.keySet().stream()
          .anyMatch(name -> name.equals("content-md5") || isChecksum(name));
    }

    private static boolean isChecksum(String name) {
      return name.startsWith(PREFIX) && !NO_CHECKSUMS.contains(name);
    }

    private static byte[] hash(String algorithm, byte[] body) throws S3Exception {
      return switch (algorithm) {
        case "crc32" -> crc(new CRC32(), body);
        case "crc32c" -> crc(new CRC32C(), body);
        case "sha1" -> digest("SHA-1", body);
        case "sha256" -> sha256(body);
        default -> throw S3Exception.unknown("checksums by " + algorithm);
      };
    }

    private static byte[] crc(Checksum crc, byte[] body) {
      crc.update(body);
      return ByteBuffer.allocate(Integer.BYTES).putInt((int) crc.getValue()).array();
    }

    static byte[] md5(byte[] bytes) {
      return digest("MD5", bytes);
    }

    static byte[] sha256(byte[] bytes) {
      return digest("SHA-256", bytes);
    }

    private static byte[] digest(String algorithm, byte[] bytes) {
      try {
        return MessageDigest.getInstance(algorithm).digest(bytes);
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException("Every Java platform has " + algorithm, e);
      }
    }

    private static void require(String name, String given, String computed) throws S3Exception {
      if (!given.equals(computed)) {
        throw new S3Exception(
            400, "BadDigest", name + " is " + given + ", but the body received has " + computed);
      }
    }

    private static String base64(byte[] bytes) {
      return Base64.getEncoder().encodeToString(bytes);
    }

    static String hex(byte[] bytes) {
      StringBuilder hex = new StringBuilder();
      for (byte each : bytes) {
        hex.append(String.format("%02x", each));
      }
      return hex.toString();
    }
  }
}
