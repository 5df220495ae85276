// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Optional;

/**
 * The checksums that a client gives for what it uploads: in the object's metadata or in the header
 * {@code X-Goog-Hash: crc32c=...,md5=...}. Base64, as the service gives them.
 */
final class GcsHashes {
  private final Optional<String> crc32c;
  private final Optional<String> md5;

  private GcsHashes(Optional<String> crc32c, Optional<String> md5) {
    this.crc32c = crc32c;
    this.md5 = md5;
  }

  static GcsHashes ofMetadata(ObjectNode metadata) {
    return new GcsHashes(
        Optional.ofNullable(metadata.path("crc32c").textValue()),
        Optional.ofNullable(metadata.path("md5Hash").textValue()));
  }

  static GcsHashes ofHeader(Call call) {
    String crc32c = null;
    String md5 = call.header("Content-MD5").orElse(null);
    for (String hash : call.header("X-Goog-Hash").orElse("").split(",", -1)) {
      String trimmed = hash.trim();
      if (trimmed.startsWith("crc32c=")) {
        crc32c = trimmed.substring("crc32c=".length());
      } else if (trimmed.startsWith("md5=")) {
        md5 = trimmed.substring("md5=".length());
      }
    }
    return new GcsHashes(Optional.ofNullable(crc32c), Optional.ofNullable(md5));
  }

  Optional<String> crc32c() {
    return crc32c;
  }

  Optional<String> md5() {
    return md5;
  }
}
