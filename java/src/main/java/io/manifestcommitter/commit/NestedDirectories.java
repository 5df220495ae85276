package io.manifestcommitter.commit;

import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.Swap;
import io.manifestcommitter.plan.Swaps;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StorePaths;
import java.io.FileNotFoundException;
import java.io.IOException;
import org.apache.hadoop.fs.Path;

/**
 * Directories that went inside another one, and not to its place: another job had made that right
 * before the rename, and most stores then say yes all the same.
 */
final class NestedDirectories {
  private static final int TRIES = 3;

  private final Store store;
  private final Swaps swaps;

  NestedDirectories(Store store, JobPlan plan) {
    this.store = store;
    this.swaps = plan.swaps();
  }

  /**
   * Takes all of them out, where they are. To be called before anything is told from the places of
   * a commit that was cut short. A request or two for each swap.
   */
  void takeOutAll(Workers workers) throws IOException {
    workers.forEach(Numbered.each(swaps.all()), swaps.all().size(), swap -> takeOut(swap.number()));
  }

  /**
   * Takes the directory of one swap out and back to where it was staged, if it is inside another
   * one.
   *
   * @return whether it was, and is staged now
   */
  boolean takeOut(int number) throws IOException {
    Swap swap = swaps.all().get(number);
    if (!swap.staged().isPresent() || store.status(swap.staged().get()).isPresent()) {
      return false;
    }
    Path staged = swap.staged().get();
    Path nested = StorePaths.resolve(swap.place(), staged.getName());
    if (!isOurs(nested, number, swap)) {
      return false;
    }
    RenameResult result = store.renameDirectory(nested, staged);
    for (int tries = 1; tries < TRIES && result.outcome() == RenameResult.Outcome.FAILED; tries++) {
      result = store.renameDirectory(nested, staged);
    }
    if (!result.isDone() && !store.status(staged).isPresent()) {
      throw new IOException(
          nested + " could not be taken out of " + swap.place() + ": " + result.explanation(),
          result.cause().orElse(null));
    }
    return true;
  }

  /** Whether a directory holds the files of a swap: the first of its directories that has some. */
  private boolean isOurs(Path nested, int number, Swap swap) throws IOException {
    for (Path directory : swaps.directories()) {
      if (swaps.bringing(directory) == number && swaps.filesIn(directory) > 0) {
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
    return false;
  }
}
