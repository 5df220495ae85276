package io.manifestcommitter.commit;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.plan.Swap;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;

/**
 * Tells whether another job overwrote a place between a commit that was cut short and its recovery.
 * The sign of it is that something is gone which that commit left there; or, where it left nothing
 * (the old data was aside, the new not there yet), that there is something. Then neither the old
 * data nor the new belongs there, and only a human can tell what does.
 */
final class UnchangedPlaces {
  private static final int NAMED = 3;

  private final Store store;
  private final JobPlan plan;
  private final Set<Path> insteadOfLinks;

  UnchangedPlaces(Store store, JobPlan plan) {
    this.store = store;
    this.plan = plan;
    this.insteadOfLinks = insteadOfLinks(plan);
  }

  /** The files of the plan that go one by one to where links were. */
  private static Set<Path> insteadOfLinks(JobPlan plan) {
    Set<Path> files = new HashSet<>();
    List<Swap> swaps = plan.swaps().all();
    if (swaps.stream().anyMatch(swap -> swap.replacesLink() && !swap.staged().isPresent())) {
      for (FileEntry file : plan.files()) {
        int swap = plan.swaps().at(file.destination());
        if (swap >= 0 && swaps.get(swap).replacesLink()) {
          files.add(file.destination());
        }
      }
    }
    return files;
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
    boolean isPublished =
        swap.staged().isPresent() && !store.status(swap.staged().get()).isPresent();
    if (isPublished) {
      requirePublished(numbered);
    }
    if (swap.replacesLink() || !isPublished) {
      // Beside what another job adds there is no place for a link.
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
            || PlaceContent.list(store, swap.place(), PlaceContent.own(plan, insteadOfLinks))
                .hasForeign())) {
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
      if (old.link().isPresent()) {
        store.status(old.path()).ifPresent(entry -> found(missing, entry));
      } else {
        store.list(old.path(), entry -> found(missing, entry));
      }
    } catch (FileNotFoundException e) {
      // All are missing.
    }
    if (!missing.isEmpty()) {
      throw new PlaceChangedException(
          plan,
          old.path(),
          missing.size()
              + " files that it was to replace are gone, or others, as "
              + missing.keySet().stream().sorted().limit(NAMED).collect(Collectors.toList()));
    }
  }

  private static void found(Map<Path, StoreEntry> missing, StoreEntry entry) {
    StoreEntry recorded = missing.get(entry.path());
    if (recorded != null && entry.isUntouchedSince(recorded)) {
      missing.remove(entry.path());
    }
  }

  private PlaceChangedException changed(Swap swap, String sign) {
    return swap.aside().isPresent()
        ? new PlaceChangedException(plan, swap.place(), sign, swap.aside().get())
        : new PlaceChangedException(plan, swap.place(), sign);
  }
}
