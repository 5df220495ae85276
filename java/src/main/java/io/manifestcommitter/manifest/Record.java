// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * One object of JSON: a line of a {@link RecordFile}, or a document. A field of another type than
 * the one that is asked for is an {@link IllegalArgumentException}.
 */
public final class Record {
  /** The name under which a line tells what it is. */
  static final String KIND = "kind";

  private static final String STRING = "a string";
  private static final String WHOLE_NUMBER = "a whole number in range";
  private static final int SHOWN = 600;

  // Names in a damaged document are arbitrary: they must not fill Jackson's shared symbol table.
  private static final JsonFactory FACTORY =
      new JsonFactoryBuilder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
          .disable(StreamWriteFeature.FLUSH_PASSED_TO_STREAM)
          .rootValueSeparator("\n")
          .build();

  /** Writes objects of Java's own classes, in UTF-8 and without white space. */
  static final ObjectMapper MAPPER =
      new ObjectMapper(FACTORY).disable(SerializationFeature.FLUSH_AFTER_WRITE_VALUE);

  /** All fields, to be written. */
  final Map<String, Object> fields;

  /** A record without content. */
  public Record(String kind) {
    this(new LinkedHashMap<>());
    with(KIND, kind);
  }

  Record(Map<String, Object> fields) {
    this.fields = fields;
  }

  /**
   * Adds a text.
   *
   * @throws IllegalArgumentException if it cannot be written as UTF-8
   */
  public Record with(String name, String text) {
    fields.put(name, PathText.requireWellFormed(text));
    return this;
  }

  public Record with(String name, long number) {
    fields.put(name, number);
    return this;
  }

  /** What the record is about. */
  public String kind() {
    return text(KIND);
  }

  public boolean has(String name) {
    return fields.containsKey(name);
  }

  /**
   * A text.
   *
   * @throws IllegalArgumentException if there is none
   */
  public String text(String name) {
    return field(name, String.class, STRING);
  }

  public String textOrEmpty(String name) {
    return has(name) ? text(name) : "";
  }

  /**
   * A number, 0 or greater.
   *
   * @throws IllegalArgumentException if there is none, or a negative one
   */
  public long number(String name) {
    long number = wholeNumber(name);
    if (number < 0) {
      throw new IllegalArgumentException("its " + name + " is negative");
    }
    return number;
  }

  /** A number of any sign. */
  long wholeNumber(String name) {
    return field(name, Long.class, WHOLE_NUMBER);
  }

  /** A small number of any sign. */
  int smallNumber(String name) {
    long number = wholeNumber(name);
    if (number != (int) number) {
      throw new IllegalArgumentException(
          "the field '" + shortened(name) + "' is not " + WHOLE_NUMBER);
    }
    return (int) number;
  }

  public boolean isTrue(String name) {
    return field(name, Boolean.class, "true or false");
  }

  /** The object of a name, empty where there is none. */
  @SuppressWarnings("unchecked")
  public Record object(String name) {
    return new Record(
        has(name) ? (Map<String, Object>) field(name, Map.class, "an object") : Map.of());
  }

  /** The object of texts of a name, sorted; empty where there is none. */
  public Map<String, String> texts(String name) {
    return object(name).all(String.class, STRING);
  }

  /** The object of whole numbers of a name, sorted; empty where there is none. */
  Map<String, Long> numbers(String name) {
    return object(name).all(Long.class, WHOLE_NUMBER);
  }

  /** The array of texts of a name, empty where there is none. */
  @SuppressWarnings("unchecked")
  public List<String> list(String name) {
    return has(name) ? (List<String>) field(name, List.class, "an array") : List.of();
  }

  private <T> Map<String, T> all(Class<T> type, String what) {
    Map<String, T> all = new TreeMap<>();
    fields.keySet().forEach(name -> all.put(name, field(name, type, what)));
    return all;
  }

  private <T> T field(String name, Class<T> type, String what) {
    Object value = fields.get(name);
    if (value == null) {
      throw new IllegalArgumentException("the field '" + shortened(name) + "' is missing");
    }
    if (!type.isInstance(value)) {
      throw new IllegalArgumentException("the field '" + shortened(name) + "' is not " + what);
    }
    return type.cast(value);
  }

  /** The bytes of a list or an object of Java's own classes. */
  public static byte[] toJson(Object value) {
    try {
      return MAPPER.writeValueAsBytes(value);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException("Writing to memory failed", e);
    }
  }

  /** As {@link #read(Reader, Predicate, Map)}, of a whole document in UTF-8. */
  public static Record read(
      byte[] json, Predicate<String> asked, Map<String, Consumer<Record>> items) {
    return read(new InputStreamReader(new ByteArrayInputStream(json), strictUtf8()), asked, items);
  }

