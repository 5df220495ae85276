// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import io.manifestcommitter.info.Problem.Repair;
import io.manifestcommitter.info.Problem.Severity;
import java.util.ArrayList;
import java.util.List;

/**
 * A list of rules. Each is a condition, and if that holds, the code and severity of a problem, its
 * repair and its text.
 */
abstract class Rules {
  private final List<Problem> problems = new ArrayList<>();

  /** Goes through the rules. */
  protected abstract void check();

  /** All that is wrong. */
  final List<Problem> problems() {
    problems.clear();
    check();
    return List.copyOf(problems);
  }

  /** Adds a problem; the text has a {@code %s} for each of the values. */
  @SuppressWarnings("AnnotateFormatMethod") // The annotation is on no user's class path.
  protected final void add(
      Severity severity, ProblemCode code, Repair repair, String text, Object... values) {
    problems.add(new Problem(severity, code, String.format(text, values), repair));
  }

  protected final void error(ProblemCode code, Repair repair, String text, Object... values) {
    add(Severity.ERROR, code, repair, text, values);
  }

  protected final void warning(ProblemCode code, Repair repair, String text, Object... values) {
    add(Severity.WARNING, code, repair, text, values);
  }

  protected final void note(ProblemCode code, Repair repair, String text, Object... values) {
    add(Severity.NOTE, code, repair, text, values);
  }

  /** What the innermost cause says. */
  static String message(Throwable failure) {
    Throwable e = failure;
    while (e.getCause() != null) {
      e = e.getCause();
    }
    return e.toString();
  }
}
