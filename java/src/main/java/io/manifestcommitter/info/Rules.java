// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import io.manifestcommitter.info.Problem.Repair;
import io.manifestcommitter.info.Problem.Severity;
import java.util.ArrayList;
import java.util.List;

/** Conditions, each with the problem that is there if it holds, and its repair. */
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

  /** Adds a problem of {@code problems.json}, whose text has a place for each of the values. */
  protected final void add(String name, Repair repair, Object... values) {
    problems.add(Problem.of(name, null, repair, values));
  }

  /** As {@link #add(String, Repair, Object...)}, with another severity than there. */
  protected final void add(Severity severity, String name, Repair repair, Object... values) {
    problems.add(Problem.of(name, severity, repair, values));
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
