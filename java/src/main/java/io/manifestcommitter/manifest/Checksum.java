// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * A CRC32C over a sequence of values. Texts go in with their length, so no two sequences look
 * alike.
 */
final class Checksum {
  private final CRC32C crc = new CRC32C();
  private final ByteBuffer number = ByteBuffer.allocate(Long.BYTES);

  Checksum add(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    add(bytes.length);
    crc.update(bytes);
    return this;
  }

  Checksum add(long value) {
    number.clear();
    number.putLong(value);
    number.flip();
    crc.update(number);
    return this;
  }

  Checksum add(Map<String, Long> values) {
    add(values.size());
    values.forEach((key, value) -> add(key).add(value));
    return this;
  }

  /** Eight lower case hexadecimal digits. */
  String hex() {
    return String.format(Locale.ROOT, "%08x", crc.getValue());
  }
}