  /**
   * Reads a document that is one object, and trusts nothing in it.
   *
   * @param json the whole document, which is closed
   * @param asked the names of the fields to read; others, and those that are null, are passed over
   * @param items by the name of an array what takes its objects one by one, so that they are not in
   *     memory together; what it throws is a fault of the document
   * @throws IllegalArgumentException for whatever is wrong with it
   */
  static Record read(Reader json, Predicate<String> asked, Map<String, Consumer<Record>> items) {
    Parsing parsing = null;
    try (Reader text = json;
        JsonParser parser = FACTORY.createParser(text)) {
      parsing = new Parsing(parser, asked, items);
      return parsing.document();
    } catch (JsonProcessingException e) {
      throw bad(e.getOriginalMessage(), parsing, e);
    } catch (CharacterCodingException e) {
      throw bad("it is not UTF-8", parsing, e);
    } catch (IOException | RuntimeException e) {
      // Besides the checks of our values: whatever Jackson lets escape about a document that is
      // damaged.
      throw bad(e.getMessage() == null ? e.toString() : e.getMessage(), parsing, e);
    }
  }

  private static IllegalArgumentException bad(String why, Parsing parsing, Exception cause) {
    String where =
        parsing == null
            ? ""
            : " (near character " + parsing.parser.getTokenLocation().getCharOffset() + ")";
    return new IllegalArgumentException(shortened(why) + where, cause);
  }

  /** The beginning of a text: for messages about damaged files, whose texts may be endless. */
  static String shortened(String text) {
    return text.length() <= SHOWN ? text : PathText.wellFormed(text.substring(0, SHOWN)) + "...";
  }

  /** A decoder that refuses what is not UTF-8 rather than to repair it. */
  static CharsetDecoder strictUtf8() {
    return StandardCharsets.UTF_8
        .newDecoder()
        .onMalformedInput(CodingErrorAction.REPORT)
        .onUnmappableCharacter(CodingErrorAction.REPORT);
  }

  /**
   * Reads one document: no name twice, bounded nesting, arrays of texts only, nothing after the
   * end.
   *
   * <p>Nesting is bounded here because Jackson does so from 2.15 on only, and the class path
   * decides on its version. Long numbers are not read, since Jackson takes long for them.
   */
  private static final class Parsing {
    private static final int MAX_DEPTH = 32;

    /** The characters of a {@code long}. */
    private static final int LONGEST_NUMBER = 20;

    /** Stands for what is no text, truth value, array, object, or whole number in range. */
    private static final Object SOMETHING_ELSE = new Object();

    private final JsonParser parser;
    private final Predicate<String> asked;
    private final Map<String, Consumer<Record>> items;
    private int depth;

    Parsing(JsonParser parser, Predicate<String> asked, Map<String, Consumer<Record>> items) {
      this.parser = parser;
      this.asked = asked;
      this.items = items;
    }

    Record document() throws IOException {
      require(next() == JsonToken.START_OBJECT, "it is not a JSON object");
      Record document = new Record(object());
      require(next() == null, "something follows the end of the JSON object");
      return document;
    }

    private Map<String, Object> object() throws IOException {
      boolean isDocument = depth == 1;
      Map<String, Object> fields = new LinkedHashMap<>();
      while (next() == JsonToken.FIELD_NAME) {
        String name = PathText.requireWellFormed(parser.getCurrentName());
        JsonToken token = next();
        if (isDocument && !asked.test(name)) {
          int outside = token.isStructStart() ? depth - 1 : depth;
          while (depth > outside) {
            next();
          }
        } else if (isDocument && items.containsKey(name) && token != JsonToken.VALUE_NULL) {
          require(
              token == JsonToken.START_ARRAY,
              "the field '" + shortened(name) + "' is not an array");
          while (next() != JsonToken.END_ARRAY) {
            require(
                parser.hasToken(JsonToken.START_OBJECT),
                "an item of '" + name + "' is not an object");
            items.get(name).accept(new Record(object()));
          }
        } else if (token != JsonToken.VALUE_NULL) {
          fields.put(name, value(name));
        }
      }
      return fields;
    }

    private Object value(String name) throws IOException {
      switch (parser.currentToken()) {
        case START_OBJECT:
          return object();
        case START_ARRAY:
          List<String> values = new ArrayList<>();
          while (next() != JsonToken.END_ARRAY) {
            require(
                parser.hasToken(JsonToken.VALUE_STRING),
                "an item of '" + name + "' is not " + STRING);
            values.add(PathText.requireWellFormed(parser.getText()));
          }
          return values;
        case VALUE_STRING:
          return PathText.requireWellFormed(parser.getText());
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
  }
}
