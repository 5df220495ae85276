// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.time.Instant;
import java.util.Map;

/** What a key has. Never changed once made. */
final class S3Object {
  private final byte[] content;
  private final String etag;
  private final Map<String, String> headers;
  private final Instant modified = Instant.now();

  /**
   * An object, made now.
   *
   * @param etag without quotes
   * @param headers of what describes it, by lower-case name, as they come back with it
   */
  S3Object(byte[] content, String etag, Map<String, String> headers) {
    this.content = content;
    this.etag = etag;
    this.headers = Map.copyOf(headers);
  }

  /** What was sent in one request: its etag is the hash of its bytes. */
  static S3Object of(byte[] content, Map<String, String> headers) {
    return new S3Object(content, S3Hashes.hex(S3Hashes.md5(content)), headers);
  }

  /** The bytes themselves: not to be changed. */
  byte[] content() {
    return content;
  }

  int length() {
    return content.length;
  }

  /** Without quotes. */
  String etag() {
    return etag;
  }

  /** As it stands in headers and bodies. */
  String quotedEtag() {
    return '"' + etag + '"';
  }

  Map<String, String> headers() {
    return headers;
  }

  Instant modified() {
    return modified;
  }
}
