// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Prints a document as it stands, for people: a line for each value, without what is empty. */
final class Plain {
  private static final int SHOWN_ITEMS = 10;
  private static final int SHOWN_TRACE_LINES = 12;
  private static final String STEP = "  ";

  /** Objects that lie deeper than this are printed on one line. */
  private static final int DEEPEST = 3;

  private final PrintStream out;

  Plain(PrintStream out) {
    this.out = out;
  }

  /** Prints the fields of an object, in their order. */
  void print(JsonNode object) {
    print(object, 1);
  }

  private void print(JsonNode object, int depth) {
    object.fields().forEachRemaining(field -> print(field.getKey(), field.getValue(), depth));
  }

  private void print(String name, JsonNode value, int depth) {
    if (value.isContainerNode() ? value.isEmpty() : value.asText().isBlank() || value.isNull()) {
      return;
    }
    if (value.isArray()) {
      line(depth, name + " (" + Humane.number(value.size()) + ")");
      for (int i = 0; i < Math.min(value.size(), SHOWN_ITEMS); i++) {
        line(depth + 1, onOneLine(value.get(i)));
      }
      more(depth + 1, value.size() - SHOWN_ITEMS, "");
    } else if (value.isObject() && depth < DEEPEST) {
      line(depth, name);
      print(value, depth + 1);
    } else {
      printValue(name, onOneLine(value), depth);
    }
  }

  /** Of a text of several lines, such as the trace of an exception, the first ones. */
  private void printValue(String name, String value, int depth) {
    String[] lines = value.stripTrailing().split("\n", -1);
    if (lines.length == 1) {
      line(depth, String.format(Locale.ROOT, "%-" + (48 - 2 * depth) + "s %s", name, value));
      return;
    }
    line(depth, name);
    for (int i = 0; i < Math.min(lines.length, SHOWN_TRACE_LINES); i++) {
      line(depth + 1, lines[i].replace("\t", STEP).replace("\r", ""));
    }
    more(depth + 1, lines.length - SHOWN_TRACE_LINES, " lines");
  }

  private void more(int depth, int left, String what) {
    if (left > 0) {
      line(depth, "... and " + Humane.number(left) + " more" + what + " (--json shows all)");
    }
  }

  private static String onOneLine(JsonNode value) {
    if (!value.isObject()) {
      return value.isArray() ? value.toString() : value.asText();
    }
    List<String> parts = new ArrayList<>();
    value
        .fields()
        .forEachRemaining(
            field -> {
              JsonNode part = field.getValue();
              parts.add(
                  field.getKey()
                      + " "
                      + (part.isContainerNode() ? part.toString() : part.asText()));
            });
    return String.join(", ", parts);
  }

  private void line(int depth, String text) {
    out.println(STEP.repeat(depth) + Humane.line(text));
  }
}
