package io.manifestcommitter.commit;

import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.plan.Swap;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.hadoop.fs.Path;

/**
 * Lists the old data that an overwrite moved aside once more, before the staging root goes with it:
 * what was not there when the plan was made belongs to another job, which put it there before the
 * directory moved, and goes back to its place.
 */
final class ReleaseAsides {
  private final Store store;
  private final Workers workers;

  ReleaseAsides(Store store, Workers workers) {
    this.store = store;
    this.workers = workers;
  }

  /**
   * Gives back what is of other jobs.
   *
   * @throws ForeignDataAsideException if something of that could not be given back
   */
  void run(JobPlan plan, Swapped swapped) throws IOException {
    Map<Path, StoreEntry> recorded = new HashMap<>();
    Set<Path> directories = new HashSet<>();
    for (OldDirectory old : plan.replaced()) {
      directories.add(old.path());
      old.files().forEach(file -> recorded.put(file.path(), file));
    }
    ReturnForeign.Claim claim =
        new ReturnForeign.Claim() {
          @Override
          public boolean keepsFile(Path place, StoreEntry file) {
            StoreEntry asPlanned = recorded.get(place);
            return asPlanned != null && asPlanned.isSameFileAs(file);
          }

          @Override
          public boolean keepsDirectory(Path place) {
            return directories.contains(place);
          }

          @Override
          public boolean keepsLink(Path place) {
            return recorded.containsKey(place) || directories.contains(place);
          }
        };
    List<Swap> asides = new ArrayList<>();
    Set<Path> parents = new HashSet<>();
    List<Swap> all = plan.swaps().all();
    for (int number = 0; number < all.size(); number++) {
      if (swapped.isAside(number)) {
        asides.add(all.get(number));
        parents.add(all.get(number).aside().get().getParent());
      }
    }
    Map<Path, StoreEntry> listed = new ConcurrentHashMap<>();
    workers.forEach(parents, parent -> Attempts.few(() -> list(parent, listed)));
    Queue<String> left = new ConcurrentLinkedQueue<>();
    workers.forEach(
        asides,
        swap ->
            Attempts.fewOrNote(
                swap.aside().get(), left, () -> giveBackForeign(swap, listed, claim)));
    if (!left.isEmpty()) {
      throw new ForeignDataAsideException(plan, new ArrayList<>(left));
    }
  }

  private void list(Path directory, Map<Path, StoreEntry> listed) throws IOException {
    try {
      store.list(directory, entry -> listed.put(entry.path(), entry));
    } catch (FileNotFoundException e) {
      // All of the old data was gone before it could be moved.
    }
  }

  private void giveBackForeign(Swap swap, Map<Path, StoreEntry> listed, ReturnForeign.Claim claim)
      throws IOException {
    StoreEntry aside = listed.get(swap.aside().get());
    if (aside == null || aside.isLink()) {
      return;
    }
    ReturnForeign giveBack = new ReturnForeign(store);
    if (aside.isDirectory()) {
      giveBack.run(aside.path(), swap.place(), claim);
    } else if (!swap.oldFile().filter(old -> old.isSameFileAs(aside)).isPresent()) {
      giveBack.file(aside, swap.place());
    }
  }
}
