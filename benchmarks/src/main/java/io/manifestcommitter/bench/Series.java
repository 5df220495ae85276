// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/** The measurements of one phase of one contender: one a round, and one of the heap. */
final class Series {
  private final List<Measurement> rounds = new ArrayList<>();
  private Measurement heap;

  void round(Measurement measurement) {
    rounds.add(measurement);
  }

  void heap(Measurement measurement) {
    heap = measurement;
  }

  /** The requests, which do not differ from round to round unless the store was too slow. */
  RequestCounts requests() {
    return rounds.get(0).requests();
  }

  /** Seconds. */
  Spread seconds(ToLongFunction<Measurement> nanos) {
    return new Spread(
        rounds.stream().map(m -> nanos.applyAsLong(m) / 1e9).collect(Collectors.toList()));
  }

  /** How many times as much as the yardstick in the same round. */
  Spread ratio(Series yardstick, ToLongFunction<Measurement> nanos) {
    List<Double> ratios = new ArrayList<>();
    for (int i = 0; i < rounds.size(); i++) {
      ratios.add(
          nanos.applyAsLong(rounds.get(i))
              / (double) Math.max(1, nanos.applyAsLong(yardstick.rounds.get(i))));
    }
    return new Spread(ratios);
  }

  /** MiB. */
  double heap() {
    return heap.heapBytes() / (double) (1 << 20);
  }
}
