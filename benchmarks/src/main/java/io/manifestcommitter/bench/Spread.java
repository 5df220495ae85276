// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The smallest, the middle and the largest of some numbers. */
final class Spread {
  private final List<Double> sorted;

  /** Of at least one number. */
  Spread(List<Double> numbers) {
    this.sorted = numbers.stream().sorted().collect(Collectors.toList());
    if (sorted.isEmpty()) {
      throw new IllegalArgumentException("no numbers");
    }
  }

  double median() {
    int middle = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(middle)
        : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
  }

  /** The middle, and the ends where there are several numbers. */
  String text(int decimals) {
    String format = "%." + decimals + "f";
    String middle = String.format(Locale.ROOT, format, median());
    return sorted.size() == 1
        ? middle
        : String.format(
            Locale.ROOT,
            "%s (" + format + "–" + format + ")",
            middle,
            sorted.get(0),
            sorted.get(sorted.size() - 1));
  }
}
