// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.util.ArrayList;
import java.util.List;

/** What is wrong: how often, and the first of it. Safe for use by many threads. */
final class Faults {
  private static final int SHOWN = 20;

  private final List<String> first = new ArrayList<>();
  private long count;

  /** Notes that something is wrong. */
  synchronized void add(String what) {
    count++;
    if (first.size() < SHOWN) {
      first.add(what);
    }
  }

  /** Notes it if two things are not the same. */
  void expect(String what, Object expected, Object found) {
    if (!expected.equals(found)) {
      add(what + ": " + found + " instead of " + expected);
    }
  }

  synchronized long count() {
    return count;
  }

  synchronized List<String> first() {
    return new ArrayList<>(first);
  }
}
