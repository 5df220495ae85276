// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import java.util.Objects;

/** Something that is wrong with the binding of a path, and what repairs it. */
final class Problem {
  private final Severity severity;
  private final ProblemCode code;
  private final String text;
  private final Repair repair;

  Problem(Severity severity, ProblemCode code, String text, Repair repair) {
    this.severity = Objects.requireNonNull(severity);
    this.code = Objects.requireNonNull(code);
    this.text = Objects.requireNonNull(text);
    this.repair = Objects.requireNonNull(repair);
  }

  static Problem error(ProblemCode code, String text, Repair repair) {
    return new Problem(Severity.ERROR, code, text, repair);
  }

  static Problem warning(ProblemCode code, String text, Repair repair) {
    return new Problem(Severity.WARNING, code, text, repair);
  }

  static Problem note(ProblemCode code, String text, Repair repair) {
    return new Problem(Severity.NOTE, code, text, repair);
  }

  Severity severity() {
    return severity;
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
}
