// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Something that is wrong with the binding of a path, and what repairs it. */
@JsonPropertyOrder({"severity", "code", "text", "repair"})
final class Problem {
  /** How bad a problem is; the worst first. */
  enum Severity {
    /** Jobs fail, or commit unsafely, or not with this committer. */
    ERROR,
    /** Jobs work, but not all, or not as well as they could. */
    WARNING,
    /** Worth knowing. */
    NOTE
  }

  private final Severity severity;
  private final ProblemCode code;
  @JsonProperty private final String text;
  @JsonProperty private final Repair repair;

  Problem(Severity severity, ProblemCode code, String text, Repair repair) {
    this.severity = Objects.requireNonNull(severity);
    this.code = Objects.requireNonNull(code);
    this.text = Objects.requireNonNull(text);
    this.repair = Objects.requireNonNull(repair);
  }

  Severity severity() {
    return severity;
  }

  @JsonProperty("severity")
  private String severityText() {
    return severity.name().toLowerCase(Locale.ROOT);
  }

  @JsonProperty("code")
  private String codeText() {
    return code.text();
  }

  ProblemCode code() {
    return code;
  }

  /** What is wrong, and what comes of it. */
  String text() {
    return text;
  }

  Repair repair() {
    return repair;
  }

  @Override
  public String toString() {
    return severity + " " + code.text() + ": " + text;
  }

  /**
   * What makes a problem go away. All that it names is to be done: settings under the names that
   * they have in Hadoop's configuration or in Spark's, a jar, another path.
   */
  static final class Repair {
    @JsonProperty private final Map<String, String> settings;
    @JsonProperty private final String jar;
    @JsonProperty private final String path;

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

    /** Puts a jar on the class path: a file, or the coordinates of an artifact. */
    static Repair addJar(String jar) {
      return none().andJar(jar);
    }

    static Repair writeTo(String path) {
      return new Repair(Map.of(), null, Objects.requireNonNull(path));
    }

    Repair andSet(String key, String value) {
      Map<String, String> more = new LinkedHashMap<>(settings);
      more.put(key, value);
      return new Repair(more, jar, path);
    }

    Repair andJar(String added) {
      return new Repair(settings, Objects.requireNonNull(added), path);
    }

    /** Keys with their new values; null for a key that has to be removed. */
    Map<String, String> settings() {
      return new LinkedHashMap<>(settings);
    }

    Optional<String> jar() {
      return Optional.ofNullable(jar);
    }

    Optional<String> path() {
      return Optional.ofNullable(path);
    }
  }
}
