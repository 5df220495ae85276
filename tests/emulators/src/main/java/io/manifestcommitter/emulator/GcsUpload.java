// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;

/**
 * What an insert brings: metadata and, except at the start of a resumable session, content. Sent as
 * metadata only (resumable), content only (media) or both (multipart/related).
 */
final class GcsUpload {
  private final ObjectNode metadata;
  private final byte[] content;
  private final String contentType;

  private GcsUpload(ObjectNode metadata, byte[] content, String contentType) {
    this.metadata = metadata;
    this.content = content;
    this.contentType = contentType;
  }

  /**
   * Reads the body of an insert.
   *
   * @throws GcsException 400 if it is none
   */
  static GcsUpload of(Call call) throws GcsException {
    String header = call.header("Content-Type").orElse("");
    switch (call.parameter("uploadType").orElse("")) {
      case "resumable":
        return new GcsUpload(
            GcsJson.object(call.body()),
            new byte[0],
            call.header("X-Upload-Content-Type").orElse(""));
      case "media":
        return new GcsUpload(GcsJson.object(new byte[0]), call.body(), header);
      case "multipart":
        GcsMultipart parts = GcsMultipart.of(header, call.body());
        return new GcsUpload(GcsJson.object(parts.first()), parts.second(), parts.secondType());
      default:
        throw GcsException.invalid(
            "uploadType must be resumable, media or multipart: "
                + call.parameter("uploadType").orElse("none"));
    }
  }

  /**
   * The object to make: the parameter {@code name}, else that of the metadata.
   *
   * @throws GcsException 400 if there is neither
   */
  String name(Call call) throws GcsException {
    String inMetadata = metadata.path("name").asText("");
    String name = call.parameter("name").orElse(inMetadata);
    if (name.isEmpty()) {
      throw new GcsException(400, "required", "Required object name");
    }
    return name;
  }

  /** The attributes in the metadata; type and encoding as the request gives them if they do not. */
  GcsAttributes attributes(Call call) throws GcsException {
    ObjectNode json = metadata.deepCopy();
    if (!json.has("contentEncoding") && call.parameter("contentEncoding").isPresent()) {
      json.put("contentEncoding", call.parameter("contentEncoding").get());
    }
    GcsAttributes attributes = GcsAttributes.of(json);
    return contentType.isEmpty() ? attributes : attributes.withContentType(contentType);
  }

  GcsHashes hashes() {
    return GcsHashes.ofMetadata(metadata);
  }

  byte[] content() {
    return Arrays.copyOf(content, content.length);
  }
}
