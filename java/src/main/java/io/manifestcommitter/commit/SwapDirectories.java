// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.Swaps;
import io.manifestcommitter.plan.Swaps.Swap;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes and replaces whole directories, each by one rename, in parallel; then lists each
 * published directory once: all the plan's files must be there.
 *
 * <p>A place that another job made in between is not taken over. Most stores then put the directory
 * inside the other one and say yes, so that rename is rolled back. The files of the directory are
 * left to be renamed one by one.
 */
final class SwapDirectories {
  private static final Logger LOG = LoggerFactory.getLogger(SwapDirectories.class);

  private final Store store;
  private final Workers workers;
  private final Published published;
  private final JobPlan plan;

  /** A step that notes each swap before it begins, and how far it came. */
  SwapDirectories(CommitWork work, JobPlan plan) {
    this.store = work.store;
    this.workers = work.workers;
    this.published = work.published;
    this.plan = plan;
  }

  /**
   * Makes the directories that old data moves to. To be called before the plan's journal is
   * written: should another process delete the staging directory after that, nothing can move
   * there.
   */
  void makeAsides() throws IOException {
    Set<Path> parents = new HashSet<>();
    plan.swaps.asides().forEach(aside -> parents.add(aside.getParent()));
    workers.forEach(parents, store::mkdirs);
  }

  /**
   * Does all swaps of a plan that are not done; those that cannot be done are noted as failed.
   *
   * @throws IOException if a swap's outcome is not known
   */
  void run() throws IOException {
    workers.forEach(plan.swaps.all, this::swap);
  }

  /**
   * Lists what was published. Where another job made the place in between it is moved out again,
   * and the swap noted as failed.
   *
   * @return whether there was such a place
   * @throws IOException if a file of the plan is gone
   */
  boolean prove() throws IOException {
    Set<Swap> incomplete = ConcurrentHashMap.newKeySet();
    List<Path> directories = new ArrayList<>(plan.swaps.directories());
    directories.removeIf(directory -> !published.isBrought(plan, directory));
    workers.forEach(
        directories,
        directory -> {
          if (!isComplete(directory)) {
            plan.swaps.bringing(directory).ifPresent(incomplete::add);
          }
        });
    workers.forEach(incomplete, this::fail);
    return !incomplete.isEmpty();
  }

  private void swap(Swap swap) throws IOException {
    published.begunSwaps.add(swap);
    if (swap.aside.isPresent() && !published.aside.contains(swap)) {
      if (!moveAside(swap)) {
        published.failSwap(swap);
        return;
      }
      published.aside.add(swap);
    }
    if (swap.staged.isPresent() && !published.brought.contains(swap)) {
      if (publish(swap)) {
        published.brought.add(swap);
      } else {
        published.failSwap(swap);
      }
    }
  }

  /** Whether the old content is aside, or gone; if not, the store does not move it. */
  private boolean moveAside(Swap swap) throws IOException {
    Path aside = swap.aside.get();
    if (swap.oldFile.isPresent()) {
      StoreEntry old = swap.oldFile.get();
      RenameResult result = Retries.renameToStaging(store, old, aside);
      return result.isDone() || !store.status(old.path()).isPresent();
    }
    return move(swap.place, aside)
        // Only this rename makes it: a place that is there again was made by another job since.
        || store.status(aside).isPresent()
        || !store.status(swap.place).isPresent();
  }

  /** Whether the staged directory is published; if not, something stands at its place. */
  private boolean publish(Swap swap) throws IOException {
    Path staged = swap.staged.get();
    if (move(staged, swap.place)) {
      return true;
    }
    // Nobody makes it again: where it is gone, it was renamed.
    if (!store.status(staged).isPresent()) {
      return true;
    }
    LOG.info("{} is published file by file: a directory cannot be renamed to it", swap.place);
    return false;
  }

  private boolean move(Path source, Path destination) {
    RenameResult result = Retries.renameDirectory(store, source, destination);
    if (!result.isDone()) {
      LOG.debug("{} was not moved to {}: {}", source, destination, result);
    }
    return result.isDone();
  }

  /** Lists one published directory; removes what of this job is not in its plan. */
  private boolean isComplete(Path directory) throws IOException {
    int[] found = {0};
    List<Path> strays = new ArrayList<>();
    Retries.few(
        () -> {
          found[0] = 0;
          strays.clear();
          boolean isThere =
              store.listIfThere(
                  directory,
                  plan.swaps.filesIn(directory),
                  entry -> {
                    if (entry.isDirectory()) {
                      return;
                    }
                    if (plan.swaps.names(directory, entry.name())) {
                      found[0]++;
                    } else if (entry.name().contains(plan.jobId)) {
                      strays.add(entry.path());
                    }
                  });
          if (!isThere) {
            found[0] = -1;
          }
        });
    for (Path stray : strays) {
      LOG.warn("{} is of this job and not in its plan: it is deleted", stray);
      Retries.few(() -> store.deleteFile(stray));
    }
    return found[0] == plan.swaps.filesIn(directory);
  }

  /** Moves a directory out of another one in which it landed, to be published file by file. */
  private void fail(Swap swap) throws IOException {
    if (!unnest(store, plan.swaps, swap)) {
      throw new IOException(
          "Files of the job are gone from "
              + swap.place
              + ", right after they were published: another job or a cleaner deleted or moved"
              + " them. Run the job again.");
    }
    LOG.info("Another job made {}: it is published file by file", swap.place);
    published.failSwap(swap);
  }

  /**
   * Moves the directory of one swap to where it was staged, if it went inside another one. Another
   * job had made that right before the rename, and most stores then say yes all the same.
   *
   * @return whether it did, and is staged now
   */
  static boolean unnest(Store store, Swaps swaps, Swap swap) throws IOException {
    Optional<Path> withFiles = swap.directoryWithFiles();
    if (!withFiles.isPresent() || store.status(swap.staged.get()).isPresent()) {
      return false;
    }
    Path staged = swap.staged.get();
    Path nested = StorePaths.resolve(swap.place, staged.getName());
    // A look at one of its directories tells whether it holds files of the swap.
    Path known = withFiles.get();
    Path within =
        known.equals(swap.place)
            ? nested
            : StorePaths.resolve(nested, StorePaths.relative(swap.place, known));
    PlaceContent.Claim planned = PlaceContent.Claim.planned(swaps);
    if (PlaceContent.list(store, within, known, planned).claimed == 0) {
      return false;
    }
    RenameResult result = Retries.renameDirectory(store, nested, staged);
    if (!result.isDone() && !store.status(staged).isPresent()) {
      throw result.failure(nested + " could not be moved out of " + swap.place);
    }
    return true;
  }
}
