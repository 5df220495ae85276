// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import static io.manifestcommitter.emulator.LakefsRequest.json;
import static io.manifestcommitter.emulator.LakefsRequest.object;
import static io.manifestcommitter.emulator.LakefsRequest.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.manifestcommitter.emulator.S3Bucket.S3Object;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Requests about objects: where they are written, what is linked, what a reference shows. */
final class LakefsObjects {
  private static final int MOST_DELETED = 1000;
  private static final int MOST_PARTS = 10_000;
  private static final String METADATA = "x-lakefs-meta-";

  private final LakefsStorage storage;
  private final LakefsAddresses addresses;
  private final LakefsAbilities abilities;
  private final InstantSource clock;

  LakefsObjects(
      LakefsStorage storage,
      LakefsAddresses addresses,
      LakefsAbilities abilities,
      InstantSource clock) {
    this.storage = storage;
    this.addresses = addresses;
    this.abilities = abilities;
    this.clock = clock;
  }

  Reply answer(LakefsRequest asked) throws LakefsException {
    LakefsRepository repository = asked.repository();
    return switch (asked.route().operation()) {
      case "address" -> address(asked);
      case "link" -> link(asked);
      case "upload" -> upload(asked);
      case "upload-complete" -> completeUpload(asked);
      case "upload-abort" -> {
        storage.abort(uploaded(asked), asked.other());
        yield new Reply(204);
      }
      case "upload-part" ->
          json(
              200,
              object()
                  .put(
                      "presigned_url",
                      part(uploaded(asked), asked.other(), asked.route().names().get(3))));
      case "put" -> put(asked);
      case "delete" -> {
        repository.remove(asked.ref(), asked.path());
        yield new Reply(204);
      }
      case "delete-many" -> deleteMany(asked);
      case "get", "head" -> read(asked, repository.entry(asked.ref(), asked.path()));
      case "stat" -> {
        LakefsEntry entry = repository.entry(asked.ref(), asked.path());
        yield json(200, described(asked, asked.path(), entry));
      }
      case "list" ->
          asked.page(
              repository.tree(asked.ref()).entries(),
              (path, entry) -> described(asked, path, entry));
      default -> throw LakefsException.unknown(asked.route().operation());
    };
  }

  /** Also for a branch that is not there. */
  private Reply address(LakefsRequest asked) throws LakefsException {
    String address = addresses.signed(asked);
    ObjectNode node = object().put("physical_address", address);
    if (asked.isSet("presign")) {
      node.put("presigned_url", presigned(address, 500))
          .put("presigned_url_expiry", storage.expiry());
    }
    return json(200, node);
  }

  /** Whether there is such an object, and such a size and checksum, is not looked at. */
  private Reply link(LakefsRequest asked) throws LakefsException {
    JsonNode body = asked.body();
    String address = text(body.path("staging"), "physical_address");
    addresses.check(address, asked);
    String checksum = asked.text("checksum").replaceAll("[\" ]", "");
    if (checksum.isEmpty()) {
      throw LakefsException.invalid("checksum is required");
    }
    long size = body.path("size_bytes").asLong();
    long modified = body.path("mtime").asLong(now());
    Map<String, String> metadata = asked.map("user_metadata");
    String type = body.path("content_type").asText("");
    return stage(asked, 200, new LakefsEntry(address, checksum, size, modified, metadata, type));
  }

  private Reply upload(LakefsRequest asked) throws LakefsException {
    requireUploads(asked);
    asked.repository().head(asked.ref());
    int parts = Integer.parseInt(asked.call().parameter("parts").orElse("0"));
    if (parts < 0 || parts > MOST_PARTS) {
      throw LakefsException.invalid("parts can be between 0 and " + MOST_PARTS);
    }
    String address = addresses.signed(asked);
    String upload = storage.initiate(address);
    ObjectNode node = object().put("upload_id", upload).put("physical_address", address);
    ArrayNode urls = node.putArray("presigned_urls");
    for (int part = 1; part <= parts; part++) {
      urls.add(part(address, upload, Integer.toString(part)));
    }
    return json(201, node);
  }

  private String part(String address, String upload, String number) {
    return storage.presigned(address, "partNumber=" + number + "&uploadId=" + upload + "&");
  }

  private Reply completeUpload(LakefsRequest asked) throws LakefsException {
    String address = uploaded(asked);
    List<Map.Entry<Integer, String>> parts = new ArrayList<>();
    for (JsonNode part : asked.body().path("parts")) {
      String etag = text(part, "etag").replace("\"", "");
      parts.add(Map.entry(part.path("part_number").asInt(), etag));
    }
    if (parts.isEmpty()) {
      throw LakefsException.invalid("parts are required");
    }
    S3Object object = storage.complete(address, asked.other(), parts);
    Map<String, String> metadata = asked.map("user_metadata");
    String type = asked.body().path("content_type").asText("");
    return stage(
        asked,
        200,
        new LakefsEntry(address, object.etag(), object.length(), now(), metadata, type));
  }

