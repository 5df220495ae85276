// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Optional;

/** JSON for programs: one line of ASCII. */
public final class Json {
  private static final ObjectMapper MAPPER =
      new ObjectMapper(new JsonFactoryBuilder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build());

  private Json() {}

  /** A line with a map, a list, a text, a number, a {@link JsonNode} or null. */
  public static String line(Object value) {
    try {
      return MAPPER.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Reads a document.
   *
   * @throws IOException if it is no JSON
   */
  public static JsonNode read(byte[] document) throws IOException {
    return MAPPER.readTree(document);
  }

  /** As {@link #line}, on several lines and not in ASCII, for people. */
  static String indented(Object value) {
    return new ObjectMapper().valueToTree(value).toPrettyString();
  }

  /** An object in the making, its keys in order. */
  public static final class Fields extends LinkedHashMap<String, Object> {
    private static final long serialVersionUID = 1L;

    /** Adds a key; with null for an empty {@link Optional}, so that all keys are always there. */
    public Fields with(String key, Object value) {
      put(key, value instanceof Optional ? ((Optional<?>) value).orElse(null) : value);
      return this;
    }
  }
}
