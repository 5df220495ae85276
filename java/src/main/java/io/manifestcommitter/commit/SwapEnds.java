// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.plan.Swaps;
import io.manifestcommitter.plan.Swaps.Swap;
import io.manifestcommitter.store.Store;
import java.io.IOException;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.fs.Path;

/** Which ends of a plan's swaps were found in the store, by their numbers. Immutable. */
final class SwapEnds {
  private final BitSet aside = new BitSet();
  private final BitSet published = new BitSet();

  private SwapEnds(List<Swap> swaps, Set<Path> there) {
    for (int number = 0; number < swaps.size(); number++) {
      Swap swap = swaps.get(number);
      aside.set(number, swap.aside().filter(there::contains).isPresent());
      published.set(number, swap.staged().filter(staged -> !there.contains(staged)).isPresent());
    }
  }

  /** Looks at both ends of each. */
  static SwapEnds look(Store store, Workers workers, Swaps swaps) throws IOException {
    List<Path> ends = swaps.asides();
    ends.addAll(swaps.staged());
    return new SwapEnds(swaps.all(), new FindEntries(store, workers).run(ends).keySet());
  }

  /** Whether the old content is aside. */
  boolean isAside(int swap) {
    return aside.get(swap);
  }

  /** Whether there is a new directory, which is not where it was staged. */
  boolean isPublished(int swap) {
    return published.get(swap);
  }
}
