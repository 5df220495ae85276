// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.Swaps;
import io.manifestcommitter.plan.Swaps.Swap;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StorePaths;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/**
 * Directories that went inside another one, and not to its place: another job had made that right
 * before the rename, and most stores then say yes all the same.
 */
final class NestedDirectories {
  private final Store store;
  private final Swaps swaps;

  NestedDirectories(Store store, JobPlan plan) {
    this.store = store;
    this.swaps = plan.swaps();
  }

  /**
   * Moves all of them to where they were staged. To be called before anything is told from the
   * places of a commit that was cut short. Two requests for each directory that is not where it was
   * staged, and one or more for where they were.
   *
   * @return both ends of each swap after that
   */
  SwapEnds unnestAll(Workers workers) throws IOException {
    SwapEnds ends = SwapEnds.look(store, workers, swaps);
    List<Integer> others = new ArrayList<>();
    for (int number = 0; number < swaps.all().size(); number++) {
      if (ends.isPublished(number)) {
        others.add(number);
      }
    }
    boolean hasMoved = workers.map(others, this::unnest).contains(true);
    return hasMoved ? SwapEnds.look(store, workers, swaps) : ends;
  }

  /**
   * Moves the directory of one swap to where it was staged, if it is inside another one.
   *
   * @return whether it was, and is staged now
   */
  boolean unnest(int number) throws IOException {
    Swap swap = swaps.all().get(number);
    if (!swap.staged().isPresent() || store.status(swap.staged().get()).isPresent()) {
      return false;
    }
    Path staged = swap.staged().get();
    Path nested = StorePaths.resolve(swap.place(), staged.getName());
    if (!isOurs(nested, number, swap)) {
      return false;
    }
    RenameResult result = Retries.renameDirectory(store, nested, staged);
    if (!result.isDone() && !store.status(staged).isPresent()) {
      throw result.failure(nested + " could not be moved out of " + swap.place());
    }
    return true;
  }

  /** Whether a directory holds the files of a swap: a look at one of its directories tells. */
  private boolean isOurs(Path nested, int number, Swap swap) throws IOException {
    Optional<Path> known = swaps.directoryWithFiles(number);
    if (!known.isPresent()) {
      return false;
    }
    Path directory = known.get();
    boolean[] ours = {false};
    try {
      store.list(
          directory.equals(swap.place())
              ? nested
              : StorePaths.resolve(nested, StorePaths.relative(swap.place(), directory)),
          entry -> ours[0] |= !entry.isDirectory() && swaps.names(directory, entry.name()));
    } catch (FileNotFoundException e) {
      return false;
    }
    return ours[0];
  }
}
