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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Reads one JSON object and trusts nothing in it: strict UTF-8, no name twice, bounded nesting,
 * nothing after the end. Fields that nobody asked for, and fields that are null, are passed over;
 * {@link Record} tells what the others are.
 *
 * <p>Nesting is bounded here because Jackson does so from 2.15 on only, and the class path decides
 * on its version. Long numbers are not read, since Jackson takes long for them.
 */
final class JsonReader {
  private static final int MAX_DEPTH = 32;

  /** The characters of a {@code long}. */
  private static final int LONGEST_NUMBER = 20;

  /** Stands for what is no text, truth value, array, object, or whole number in range. */
  private static final Object SOMETHING_ELSE = new Object();

  // Names in a damaged document are arbitrary: they must not fill Jackson's shared symbol table.
  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          .build();

  private final JsonParser parser;
  private final Predicate<String> asked;
  private final Map<String, Consumer<Record>> items;
  private int depth;

  private JsonReader(
      JsonParser parser, Predicate<String> asked, Map<String, Consumer<Record>> items) {
    this.parser = parser;
    this.asked = asked;
    this.items = items;
  }

  /**
   * Reads a document that is one object.
   *
   * @param json the whole document, which is closed
   * @param asked the names of the fields to read
   * @param items by the name of an array what takes its objects one by one, so that they are not in
   *     memory together
   * @param document makes something of the other fields; what it throws is a fault of the document
   * @throws BadJsonException for whatever is wrong with it
   */
  static <T> T read(
      Reader json,
      Predicate<String> asked,
      Map<String, Consumer<Record>> items,
      Function<Record, T> document)
      throws BadJsonException {
    JsonReader reader = null;
    try (Reader text = json;
        JsonParser parser = FACTORY.createParser(text)) {
      reader = new JsonReader(parser, asked, items);
      require(reader.next() == JsonToken.START_OBJECT, "it is not a JSON object");
      Record fields = new Record(reader.object());
      require(reader.next() == null, "something follows the end of the JSON object");
      return document.apply(fields);
    } catch (JsonProcessingException e) {
      throw bad(e.getOriginalMessage(), reader, e);
    } catch (CharacterCodingException e) {
      throw bad("it is not UTF-8", reader, e);
    } catch (IOException | RuntimeException e) {
      // Besides the checks of our values: whatever Jackson lets escape about a document that is
      // damaged.
      throw bad(e.getMessage() == null ? e.toString() : e.getMessage(), reader, e);
    }
  }

  /** A text of strict UTF-8: what is no UTF-8 is refused, not repaired. */
  static Reader utf8(byte[] text) {
    return new InputStreamReader(new ByteArrayInputStream(text), strictUtf8());
  }

  /** A decoder that refuses what is not UTF-8 rather than to repair it. */
  static CharsetDecoder strictUtf8() {
    return StandardCharsets.UTF_8
        .newDecoder()
        .onMalformedInput(CodingErrorAction.REPORT)
        .onUnmappableCharacter(CodingErrorAction.REPORT);
  }

  private Map<String, Object> object() throws IOException {
    boolean isDocument = depth == 1;
    Map<String, Object> fields = new TreeMap<>();
    while (next() == JsonToken.FIELD_NAME) {
      String name = Text.requireWellFormed(parser.getCurrentName());
      JsonToken token = next();
      if (isDocument && !asked.test(name)) {
        skip();
      } else if (isDocument && items.containsKey(name) && token != JsonToken.VALUE_NULL) {
        each(name, items.get(name));
      } else if (token != JsonToken.VALUE_NULL) {
        fields.put(name, value());
      }
    }
    return fields;
  }

  private void each(String name, Consumer<Record> taker) throws IOException {
    require(
        parser.currentToken() == JsonToken.START_ARRAY, "the field '" + name + "' is not an array");
    while (next() != JsonToken.END_ARRAY) {
      require(
          parser.currentToken() == JsonToken.START_OBJECT,
          "an item of the field '" + name + "' is not an object");
      taker.accept(new Record(object()));
    }
  }

  private Object value() throws IOException {
    switch (parser.currentToken()) {
      case START_OBJECT:
        return object();
      case START_ARRAY:
        List<Object> values = new ArrayList<>();
        while (next() != JsonToken.END_ARRAY) {
          values.add(value());
        }
        return values;
      case VALUE_STRING:
        return Text.requireWellFormed(parser.getText());
      case VALUE_NUMBER_INT:
        boolean isLong =
            parser.getTextLength() <= LONGEST_NUMBER
                && parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER;
        return isLong ? (Object) parser.getLongValue() : SOMETHING_ELSE;
      case VALUE_TRUE:
      case VALUE_FALSE:
        return parser.getBooleanValue();
      default:
        return SOMETHING_ELSE;
    }
  }

  private void skip() throws IOException {
    if (parser.currentToken().isStructStart()) {
      int outside = depth - 1;
      while (depth > outside) {
        next();
      }
    }
  }

  private JsonToken next() throws IOException {
    JsonToken token = parser.nextToken();
    require(token != null || depth == 0, "it ends too early");
    if (token != null && token.isStructStart()) {
      depth++;
      require(depth <= MAX_DEPTH, "it is nested more than " + MAX_DEPTH + " levels deep");
    } else if (token != null && token.isStructEnd()) {
      depth--;
    }
    return token;
  }

  private static void require(boolean condition, String otherwise) {
    if (!condition) {
      throw new IllegalArgumentException(otherwise);
    }
  }

  private static BadJsonException bad(String why, JsonReader reader, Exception cause) {
    String where =
        reader == null
            ? ""
            : " (near character " + reader.parser.getTokenLocation().getCharOffset() + ")";
    return new BadJsonException(Text.shortened(why) + where, cause);
  }

  /** What is wrong with a document, without the name of the file. */
  static final class BadJsonException extends IOException {
    private static final long serialVersionUID = 1L;

    private BadJsonException(String message, Throwable cause) {
      super(message, cause);
    }
  }
}
