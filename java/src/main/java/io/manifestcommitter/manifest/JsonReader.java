// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/**
 * Reads one JSON document field by field and trusts nothing in it: strict UTF-8, no name twice,
 * bounded nesting, types as expected, nothing after the end. Fields nobody asked for, and fields
 * that are null, are passed over.
 *
 * <p>Nesting is bounded here because Jackson does so from 2.15 on only, and the class path decides
 * on its version.
 */
final class JsonReader {
  private static final int MAX_DEPTH = 32;

  // Names in a damaged document are arbitrary: they must not fill Jackson's shared symbol table.
  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          .build();

  private final JsonParser parser;
  private int depth;

  private JsonReader(JsonParser parser) {
    this.parser = parser;
  }

  /**
   * Reads a document that is one object.
   *
   * @param json the whole document
   * @throws BadJsonException for whatever is wrong with it
   */
  static <T> T read(byte[] json, Document<T> document) throws BadJsonException {
    return read(new InputStreamReader(new ByteArrayInputStream(json), strictUtf8()), document);
  }

  /** As {@link #read(byte[], Document)}, from text, which is closed. */
  static <T> T read(Reader json, Document<T> document) throws BadJsonException {
    JsonReader reader = null;
    try (Reader text = json;
        JsonParser parser = FACTORY.createParser(text)) {
      reader = new JsonReader(parser);
      if (reader.next() != JsonToken.START_OBJECT) {
        throw new BadJsonException("it is not a JSON object");
      }
      T value = document.read(reader);
      if (reader.next() != null) {
        throw new BadJsonException("something follows the end of the JSON object");
      }
      return value;
    } catch (JsonProcessingException e) {
      throw new BadJsonException(Text.shortened(e.getOriginalMessage()) + where(reader), e);
    } catch (CharacterCodingException e) {
      throw new BadJsonException("it is not UTF-8" + where(reader), e);
    } catch (BadJsonException e) {
      throw new BadJsonException(Text.shortened(e.getMessage()) + where(reader), e);
    } catch (IOException | RuntimeException e) {
      // Besides the checks of our values: whatever Jackson lets escape about a document that is
      // damaged.
      String why = e.getMessage() == null ? e.toString() : e.getMessage();
      throw new BadJsonException(Text.shortened(why) + where(reader), e);
    }
  }

  /** Calls {@code fields} for each field of the object that the reader stands at. */
  void object(Fields fields) throws IOException {
    require(JsonToken.START_OBJECT, "an object");
    while (next() == JsonToken.FIELD_NAME) {
      String name = Text.requireWellFormed(parser.getCurrentName());
      JsonToken value = next();
      if (value != JsonToken.VALUE_NULL && !fields.read(name)) {
        skip();
      }
    }
  }

  /** Calls {@code items} for each item of the array that the reader stands at. */
  void array(Items items) throws IOException {
    require(JsonToken.START_ARRAY, "an array");
    while (next() != JsonToken.END_ARRAY) {
      items.read();
    }
  }

  /** The text that the reader stands at. */
  String string() throws IOException {
    require(JsonToken.VALUE_STRING, "a string");
    return Text.requireWellFormed(parser.getText());
  }

  /** Whether the reader stands at such a value. */
  boolean isAt(JsonToken token) {
    return parser.currentToken() == token;
  }

  /** The whole number that the reader stands at. */
  long longNumber() throws IOException {
    require(JsonToken.VALUE_NUMBER_INT, "a whole number");
    return parser.getLongValue();
  }

  /** The small whole number that the reader stands at. */
  int intNumber() throws IOException {
    require(JsonToken.VALUE_NUMBER_INT, "a whole number");
    return parser.getIntValue();
  }

  /** The truth value that the reader stands at. */
  boolean bool() throws IOException {
    JsonToken token = parser.currentToken();
    if (token != JsonToken.VALUE_TRUE && token != JsonToken.VALUE_FALSE) {
      throw unexpected("true or false");
    }
    return token == JsonToken.VALUE_TRUE;
  }

  /**
   * The text that the reader stands at, or an empty one for anything else, which is passed over.
   */
  String stringOrEmpty() throws IOException {
    if (parser.currentToken() == JsonToken.VALUE_STRING) {
      return string();
    }
    skip();
    return "";
  }

  /** The object of texts that the reader stands at. */
  Map<String, String> strings() throws IOException {
    Map<String, String> strings = new TreeMap<>();
    object(
        name -> {
          strings.put(name, string());
          return true;
        });
    return strings;
  }

  /** The object of whole numbers that the reader stands at. */
  Map<String, Long> numbers() throws IOException {
    Map<String, Long> numbers = new TreeMap<>();
    object(
        name -> {
          numbers.put(name, longNumber());
          return true;
        });
    return numbers;
  }

  /** The value of a field that has to be there. */
  static <T> T required(String field, T value) throws BadJsonException {
    if (value == null) {
      throw new BadJsonException("the field '" + field + "' is missing");
    }
    return value;
  }

  private void skip() throws IOException {
    JsonToken token = parser.currentToken();
    if (token == JsonToken.START_OBJECT || token == JsonToken.START_ARRAY) {
      int outside = depth - 1;
      while (depth > outside) {
        next();
      }
    }
  }

  private JsonToken next() throws IOException {
    JsonToken token = parser.nextToken();
    if (token == JsonToken.START_OBJECT || token == JsonToken.START_ARRAY) {
      depth++;
      if (depth > MAX_DEPTH) {
        throw new BadJsonException("it is nested more than " + MAX_DEPTH + " levels deep");
      }
    } else if (token == JsonToken.END_OBJECT || token == JsonToken.END_ARRAY) {
      depth--;
    } else if (token == null && depth > 0) {
      throw new BadJsonException("it ends too early");
    }
    return token;
  }

  private void require(JsonToken expected, String what) throws BadJsonException {
    if (parser.currentToken() != expected) {
      throw unexpected(what);
    }
  }

  private BadJsonException unexpected(String expected) {
    String at = parser.getParsingContext().pathAsPointer().toString();
    return new BadJsonException("the value at " + at + " is not " + expected);
  }

  /** A decoder that refuses what is not UTF-8 rather than to repair it. */
  static CharsetDecoder strictUtf8() {
    return StandardCharsets.UTF_8
        .newDecoder()
        .onMalformedInput(CodingErrorAction.REPORT)
        .onUnmappableCharacter(CodingErrorAction.REPORT);
  }

  private static String where(JsonReader reader) {
    return reader == null
        ? ""
        : " (near character " + reader.parser.getTokenLocation().getCharOffset() + ")";
  }

  /** Reads the object that the reader stands at. */
  @FunctionalInterface
  interface Document<T> {
    /** Reads it; the reader then stands at its end. */
    T read(JsonReader reader) throws IOException;
  }

  /** Takes the fields of an object. */
  @FunctionalInterface
  interface Fields {
    /**
     * Reads the value of one field, which the reader stands at.
     *
     * @return false if the field is not known, so its value is to be passed over
     */
    boolean read(String name) throws IOException;
  }

  /** Takes the items of an array. */
  @FunctionalInterface
  interface Items {
    /** Reads one item, which the reader stands at. */
    void read() throws IOException;
  }

  /** What is wrong with a document, without the name of the file. */
  static final class BadJsonException extends IOException {
    private static final long serialVersionUID = 1L;

    BadJsonException(String message) {
      super(message);
    }

    BadJsonException(String message, Throwable cause) {
      super(message, cause);
    }
  }
}
