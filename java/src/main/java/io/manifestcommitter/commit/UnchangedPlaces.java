package io.manifestcommitter.commit;

import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.plan.Swap;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/**
 * Tells whether another job overwrote a place between a commit that was cut short and its recovery.
 * The sign of it is that something is gone which that commit left there; or, where it left nothing
 * (the old data was aside, the new not there yet), that there is something. Then neither the old
 * data nor the new belongs there, and only a human can tell what does.
 */
final class UnchangedPlaces {
  private final Store store;
  private final JobPlan plan;

  UnchangedPlaces(Store store, JobPlan plan) {
    this.store = store;
    this.plan = plan;
  }

  /**
   * Requires it of the place of a swap, if its old data is aside.
   *
   * @throws PlaceChangedException if it was overwritten
   */
  void requireOfSwap(Numbered<Swap> numbered) throws IOException {
    Swap swap = numbered.item();
    if (!swap.aside().isPresent() || !store.status(swap.aside().get()).isPresent()) {
      return;
    }
    if (swap.staged().isPresent() && !store.status(swap.staged().get()).isPresent()) {
      requirePublished(numbered);
    } else {
      requireFree(swap);
    }
  }

  /**
   * Requires that all that a swap brought is at its place.
   *
   * @throws PlaceChangedException if something is missing
   */
  void requirePublished(Numbered<Swap> swap) throws IOException {
    int planned = plan.swaps().filesBroughtBy(swap.number());
    int there =
        PlaceContent.list(store, swap.item().place(), PlaceContent.planned(plan.swaps())).claimed();
    if (there < planned) {
      throw changed(
          swap.item(), planned - there + " of " + planned + " files that it published are gone");
    }
  }

  /**
   * Requires that there is nothing at the place of a swap, but files of the job.
   *
   * @throws PlaceChangedException if there is
   */
  void requireFree(Swap swap) throws IOException {
    Optional<StoreEntry> there = store.status(swap.place());
    if (there.isPresent()
        && (!there.get().isDirectory()
            || PlaceContent.list(store, swap.place(), PlaceContent.own(plan)).hasForeign())) {
      throw changed(
          swap,
          swap.aside().isPresent()
              ? "it had moved the old data aside, and there is other data"
              : "there was nothing, and there is other data");
    }
  }

  /**
   * Requires that a directory of old data is as the job found it; others may have added to it.
   *
   * @throws PlaceChangedException if a file is gone, or another one
   */
  void requireOld(OldDirectory old) throws IOException {
    Map<Path, StoreEntry> missing = new HashMap<>();
    old.files().forEach(file -> missing.put(file.path(), file));
    missing.keySet().removeIf(plan::takes);
    if (missing.isEmpty()) {
      return;
    }
    try {
      store.list(
          old.path(),
          entry -> {
            StoreEntry recorded = missing.get(entry.path());
            if (recorded != null && recorded.isSameFileAs(entry)) {
              missing.remove(entry.path());
            }
          });
    } catch (FileNotFoundException e) {
      // All are missing.
    }
    if (!missing.isEmpty()) {
      throw new PlaceChangedException(
          plan, old.path(), missing.size() + " files that it was to replace are gone, or others");
    }
  }

  private PlaceChangedException changed(Swap swap, String sign) {
    return swap.aside().isPresent()
        ? new PlaceChangedException(plan, swap.place(), sign, swap.aside().get())
        : new PlaceChangedException(plan, swap.place(), sign);
  }
}
