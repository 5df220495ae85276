// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.plan.Swaps;
import io.manifestcommitter.store.StoreEntry;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.apache.hadoop.fs.Path;

/**
 * How far a commit came: which files of its plan, by their positions, and which swaps, by their
 * numbers, it has published, or may have. Safe for use by many threads.
 */
final class Published {
  private final BitSet begun = new BitSet();
  private final BitSet done = new BitSet();
  private final BitSet begunSwaps = new BitSet();
  private final BitSet aside = new BitSet();
  private final BitSet brought = new BitSet();
  private final BitSet failed = new BitSet();
  private volatile boolean recovered;

  /** A rename is about to be asked for: from here on the file may be at either end. */
  synchronized void begin(int file) {
    begun.set(file);
  }

  /** The rename is proven. */
  synchronized void done(int file) {
    done.set(file);
  }

  /** A rename was denied or not answered, and is proven: by this try, or by an earlier one. */
  void recovered() {
    recovered = true;
  }

  /** Whether there was one such rename at least. */
  boolean hasRecovered() {
    return recovered;
  }

  /** Whether the file may be at either end. */
  synchronized boolean isUncertain(int file) {
    return begun.get(file) && !done.get(file);
  }

  /** Whether the file is at its destination. */
  synchronized boolean isDone(int file) {
    return done.get(file);
  }

  /** From here on the swap may have taken effect. */
  synchronized void beginSwap(int swap) {
    begunSwaps.set(swap);
  }

  /** The old content is proven to be aside, or to be gone. */
  synchronized void aside(int swap) {
    aside.set(swap);
  }

  /** The staged directory is proven to be at its place. */
  synchronized void brought(int swap) {
    brought.set(swap);
  }

  /** The store does not do it, or somebody is in the way: it has to be done file by file. */
  synchronized void failSwap(int swap) {
    brought.clear(swap);
    failed.set(swap);
  }

  /** Those that may have taken effect. */
  synchronized BitSet begunSwaps() {
    return (BitSet) begunSwaps.clone();
  }

  /** Whether the old content is aside. */
  synchronized boolean isAside(int swap) {
    return aside.get(swap);
  }

  /** The old data of a plan that is not aside, without the files whose places new ones take. */
  List<OldDirectory> inPlace(JobPlan plan) {
    List<OldDirectory> inPlace = new ArrayList<>();
    for (OldDirectory old : plan.replaced()) {
      if (!isAside(plan.swaps(), old.path())) {
        List<StoreEntry> files = new ArrayList<>();
        old.files().forEach(files::add);
        files.removeIf(file -> isAside(plan.swaps(), file.path()) || plan.takes(file.path()));
        inPlace.add(new OldDirectory(old.path(), files));
      }
    }
    return inPlace;
  }

  private boolean isAside(Swaps swaps, Path old) {
    int swap = swaps.at(old);
    return swap >= 0 && isAside(swap);
  }

  /** Whether the staged directory is at its place; not if there is no such swap. */
  synchronized boolean isBrought(int swap) {
    return swap >= 0 && brought.get(swap);
  }

  /** The swaps that have to be done file by file. */
  synchronized BitSet failedSwaps() {
    return (BitSet) failed.clone();
  }
}
