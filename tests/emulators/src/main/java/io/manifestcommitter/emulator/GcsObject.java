// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.zip.CRC32C;

/** One generation of an object: its bytes with their checksums, and its metadata. Not changed. */
final class GcsObject {
  /** What of the metadata that a client gives is kept, through a move too. */
  private static final List<String> KEPT =
      List.of(
          "contentType",
          "contentEncoding",
          "contentDisposition",
          "contentLanguage",
          "cacheControl",
          "customTime",
          "metadata");

  private final String bucket;
  private final String name;
  private final byte[] bytes;
  private final ObjectNode metadata;
  private final long generation;
  private final String crc32c;
  private final String md5;
  private final Instant created = Instant.now();

  /** A new generation, made now. */
  GcsObject(String bucket, String name, byte[] bytes, ObjectNode metadata, long generation) {
    this.bucket = bucket;
    this.name = name;
    this.bytes = bytes;
    this.metadata = metadata.deepCopy().retain(KEPT);
    this.generation = generation;
    this.crc32c = crc32c(bytes);
    this.md5 = md5(bytes);
  }

  /** The same content and metadata by another name. */
  GcsObject movedTo(String newName, long newGeneration) {
    return new GcsObject(bucket, newName, bytes, metadata, newGeneration);
  }

  String name() {
    return name;
  }

  /** The bytes themselves: not to be changed. */
  byte[] bytes() {
    return bytes;
  }

  long generation() {
    return generation;
  }

  /** Of the metadata; the fallback where the client gave none. */
  String metadata(String field, String fallback) {
    return metadata.path(field).asText(fallback);
  }

  /** Opaque; another one for each generation. */
  String etag() {
    return Base64.getEncoder()
        .encodeToString(ByteBuffer.allocate(Long.BYTES).putLong(generation).array());
  }

  /** As the header {@code X-Goog-Hash} gives them. */
  String hashes() {
    return "crc32c=" + crc32c + ",md5=" + md5;
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

  /**
   * Compares what was uploaded with the checksums that the client gave, in the metadata or in
   * headers.
   *
   * @throws GcsException 400 if one of them differs
   */
  static void prove(byte[] bytes, ObjectNode metadata, Call call) throws GcsException {
    requireSame(metadata.path("crc32c").asText(""), crc32c(bytes));
    requireSame(metadata.path("md5Hash").asText(""), md5(bytes));
    requireSame(call.header("Content-MD5").orElse(""), md5(bytes));
    for (String hash : call.header("X-Goog-Hash").orElse("").split(",", -1)) {
      int equals = hash.indexOf('=');
      String kind = hash.substring(0, Math.max(0, equals)).trim();
      if (!kind.isEmpty()) {
        requireSame(
            hash.substring(equals + 1).trim(), kind.equals("md5") ? md5(bytes) : crc32c(bytes));
      }
    }
  }

  private static void requireSame(String given, String computed) throws GcsException {
    if (!given.isEmpty() && !given.equals(computed)) {
      throw GcsException.invalid(
          "Provided hash \"" + given + "\" doesn't match calculated hash \"" + computed + "\".");
    }
  }

  /**
   * The object resource of the JSON API.
   *
   * @param root of the links in it: {@code http://127.0.0.1:1234}
   */
  ObjectNode json(String root) {
    String path =
        "/b/"
            + bucket
            + "/o/"
            + URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    String time = HttpTimes.body(created);
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("kind", "storage#object");
    json.put("id", bucket + "/" + name + "/" + generation);
    json.put("selfLink", root + "/storage/v1" + path);
    json.put(
        "mediaLink",
        root + "/download/storage/v1" + path + "?generation=" + generation + "&alt=media");
    json.put("name", name);
    json.put("bucket", bucket);
    json.put("generation", Long.toString(generation));
    json.put("metageneration", "1");
    json.put("size", Integer.toString(bytes.length));
    json.put("crc32c", crc32c);
    json.put("md5Hash", md5);
    json.put("etag", etag());
    json.put("timeCreated", time);
    json.put("updated", time);
    json.put("timeStorageClassUpdated", time);
    json.put("storageClass", "STANDARD");
    return json.setAll(metadata.deepCopy());
  }
}
