// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.plan.Swaps;
import java.util.BitSet;
import org.apache.hadoop.fs.Path;

/** How far the swaps of a plan came, by their numbers. Safe for use by many threads. */
final class Swapped {
  private final BitSet begun = new BitSet();
  private final BitSet aside = new BitSet();
  private final BitSet published = new BitSet();
  private final BitSet failed = new BitSet();

  /** From here on it may have taken effect. */
  synchronized void begin(int swap) {
    begun.set(swap);
  }

  /** The old content is proven to be aside, or to be gone. */
  synchronized void aside(int swap) {
    aside.set(swap);
  }

  /** The staged directory is proven to be at its place. */
  synchronized void published(int swap) {
    published.set(swap);
  }

  /** The store does not do it, or somebody is in the way: it has to be done file by file. */
  synchronized void fail(int swap) {
    published.clear(swap);
    failed.set(swap);
  }

  /** Those that may have taken effect. */
  synchronized BitSet begun() {
    return (BitSet) begun.clone();
  }

  /** Whether the old content is aside. */
  synchronized boolean isAside(int swap) {
    return aside.get(swap);
  }

  /** Whether what was at a path is aside with a swap. */
  boolean isAside(Swaps swaps, Path old) {
    int swap = swaps.at(old);
    return swap >= 0 && isAside(swap);
  }

  /** Whether the staged directory is at its place. */
  synchronized boolean isPublished(int swap) {
    return published.get(swap);
  }

  /** Those that have to be done file by file. */
  synchronized BitSet failed() {
    return (BitSet) failed.clone();
  }
}
