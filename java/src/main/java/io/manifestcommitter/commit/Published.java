// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.plan.Swaps;
import io.manifestcommitter.plan.Swaps.Swap;
import io.manifestcommitter.store.StoreEntry;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.fs.Path;

/**
 * How far a commit came: which files of its plan, by their positions, and which swaps it has
 * published, or may have. Safe for use by many threads.
 */
final class Published {
  private final BitSet begun = new BitSet();
  private final BitSet done = new BitSet();

  /**
   * Whether a rename that was denied or not answered is proven all the same: by this try, or by an
   * earlier one.
   */
  volatile boolean hasRecovered;

  /** The swaps that may have taken effect. */
  final Set<Swap> begunSwaps = ConcurrentHashMap.newKeySet();

  /** The swaps whose old content is proven to be aside, or to be gone. */
  final Set<Swap> aside = ConcurrentHashMap.newKeySet();

  /** The swaps whose staged directory is proven to be at its place. */
  final Set<Swap> brought = ConcurrentHashMap.newKeySet();

  /** The swaps that have to be done file by file. */
  final Set<Swap> failedSwaps = ConcurrentHashMap.newKeySet();

  /** A rename is about to be asked for: from here on the file may be at either end. */
  synchronized void begin(int file) {
    begun.set(file);
  }

  /** The rename is proven. */
  synchronized void done(int file) {
    done.set(file);
  }

  /** Whether the file may be at either end. */
  synchronized boolean isUncertain(int file) {
    return begun.get(file) && !done.get(file);
  }

  /** Whether the file is at its destination. */
  synchronized boolean isDone(int file) {
    return done.get(file);
  }

  /** The store does not do it, or somebody is in the way: it has to be done file by file. */
  void failSwap(Swap swap) {
    brought.remove(swap);
    failedSwaps.add(swap);
  }

  /** The old data of a plan that is not aside, without the files whose places new ones take. */
  List<OldDirectory> inPlace(JobPlan plan) {
    List<OldDirectory> inPlace = new ArrayList<>();
    for (OldDirectory old : plan.replaced) {
      if (!isAside(plan.swaps, old.path)) {
        List<StoreEntry> files = new ArrayList<>();
        old.files().forEach(files::add);
        files.removeIf(file -> isAside(plan.swaps, file.path()) || plan.takes(file.path()));
        inPlace.add(new OldDirectory(old.path, files));
      }
    }
    return inPlace;
  }

  private boolean isAside(Swaps swaps, Path old) {
    return swaps.at(old).filter(aside::contains).isPresent();
  }

  /** Whether the staged directory with a directory of the plan is at its place. */
  boolean isBrought(JobPlan plan, Path directory) {
    return plan.swaps.bringing(directory).filter(brought::contains).isPresent();
  }
}
