// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.io.ByteArrayOutputStream;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** A multipart upload that is not completed. Guarded by its bucket's lock. */
final class S3Upload {
  private static final int MOST_PARTS = 10_000;

  /** Bytes that every part but the last has at least. */
  private static final int SMALLEST_PART = 5 << 20;

  private final String key;
  private final Map<String, String> headers;
  private final Instant initiated = Instant.now();
  private final NavigableMap<Integer, S3Object> parts = new TreeMap<>();

  S3Upload(String key, Map<String, String> headers) {
    this.key = key;
    this.headers = Map.copyOf(headers);
  }

  String key() {
    return key;
  }

  Instant initiated() {
    return initiated;
  }

  /** By number. */
  NavigableMap<Integer, S3Object> parts() {
    return parts;
  }

  /** Keeps a part, in the place of one of the same number. */
  S3Object put(int number, byte[] content) throws S3Exception {
    if (number < 1 || number > MOST_PARTS) {
      throw S3Exception.invalid(
          "Part number must be an integer between 1 and " + MOST_PARTS + ", inclusive");
    }
    S3Object part = S3Object.of(content, Map.of());
    parts.put(number, part);
    return part;
  }

  /**
   * The object that these parts make.
   *
   * @param chosen numbers and etags
   * @throws S3Exception 400 where a part is missing, is another one or is too small
   */
  S3Object complete(List<Map.Entry<Integer, String>> chosen) throws S3Exception {
    if (chosen.isEmpty()) {
      throw S3Xml.malformed("no parts");
    }
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    ByteArrayOutputStream hashes = new ByteArrayOutputStream();
    int last = 0;
    for (Map.Entry<Integer, String> each : chosen) {
      if (each.getKey() <= last) {
        throw new S3Exception(
            400, "InvalidPartOrder", "The list of parts was not in ascending order");
      }
      last = each.getKey();
      S3Object part = parts.get(last);
      if (part == null || !part.etag().equals(each.getValue())) {
        throw new S3Exception(
            400, "InvalidPart", "One or more of the specified parts could not be found: " + last);
      }
      boolean isLast = each == chosen.get(chosen.size() - 1);
      if (!isLast && part.length() < SMALLEST_PART) {
        throw new S3Exception(
            400, "EntityTooSmall", "Part " + last + " has only " + part.length() + " bytes");
      }
      content.writeBytes(part.content());
      hashes.writeBytes(S3Hashes.md5(part.content()));
    }
    String etag = S3Hashes.hex(S3Hashes.md5(hashes.toByteArray())) + "-" + chosen.size();
    return new S3Object(content.toByteArray(), etag, headers);
  }
}
