// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * One object of JSON: a line of a {@link RecordFile}, or what {@link JsonReader} read. A field of
 * another type than the one that is asked for is an {@link IllegalArgumentException}.
 */
public final class Record {
  /** The name under which a line tells what it is. */
  static final String KIND = "kind";

  private static final String STRING = "a string";
  private static final String WHOLE_NUMBER = "a whole number in range";

  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final Map<String, Object> fields;

  /** A record without content. */
  public Record(String kind) {
    this(new TreeMap<>(Map.of(KIND, kind)));
  }

  Record(Map<String, Object> fields) {
    this.fields = fields;
  }

  /** Adds a text. */
  public Record with(String name, String text) {
    fields.put(name, text);
    return this;
  }

  /** Adds a number. */
  public Record with(String name, long number) {
    fields.put(name, number);
    return this;
  }

  /** What the record is about. */
  public String kind() {
    return text(KIND);
  }

  /** Whether there is such a field. */
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

  /** A text, empty where there is none. */
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
      throw new IllegalArgumentException("the field '" + name + "' is not " + WHOLE_NUMBER);
    }
    return (int) number;
  }

  /** A truth value. */
  boolean isTrue(String name) {
    return field(name, Boolean.class, "true or false");
  }

  /** The object of a name, empty where there is none. */
  @SuppressWarnings("unchecked")
  Record object(String name) {
    return new Record(
        has(name) ? (Map<String, Object>) field(name, Map.class, "an object") : Map.of());
  }

  /** The names of all fields, sorted. */
  Iterable<String> names() {
    return fields.keySet();
  }

  /** The object of texts of a name, empty where there is none. */
  Map<String, String> texts(String name) {
    return object(name).all(String.class, STRING);
  }

  /** The object of whole numbers of a name, empty where there is none. */
  Map<String, Long> numbers(String name) {
    return object(name).all(Long.class, WHOLE_NUMBER);
  }

  /** The array of texts of a name, empty where there is none. */
  @SuppressWarnings("unchecked")
  List<String> list(String name) {
    List<?> list = has(name) ? field(name, List.class, "an array") : List.of();
    for (Object item : list) {
      if (!(item instanceof String)) {
        throw new IllegalArgumentException("an item of the field '" + name + "' is not " + STRING);
      }
    }
    return (List<String>) list;
  }

  /** The bytes, in UTF-8 and without white space, of an object of Java's own classes. */
  static byte[] toJson(Map<String, Object> object) {
    try {
      return MAPPER.writeValueAsBytes(object);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException("Writing to memory failed", e);
    }
  }

  /** All fields, to be written. */
  Map<String, Object> fields() {
    return fields;
  }

  private <T> Map<String, T> all(Class<T> type, String what) {
    Map<String, T> all = new TreeMap<>();
    names().forEach(name -> all.put(name, field(name, type, what)));
    return all;
  }

  private <T> T field(String name, Class<T> type, String what) {
    Object value = fields.get(name);
    if (value == null) {
      throw new IllegalArgumentException("the field '" + name + "' is missing");
    }
    if (!type.isInstance(value)) {
      throw new IllegalArgumentException("the field '" + name + "' is not " + what);
    }
    return type.cast(value);
  }
}
