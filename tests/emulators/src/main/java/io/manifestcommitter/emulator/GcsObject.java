// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.Objects;

/** One generation of an object. Never changed once made. */
final class GcsObject {
  private final String bucket;
  private final String name;
  private final GcsContent content;
  private final GcsAttributes attributes;
  private final long generation;
  private final long metageneration;
  private final Instant created;
  private final Instant updated;

  private GcsObject(
      String bucket,
      String name,
      GcsContent content,
      GcsAttributes attributes,
      long generation,
      long metageneration,
      Instant created,
      Instant updated) {
    this.bucket = Objects.requireNonNull(bucket);
    this.name = Objects.requireNonNull(name);
    this.content = Objects.requireNonNull(content);
    this.attributes = Objects.requireNonNull(attributes);
    this.generation = generation;
    this.metageneration = metageneration;
    this.created = created;
    this.updated = updated;
  }

  /** A new generation, made now. */
  static GcsObject made(
      String bucket, String name, GcsContent content, GcsAttributes attributes, long generation) {
    Instant now = Instant.now();
    return new GcsObject(bucket, name, content, attributes, generation, 1, now, now);
  }

  /** The same generation with other attributes: the next metageneration. */
  GcsObject with(GcsAttributes others) {
    return new GcsObject(
        bucket, name, content, others, generation, metageneration + 1, created, Instant.now());
  }

  String name() {
    return name;
  }

  GcsContent content() {
    return content;
  }

  GcsAttributes attributes() {
    return attributes;
  }

  long generation() {
    return generation;
  }

  long metageneration() {
    return metageneration;
  }

  /** Opaque; another one for each generation and metageneration. */
  String etag() {
    byte[] bytes =
        ByteBuffer.allocate(2 * Long.BYTES).putLong(generation).putLong(metageneration).array();
    return Base64.getEncoder().encodeToString(bytes);
  }

  /**
   * The object resource of the JSON API.
   *
   * @param root of the links in it: {@code http://127.0.0.1:1234}
   */
  ObjectNode json(String root) {
    String path = "/b/" + bucket + "/o/" + encoded(name);
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
    json.put("metageneration", Long.toString(metageneration));
    json.put("size", Integer.toString(content.length()));
    json.put("crc32c", content.crc32c());
    content.md5().ifPresent(md5 -> json.put("md5Hash", md5));
    if (content.components() > 0) {
      json.put("componentCount", content.components());
    }
    json.put("etag", etag());
    json.put("timeCreated", HttpTimes.body(created));
    json.put("updated", HttpTimes.body(updated));
    json.put("timeStorageClassUpdated", HttpTimes.body(created));
    attributes.writeTo(json);
    return json;
  }

  private static String encoded(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
