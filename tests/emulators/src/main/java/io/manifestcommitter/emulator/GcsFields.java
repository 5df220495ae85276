// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The parameter {@code fields} of the JSON API: what a reply has of all that it could have, such as
 * {@code items(name,size),nextPageToken} or {@code items/name} ("Partial responses"). A client that
 * forgot to ask for a field does not get it.
 */
final class GcsFields {
  private static final String ALL = "*";

  private final String text;
  private int at;

  private GcsFields(String text) {
    this.text = text;
  }

  /**
   * What a reply has of {@code full}.
   *
   * @throws GcsException 400 for a parameter that cannot be read
   */
  static ObjectNode filter(Call call, ObjectNode full) throws GcsException {
    Optional<String> asked = call.parameter("fields").filter(fields -> !fields.isEmpty());
    if (asked.isEmpty()) {
      return full;
    }
    GcsFields fields = new GcsFields(asked.get());
    Selection selection = fields.selection();
    if (fields.at < fields.text.length()) {
      throw fields.invalid();
    }
    return (ObjectNode) selection.of(full);
  }

  private Selection selection() throws GcsException {
    Selection selection = new Selection();
    do {
      selection.parts.merge(name(), below(), Selection::and);
    } while (skip(','));
    return selection;
  }

  private Selection below() throws GcsException {
    Selection below = new Selection();
    if (skip('/')) {
      below.parts.put(name(), below());
    } else if (skip('(')) {
      below = selection();
      if (!skip(')')) {
        throw invalid();
      }
    }
    return below;
  }

  private String name() throws GcsException {
    int from = at;
    while (at < text.length() && ",/()".indexOf(text.charAt(at)) < 0) {
      at++;
    }
    String name = text.substring(from, at).trim();
    if (name.isEmpty()) {
      throw invalid();
    }
    return name;
  }

  private boolean skip(char expected) {
    boolean is = at < text.length() && text.charAt(at) == expected;
    at += is ? 1 : 0;
    return is;
  }

  private GcsException invalid() {
    return new GcsException(400, "invalidParameter", "Invalid field selection " + text);
  }

  /** The parts of an object that are wanted; all of it where there are none. */
  private static final class Selection {
    private final Map<String, Selection> parts = new TreeMap<>();

    private Selection and(Selection other) {
      if (parts.isEmpty() || other.parts.isEmpty()) {
        return new Selection();
      }
      other.parts.forEach((name, below) -> parts.merge(name, below, Selection::and));
      return this;
    }

    private JsonNode of(JsonNode full) {
      if (parts.isEmpty() || parts.containsKey(ALL)) {
        return full;
      }
      if (full.isArray()) {
        ArrayNode array = JsonNodeFactory.instance.arrayNode();
        full.forEach(element -> array.add(of(element)));
        return array;
      }
      ObjectNode object = JsonNodeFactory.instance.objectNode();
      parts.forEach(
          (name, below) -> {
            if (full.has(name)) {
              object.set(name, below.of(full.get(name)));
            }
          });
      return object;
    }
  }
}
