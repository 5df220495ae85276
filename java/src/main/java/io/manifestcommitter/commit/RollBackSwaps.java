// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.Swaps.Swap;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rolls swaps back: the new directories go to where they were staged, the old ones to their places,
 * and what another job put there is returned, too. How far a swap came is told from the store, so
 * this may be repeated from wherever it ended.
 */
final class RollBackSwaps {
  private static final Logger LOG = LoggerFactory.getLogger(RollBackSwaps.class);

  private final Store store;
  private final Workers workers;
  private final JobPlan plan;
  private final List<Swap> swaps;
  private final Optional<PlaceSurvey> survey;
  private final PlaceContent.Claim own;
  private final Map<Swap, Found> found = new ConcurrentHashMap<>();
  private boolean isAlone;

  /**
   * A step.
   *
   * @param swaps that may have taken effect
   * @param survey where other jobs may have overwritten places since: these are left alone. What
   *     they do beside a commit that fails is an append, or meets an overwrite that is under way
   */
  RollBackSwaps(CommitWork work, JobPlan plan, List<Swap> swaps, Optional<PlaceSurvey> survey) {
    this.store = work.store;
    this.workers = work.workers;
    this.plan = plan;
    this.swaps = swaps;
    this.survey = survey;
    this.own = PlaceContent.Claim.own(plan);
  }

  /**
   * Moves the new directories to where they were staged.
   *
   * @param left takes what could not be rolled back, with the reason
   */
  void rollBackPublished(Queue<String> left) throws IOException {
    isAlone = isAlone();
    workers.forEach(
        swaps,
        swap -> {
          try {
            if (survey.isPresent()) {
              Retries.few(() -> survey.get().requireNotOverwritten(swap));
            }
            if (swap.staged.isPresent()) {
              Retries.few(() -> found.put(swap, rollBackPublished(swap)));
            }
          } catch (IOException e) {
            left.add(swap.place + " (" + e + ")");
            found.put(swap, Found.STUCK);
          }
        });
  }

  /**
   * Whether a directory was found in parts, so that its files have to be rolled back one by one.
   */
  boolean isMixed(Optional<Swap> swap) {
    return swap.map(found::get).filter(Found.MIXED::equals).isPresent();
  }

  /** Whether a directory was found where it was staged, perhaps without some of its files. */
  boolean isStaged(Optional<Swap> swap) {
    return swap.map(found::get).filter(Found.STAGED::equals).isPresent();
  }

  /**
   * Moves the old directories and files back to their places, after the new ones are gone; then
   * what came along with the new ones.
   */
  void rollBackAsides(Queue<String> left) throws IOException {
    workers.forEach(
        swaps,
        swap -> {
          if (found.get(swap) == Found.STUCK) {
            return;
          }
          if (swap.aside.isPresent()) {
            Retries.fewOrNote(swap.aside.get(), left, () -> rollBackAside(swap));
          }
          if (swap.staged.isPresent()) {
            Path staged = swap.staged.get();
            // Also if an earlier try, here or elsewhere, ended before this.
            Retries.fewOrNote(
                staged, left, () -> PlaceContent.giveBack(store, staged, swap.place, own));
          }
        });
  }

  private Found rollBackPublished(Swap swap) throws IOException {
    Path staged = swap.staged.get();
    if (SwapDirectories.unnest(store, plan.swaps, swap) || store.status(staged).isPresent()) {
      return Found.STAGED;
    }
    if (!isAlone) {
      return Found.MIXED;
    }
    PlaceContent there = PlaceContent.list(store, swap.place, own);
    if (!there.exists || there.hasForeign) {
      return Found.MIXED;
    }
    store.mkdirs(staged.getParent());
    RenameResult result = store.renameDirectory(swap.place, staged);
    return result.isDone() || store.status(staged).isPresent() ? Found.ROLLED_BACK : Found.MIXED;
  }

  /**
   * Whether no other job has a staging directory in the table. One that has may replace a
   * directory, or add to it, between a look at it and its rename, so files are then rolled back by
   * their identity.
   */
  private boolean isAlone() {
    Set<Path> others = new HashSet<>();
    try {
      store.list(
          plan.table,
          entry -> {
            if (entry.isDirectory() && StagingRoot.isStaging(entry.name())) {
              others.add(entry.path());
            }
          });
    } catch (IOException e) {
      LOG.debug("The other jobs in {} could not be listed", plan.table, e);
      return false;
    }
    plan.targets.forEach(target -> others.remove(target.staging));
    return others.isEmpty();
  }

  private void rollBackAside(Swap swap) throws IOException {
    Path aside = swap.aside.get();
    Optional<StoreEntry> old = store.status(aside);
    if (old.isPresent() && old.get().isDirectory()) {
      rollBackDirectory(aside, swap.place);
    } else if (old.isPresent()) {
      PlaceContent.giveBackFile(store, old.get(), swap.place);
    }
    // Had somebody made the place in between, the store would have put the directory inside.
    merge(StorePaths.resolve(swap.place, aside.getName()), swap.place);
  }

  private void rollBackDirectory(Path aside, Path place) throws IOException {
    if (store.status(place).isPresent()) {
      merge(aside, place);
      return;
    }
    RenameResult result = store.renameDirectory(aside, place);
    if (!result.isDone() && store.status(aside).isPresent()) {
      throw result.failure("the old data of " + place + " is still at " + aside);
    }
  }

  private void merge(Path from, Path to) throws IOException {
    if (store.status(from).isPresent()) {
      PlaceContent.giveBack(store, from, to, PlaceContent.Claim.NOTHING);
      store.deleteEmptyDirectory(from);
    }
  }

  private enum Found {
    /** It was not renamed as a whole. */
    STAGED,
    /** It is not there, and what is at its place is not all of it, or not only it. */
    MIXED,
    ROLLED_BACK,
    /** That could not be told or done. */
    STUCK
  }
}
