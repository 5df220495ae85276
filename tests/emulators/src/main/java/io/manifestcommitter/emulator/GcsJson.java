// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** JSON bodies, in and out. */
final class GcsJson {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private GcsJson() {}

  /**
   * The object in a body.
   *
   * @return an empty one for an empty body
   * @throws GcsException 400 if it is anything else
   */
  static ObjectNode object(byte[] body) throws GcsException {
    if (new String(body, StandardCharsets.UTF_8).isBlank()) {
      return JsonNodeFactory.instance.objectNode();
    }
    try {
      JsonNode node = MAPPER.readTree(body);
      if (node.isObject()) {
        return (ObjectNode) node;
      }
    } catch (IOException e) {
      throw new GcsException(400, "parseError", "Parse Error: " + e.getMessage());
    }
    throw new GcsException(400, "parseError", "Parse Error: not an object");
  }

  static Reply reply(int status, ObjectNode json) {
    try {
      return new Reply(status)
          .body("application/json; charset=UTF-8", MAPPER.writeValueAsBytes(json));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("A tree of JSON nodes can always be written", e);
    }
  }
}
