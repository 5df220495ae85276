// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;

/** Writes JSON documents to memory; what several kinds of documents have in common. */
final class JsonWriter {
  private static final JsonFactory FACTORY = new JsonFactory();

  private JsonWriter() {}

  /**
   * The bytes, in UTF-8 and without white space, of one object with the fields that {@code content}
   * writes.
   */
  static byte[] object(Content content) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (JsonGenerator json = FACTORY.createGenerator(bytes)) {
      json.writeStartObject();
      content.writeTo(json);
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException("Writing to memory failed", e);
    }
    return bytes.toByteArray();
  }

  /** A field, left out if its text is empty. */
  static void optional(JsonGenerator json, String field, String text) throws IOException {
    if (!text.isEmpty()) {
      json.writeStringField(field, text);
    }
  }

  /** A field with an object of texts. */
  static void strings(JsonGenerator json, String field, Map<String, String> texts)
      throws IOException {
    json.writeObjectFieldStart(field);
    for (Map.Entry<String, String> text : texts.entrySet()) {
      json.writeStringField(text.getKey(), text.getValue());
    }
    json.writeEndObject();
  }

  /** A field with an object of numbers, left out if it has none. */
  static void optionalNumbers(JsonGenerator json, String field, Map<String, Long> numbers)
      throws IOException {
    if (numbers.isEmpty()) {
      return;
    }
    json.writeObjectFieldStart(field);
    for (Map.Entry<String, Long> number : numbers.entrySet()) {
      json.writeNumberField(number.getKey(), number.getValue());
    }
    json.writeEndObject();
  }

  /** Writes fields. */
  @FunctionalInterface
  interface Content {
    /** Writes them. */
    void writeTo(JsonGenerator json) throws IOException;
  }
}
