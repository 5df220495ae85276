// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What an insert brings: metadata and, except at the start of a resumable session, content. Sent as
 * metadata only (resumable), content only (media) or both (multipart/related).
 */
final class GcsUpload {
  private static final Pattern BOUNDARY =
      Pattern.compile("multipart/related;.*boundary=\"?([^\";]+)\"?.*", Pattern.CASE_INSENSITIVE);
  private static final Pattern TYPE =
      Pattern.compile("^content-type:\\s*(.*?)\\s*$", Pattern.CASE_INSENSITIVE | Pattern.MULTILINE);

  private final ObjectNode metadata;
  private final byte[] content;

  private GcsUpload(ObjectNode metadata, byte[] content, String contentType) {
    this.metadata = metadata;
    this.content = content;
    if (!metadata.has("contentType") && !contentType.isEmpty()) {
      metadata.put("contentType", contentType);
    }
  }

  /**
   * Reads the body of an insert.
   *
   * @throws GcsException 400 if it is none
   */
  static GcsUpload of(Call call) throws GcsException {
    String header = call.header("Content-Type").orElse("");
    String type = call.parameter("uploadType").orElse("none");
    return switch (type) {
      case "resumable" ->
          new GcsUpload(
              GcsException.object(call.body()),
              new byte[0],
              call.header("X-Upload-Content-Type").orElse(""));
      case "media" -> new GcsUpload(JsonNodeFactory.instance.objectNode(), call.body(), header);
      case "multipart" -> ofParts(header, call.body());
      default ->
          throw GcsException.invalid("uploadType must be resumable, media or multipart: " + type);
    };
  }

  /** A body of two parts, {@code multipart/related}: metadata, then content. */
  private static GcsUpload ofParts(String contentType, byte[] body) throws GcsException {
    Matcher boundary = BOUNDARY.matcher(contentType);
    // One char for each byte.
    String text = new String(body, StandardCharsets.ISO_8859_1);
    String[] parts =
        boundary.matches()
            ? text.split(Pattern.quote("--" + boundary.group(1)), -1)
            : new String[0];
    if (parts.length < 4) {
      throw GcsException.invalid("A body of multipart/related that is not two parts");
    }
    Matcher type = TYPE.matcher(part(parts[2])[0]);
    return new GcsUpload(
        GcsException.object(part(parts[1])[1].getBytes(StandardCharsets.ISO_8859_1)),
        part(parts[2])[1].getBytes(StandardCharsets.ISO_8859_1),
        type.find() ? type.group(1) : "");
  }

  /** Headers and content. The line break before a boundary belongs to the boundary. */
  private static String[] part(String part) throws GcsException {
    int blank = part.indexOf("\r\n\r\n");
    if (blank < 0) {
      throw GcsException.invalid("A part of multipart/related without content");
    }
    return new String[] {
      part.substring(0, blank), part.substring(blank + 4, Math.max(blank + 4, part.length() - 2))
    };
  }

  /**
   * The object to make: the parameter {@code name}, else that of the metadata.
   *
   * @throws GcsException 400 if there is neither
   */
  String name(Call call) throws GcsException {
    String name = call.parameter("name").orElse(metadata.path("name").asText(""));
    if (name.isEmpty()) {
      throw new GcsException(400, "required", "Required object name");
    }
    return name;
  }

  /** What the client says of the object. */
  ObjectNode metadata() {
    return metadata;
  }

  byte[] content() {
    return content;
  }
}
