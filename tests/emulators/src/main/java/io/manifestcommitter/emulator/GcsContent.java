// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32C;

/** The bytes of an object with their checksums. Never changed once made. */
final class GcsContent {
  private final byte[] bytes;
  private final String crc32c;
  private final Optional<String> md5;
  private final int components;

  private GcsContent(byte[] bytes, String crc32c, Optional<String> md5, int components) {
    this.bytes = bytes;
    this.crc32c = crc32c;
    this.md5 = md5;
    this.components = components;
  }

  /** What was uploaded as one object. */
  static GcsContent of(byte[] bytes) {
    return new GcsContent(bytes, crc32c(bytes), Optional.of(md5(bytes)), 0);
  }

  /** What was composed: like the service, without an MD5. */
  static GcsContent composed(List<GcsContent> parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    int components = 0;
    for (GcsContent part : parts) {
      all.writeBytes(part.bytes);
      components += Math.max(1, part.components);
    }
    byte[] bytes = all.toByteArray();
    return new GcsContent(bytes, crc32c(bytes), Optional.empty(), components);
  }

  /** Base64 of the four bytes, most significant first. */
  private static String crc32c(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    byte[] value = ByteBuffer.allocate(Integer.BYTES).putInt((int) crc.getValue()).array();
    return Base64.getEncoder().encodeToString(value);
  }

  private static String md5(byte[] bytes) {
    try {
      return Base64.getEncoder().encodeToString(MessageDigest.getInstance("MD5").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every Java platform has MD5", e);
    }
  }

  /** The bytes themselves: not to be changed. */
  byte[] bytes() {
    return bytes;
  }

  int length() {
    return bytes.length;
  }

  String crc32c() {
    return crc32c;
  }

  /** Empty for a composed object. */
  Optional<String> md5() {
    return md5;
  }

  /** Of how many uploads this was composed; 0 if it was not. */
  int components() {
    return components;
  }

  /**
   * Compares with the checksums that the client gave.
   *
   * @throws GcsException 400 if one of them differs
   */
  void prove(GcsHashes given) throws GcsException {
    if (given.crc32c().isPresent() && !given.crc32c().get().equals(crc32c)) {
      throw differs("CRC32C", given.crc32c().get(), crc32c);
    }
    if (given.md5().isPresent() && md5.isPresent() && !given.md5().equals(md5)) {
      throw differs("MD5", given.md5().get(), md5.get());
    }
  }

  private static GcsException differs(String kind, String given, String computed) {
    return GcsException.invalid(
        String.format(
            "Provided %s hash \"%s\" doesn't match calculated %s hash \"%s\".",
            kind, given, kind, computed));
  }
}
