// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.trials.PairParty.PairWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.BiPredicate;

/**
 * Whether a table is what some order of its writers makes of it, each of them whole or not there.
 * Overwrites replace all that was before them. Of an append an overwrite replaces the rows that
 * were there when it looked.
 */
final class PairCheck {
  private final Map<String, String> old;
  private final Map<String, String> visible;
  private final BiPredicate<String, String> hasSeen;

  /**
   * A check.
   *
   * @param hasSeen whether a writer, by its word, saw a file before it made its plan
   */
  PairCheck(
      Map<String, String> old,
      NavigableMap<String, String> visible,
      BiPredicate<String, String> hasSeen) {
    this.old = old;
    this.visible = visible;
    this.hasSeen = hasSeen;
  }

  /** What was left of the writers. */
  enum Left {
    /** It said that it ended. */
    ALL,
    /** It failed, and could say so. */
    NOTHING,
    /** It died. */
    ALL_OR_NOTHING
  }

  /**
   * The orders, as "ab", that make the table what it is; empty if there is none.
   *
   * @param left what was left of each writer
   */
  List<String> orders(Map<PairWriter, Left> left) {
    List<String> fitting = new ArrayList<>();
    for (List<PairWriter> order : choices(new ArrayList<>(left.keySet()), left)) {
      if (fits(order)) {
        StringBuilder words = new StringBuilder();
        order.forEach(writer -> words.append(writer.name()));
        fitting.add(words.toString());
      }
    }
    return fitting;
  }

  private static List<List<PairWriter>> choices(
      List<PairWriter> writers, Map<PairWriter, Left> left) {
    if (writers.isEmpty()) {
      return List.of(List.of());
    }
    PairWriter first = writers.get(0);
    List<List<PairWriter>> choices = new ArrayList<>();
    for (List<PairWriter> rest : choices(writers.subList(1, writers.size()), left)) {
      if (left.get(first) != Left.ALL) {
        choices.add(rest);
      }
      for (int at = 0; at <= rest.size() && left.get(first) != Left.NOTHING; at++) {
        List<PairWriter> with = new ArrayList<>(rest);
        with.add(at, first);
        choices.add(with);
      }
    }
    return choices;
  }

  private boolean fits(List<PairWriter> order) {
    Map<String, String> expected = new TreeMap<>(old);
    for (PairWriter writer : order) {
      if (!writer.write().isAppend()) {
        expected = writer.write().after(expected);
      }
    }
    for (PairWriter writer : order) {
      if (writer.write().isAppend()) {
        for (Map.Entry<String, String> row : writer.write().rows().entrySet()) {
          if (visible.containsKey(row.getKey()) || !mayBeReplaced(row.getKey(), order)) {
            expected.put(row.getKey(), row.getValue());
          }
        }
      }
    }
    return expected.equals(visible);
  }

  private boolean mayBeReplaced(String row, List<PairWriter> by) {
    return by.stream()
        .anyMatch(writer -> writer.write().replaces(row) && hasSeen.test(writer.name(), row));
  }
}