  /** The address of an upload, which has to be one that was given for this path. */
  private String uploaded(LakefsRequest asked) throws LakefsException {
    requireUploads(asked);
    String address = asked.text("physical_address");
    if (!address.startsWith(asked.repository().namespace())) {
      throw LakefsException.invalid("physical address must be relative to the storage namespace");
    }
    addresses.check(address, asked);
    return address;
  }

  private void requireUploads(LakefsRequest asked) throws LakefsException {
    if (!abilities.has(LakefsAbilities.PRESIGN_PARTS)
        || LakefsStorage.isLocal(asked.repository().namespace())) {
      throw new LakefsException(501, "presign multipart upload API is not supported");
    }
  }

  private Reply put(LakefsRequest asked) throws LakefsException {
    asked.repository().head(asked.ref());
    FormPart content = FormPart.content(asked.call());
    Map<String, String> metadata = new TreeMap<>();
    asked
        .call()
        .headers()
        .forEach(
            (header, value) -> {
              if (header.startsWith(METADATA)) {
                metadata.put(header.substring(METADATA.length()), value);
              }
            });
    String address = addresses.unsigned(asked.repository());
    String checksum = storage.write(address, content.bytes());
    int size = content.bytes().length;
    return stage(
        asked, 201, new LakefsEntry(address, checksum, size, now(), metadata, content.type()));
  }

  private Reply stage(LakefsRequest asked, int status, LakefsEntry entry) throws LakefsException {
    asked.repository().stage(asked.ref(), asked.path(), entry, asked.onlyIfNew());
    return json(status, described(asked, asked.path(), entry));
  }

  /**
   * One after the other. What goes wrong with one is told inside; that the branch is gone is not.
   */
  private static Reply deleteMany(LakefsRequest asked) throws LakefsException {
    JsonNode paths = asked.body().path("paths");
    if (paths.size() > MOST_DELETED) {
      throw LakefsException.invalid("request size exceeded, max paths is set to " + MOST_DELETED);
    }
    ObjectNode answer = object();
    ArrayNode errors = answer.putArray("errors");
    for (JsonNode path : paths) {
      try {
        asked.repository().remove(asked.ref(), path.asText());
      } catch (LakefsException e) {
        if (e.status() != 404) {
          ObjectNode error = errors.addObject().put("path", path.asText());
          error.put("status_code", e.status()).put("message", e.getMessage());
        }
      }
    }
    return json(200, answer);
  }

  private Reply read(LakefsRequest asked, LakefsEntry entry) throws LakefsException {
    if (asked.isSet("presign")) {
      return new Reply(302).header("Location", presigned(entry.address(), 400));
    }
    int size = (int) entry.size();
    ByteRange range =
        ByteRange.of(asked.call().header("Range"), size)
            .orElseThrow(() -> new LakefsException(416, "Requested Range Not Satisfiable"));
    Reply reply =
        new Reply(range.isPartial() ? 206 : 200)
            .header("ETag", '"' + entry.checksum() + '"')
            .header("Last-Modified", HttpTimes.header(Instant.ofEpochSecond(entry.modified())));
    if (range.isPartial()) {
      reply.header("Content-Range", range.header(size));
    }
    if (asked.call().method().equals("HEAD")) {
      return reply.header("Content-Length", Integer.toString(range.to() - range.from()));
    }
    byte[] content = storage.read(entry.address());
    if (content.length < range.to()) {
      // The service breaks off in the middle of the body.
      throw new LakefsException(500, "unexpected EOF: the object is shorter than its entry says");
    }
    return reply.body(entry.contentType(), Arrays.copyOfRange(content, range.from(), range.to()));
  }

  private ObjectNode described(LakefsRequest asked, String path, LakefsEntry entry)
      throws LakefsException {
    ObjectNode node =
        object()
            .put("path", path)
            .put("path_type", "object")
            .put("physical_address", entry.address())
            .put("checksum", entry.checksum())
            .put("size_bytes", entry.size())
            .put("mtime", entry.modified())
            .put("content_type", entry.contentType());
    node.set("metadata", LakefsRequest.tree(entry.metadata()));
    if (asked.isSet("presign")) {
      node.put("physical_address", presigned(entry.address(), 400))
          .put("physical_address_expiry", storage.expiry());
    }
    return node;
  }

  /** A URL that reads or writes an object; where there are none, the service answers as given. */
  private String presigned(String address, int otherwise) throws LakefsException {
    if (!abilities.has(LakefsAbilities.PRESIGN) || LakefsStorage.isLocal(address)) {
      throw new LakefsException(otherwise, "operation not supported");
    }
    return storage.presigned(address, "");
  }

  private long now() {
    return clock.instant().getEpochSecond();
  }
}
