// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.testing.CaseTally;
import io.manifestcommitter.testing.Cases;
import java.util.Locale;

/** Counts the interleavings of pairs of jobs, on all stores, and how they ended. */
final class PairTally extends CaseTally<PairTally.Count> {
  PairTally(Cases cases) {
    super(cases, Count.class, "pair");
  }

  /** What is counted. */
  enum Count {
    INTERLEAVINGS,
    /** A party waited for the other one. */
    WAITED,
    BOTH_ENDED,
    /** Of these, the table is as one order makes it and the other does not. */
    FIRST_LAST,
    SECOND_LAST,
    /** A job failed by itself, or was made to. */
    FAILED,
    DIED,
    /** It was taken for dead while it lived, and could not end its commit. */
    TAKEN_OVER,
    /** A recovery left a place for a human to decide. */
    REFUSED
  }

  @Override
  protected String summary() {
    return String.format(Locale.ROOT, "Pairs: %,d interleavings", sum(Count.INTERLEAVINGS));
  }
}
