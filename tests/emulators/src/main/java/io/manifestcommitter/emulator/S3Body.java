// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

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
}
