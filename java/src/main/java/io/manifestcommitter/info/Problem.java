// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.databind.JsonNode;
import io.manifestcommitter.cli.Json;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Something that is wrong with the binding of a path, and what repairs it. Severities and texts are
 * in {@code problems.json}. Its names are codes, some followed by a slash and a case. Codes are
 * stable: programs may ask for them. Causes come before their consequences there.
 */
@JsonPropertyOrder({"severity", "code", "text", "repair"})
final class Problem {
  /** The rules of the table, by name; those of a connector have further fields. */
  static final Map<String, JsonNode> TABLE = readTable();

  private static final List<String> ORDER = new ArrayList<>(TABLE.keySet());

  /** The worst first, and causes before their consequences. */
  static final Comparator<Problem> IN_ORDER =
      Comparator.<Problem, Severity>comparing(problem -> problem.severity)
          .thenComparing(problem -> ORDER.indexOf(problem.name));

  /** How bad a problem is; the worst first. */
  enum Severity {
    /** Jobs fail, or commit unsafely, or not with this committer. */
    ERROR,
    /** Jobs work, but not all, or not as well as they could. */
    WARNING,
    /** Worth knowing. */
    NOTE;

    @JsonValue
    String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final String name;
  @JsonProperty final Severity severity;

  /** What is wrong, and what comes of it. */
  @JsonProperty final String text;

  @JsonProperty final Repair repair;

  private Problem(String name, Severity severity, String text, Repair repair) {
    this.name = name;
    this.severity = severity;
    this.text = text;
    this.repair = repair;
  }

  /** A problem of the table, with the severity that it has there; null for that. */
  @SuppressWarnings("AnnotateFormatMethod") // The formats are in the table.
  static Problem of(String name, Severity severity, Repair repair, Object... values) {
    JsonNode row = TABLE.get(name);
    String usual = row.get("severity").asText().toUpperCase(Locale.ROOT);
    return new Problem(
        name,
        severity == null ? Severity.valueOf(usual) : severity,
        String.format(row.get("text").asText(), values),
        repair);
  }

  private static Map<String, JsonNode> readTable() {
    Map<String, JsonNode> table = new LinkedHashMap<>();
    try (InputStream file = Problem.class.getResourceAsStream("problems.json")) {
      Json.read(file.readAllBytes())
          .fields()
          .forEachRemaining(row -> table.put(row.getKey(), row.getValue()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return table;
  }

  @JsonProperty
  String code() {
    return name.replaceFirst("/.*", "");
  }

  @Override
  public String toString() {
    return severity + " " + code() + ": " + text;
  }

  /**
   * What makes a problem go away. All that it names is to be done: settings under the names that
   * they have in Hadoop's configuration or in Spark's, a jar, another path.
   */
  static final class Repair {
    /** Keys with their new values; null for a key that has to be removed. */
    @JsonProperty final Map<String, String> settings;

    @JsonProperty final String jar;
    @JsonProperty final String path;

    private Repair(Map<String, String> settings, String jar, String path) {
      this.settings = settings;
      this.jar = jar;
      this.path = path;
    }

    /** For what no setting repairs; the problem's text says what to do. */
    static Repair none() {
      return new Repair(Map.of(), null, null);
    }

    /** Sets a key; removes it if the value is null. */
    static Repair set(String key, String value) {
      return none().andSet(key, value);
    }

    static Repair writeTo(String path) {
      return new Repair(Map.of(), null, path);
    }

    Repair andSet(String key, String value) {
      Map<String, String> more = new LinkedHashMap<>(settings);
      more.put(key, value);
      return new Repair(more, jar, path);
    }

    /** Puts a jar on the class path: a file, or the coordinates of an artifact. */
    Repair andJar(String added) {
      return new Repair(settings, added, path);
    }
  }
}
