// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import io.manifestcommitter.manifest.JsonReader.BadJsonException;
import java.util.Map;
import java.util.TreeMap;

/** One line of a {@link RecordFile}: texts and numbers by name. */
public final class Record {
  /** The name under which a line tells what it is. */
  static final String KIND = "kind";

  private final Map<String, String> texts;
  private final Map<String, Long> numbers;

  /** A record without content. */
  public Record(String kind) {
    this(new TreeMap<>(Map.of(KIND, kind)), new TreeMap<>());
  }

  Record(Map<String, String> texts, Map<String, Long> numbers) {
    this.texts = texts;
    this.numbers = numbers;
  }

  /** Adds a text. */
  public Record with(String name, String text) {
    texts.put(name, text);
    return this;
  }

  /** Adds a number. */
  public Record with(String name, long number) {
    numbers.put(name, number);
    return this;
  }

  /** What the record is about. */
  public String kind() {
    return texts.get(KIND);
  }

  /** Whether there is such a text. */
  public boolean has(String name) {
    return texts.containsKey(name);
  }

  /**
   * A text.
   *
   * @throws IllegalArgumentException if there is none
   */
  public String text(String name) {
    return required(name, texts.get(name));
  }

  /**
   * A number, 0 or greater.
   *
   * @throws IllegalArgumentException if there is none, or a negative one
   */
  public long number(String name) {
    long number = required(name, numbers.get(name));
    if (number < 0) {
      throw new IllegalArgumentException("its " + name + " is negative");
    }
    return number;
  }

  private <T> T required(String name, T value) {
    if (value == null) {
      throw new IllegalArgumentException("its record '" + kind() + "' has no " + name);
    }
    return value;
  }

  Map<String, String> texts() {
    return texts;
  }

  Map<String, Long> numbers() {
    return numbers;
  }

  Record requireKind() throws BadJsonException {
    JsonReader.required(KIND, kind());
    return this;
  }
}
