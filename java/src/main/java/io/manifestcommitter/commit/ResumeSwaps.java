package io.manifestcommitter.commit;

import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.plan.Swap;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.hadoop.fs.Path;

/**
 * Finds out, from the store alone, how far the swaps of a commit came that was cut short before its
 * point of no return, so that it can be gone on with. Changes nothing.
 */
final class ResumeSwaps {
  private final Store store;
  private final Workers workers;
  private final Swapped swapped;

  /**
   * A step.
   *
   * @param swapped learns of what is done
   */
  ResumeSwaps(Store store, Workers workers, Swapped swapped) {
    this.store = store;
    this.workers = workers;
    this.swapped = swapped;
  }

  /**
   * Finds it out.
   *
   * @throws IOException if another job changed places since; all of them are named
   */
  void run(JobPlan plan) throws IOException {
    Queue<PlaceChangedException> changed = new ConcurrentLinkedQueue<>();
    UnchangedPlaces places = new UnchangedPlaces(store, plan);
    List<Swap> swaps = plan.swaps().all();
    List<Path> ends = plan.swaps().asides();
    ends.addAll(plan.swaps().staged());
    Set<Path> there = new FindEntries(store, workers).run(ends).keySet();
    workers.forEach(
        Numbered.each(swaps),
        swaps.size(),
        swap -> noteChange(changed, () -> look(plan, places, swap, there)));

    List<OldDirectory> inPlace = new ArrayList<>(plan.replaced());
    inPlace.removeIf(old -> swapped.isAside(plan.swaps(), old.path()));
    workers.forEach(
        inPlace,
        old -> {
          List<StoreEntry> files = new ArrayList<>(old.files());
          files.removeIf(file -> swapped.isAside(plan.swaps(), file.path()));
          noteChange(changed, () -> places.requireOld(new OldDirectory(old.path(), files)));
        });
    PlaceChangedException first = changed.poll();
    if (first != null) {
      changed.forEach(first::addSuppressed);
      throw first;
    }
  }

  private void look(JobPlan plan, UnchangedPlaces places, Numbered<Swap> numbered, Set<Path> there)
      throws IOException {
    Swap swap = numbered.item();
    Optional<Path> staged = swap.staged();
    boolean isAside = swap.aside().filter(there::contains).isPresent();
    boolean isPublished = staged.isPresent() && !there.contains(staged.get());
    if (isPublished) {
      places.requirePublished(numbered);
    } else if (isAside || (!swap.aside().isPresent() && !plan.replaced().isEmpty())) {
      places.requireFree(swap);
    }
    if (isAside || isPublished) {
      swapped.begin(numbered.number());
    }
    if (isAside) {
      swapped.aside(numbered.number());
    }
    if (isPublished) {
      swapped.published(numbered.number());
    }
  }

  private static void noteChange(Queue<PlaceChangedException> changed, Look look)
      throws IOException {
    try {
      look.run();
    } catch (PlaceChangedException e) {
      changed.add(e);
    }
  }

  /** One look at the store. */
  private interface Look {
    void run() throws IOException;
  }
}
