package io.manifestcommitter.commit;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.Swap;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks, before a commit that was cut short is taken back or gone on with, whether another job
 * overwrote any place whose old data lies aside. An overwrite of a whole table leaves its sign only
 * at some of its places, so one sign keeps all old data where it is. Changes nothing.
 */
final class OverwrittenSince {
  private static final Logger LOG = LoggerFactory.getLogger(OverwrittenSince.class);

  private final Store store;
  private final Workers workers;

  OverwrittenSince(Store store, Workers workers) {
    this.store = store;
    this.workers = workers;
  }

  /**
   * Looks.
   *
   * @throws PlaceChangedException if there was one; it has all others suppressed
   */
  void requireNone(JobPlan plan) throws IOException {
    UnchangedPlaces places = new UnchangedPlaces(store, plan);
    List<Numbered<Swap>> directories = new ArrayList<>();
    Map<Path, List<Swap>> files = new TreeMap<>();
    int number = 0;
    for (Swap swap : plan.swaps().all()) {
      if (isHidden(swap.place().getName())) {
        LOG.debug("{} is not of the table's data", swap.place());
      } else if (swap.oldFile().isPresent()) {
        files.computeIfAbsent(swap.place().getParent(), key -> new ArrayList<>()).add(swap);
      } else {
        directories.add(new Numbered<>(number, swap));
      }
      number++;
    }
    Queue<PlaceChangedException> changed = new ConcurrentLinkedQueue<>();
    workers.forEach(directories, swap -> note(changed, () -> places.requireOfSwap(swap)));
    workers.forEach(
        files.entrySet(),
        directory ->
            note(changed, () -> requireOfFiles(plan, directory.getKey(), directory.getValue())));
    PlaceChangedException first = changed.poll();
    if (first != null) {
      changed.forEach(first::addSuppressed);
      throw first;
    }
  }

  /**
   * Of a directory whose old files move aside one by one: what is neither aside nor staged is where
   * the job left it; where it left nothing, there is nothing.
   */
  private void requireOfFiles(JobPlan plan, Path directory, List<Swap> swaps) throws IOException {
    List<Swap> inPlace = new ArrayList<>();
    Optional<Path> aside = Optional.empty();
    for (Swap swap : swaps) {
      if (store.status(swap.aside().get()).isPresent()) {
        aside = swap.aside();
      } else {
        inPlace.add(swap);
      }
    }
    if (!aside.isPresent()) {
      return;
    }
    Path old = aside.get().getParent();
    Map<Path, StoreEntry> there = list(directory);
    boolean hasLeft = false;
    for (Swap swap : inPlace) {
      StoreEntry found = there.remove(swap.place());
      if (found == null || !found.isSameFileAs(swap.oldFile().get())) {
        throw changed(plan, directory, swap.place() + " is gone, or another one", old);
      }
      hasLeft = true;
    }
    for (FileEntry file : plan.files()) {
      if (file.destination().getParent().equals(directory)
          && !store.status(file.source()).isPresent()) {
        StoreEntry found = there.remove(file.destination());
        if (found == null || !found.isSameFileAs(file)) {
          throw changed(
              plan,
              directory,
              file.destination() + ", which it published, is gone, or another one",
              old);
        }
        hasLeft = true;
      }
    }
    if (!hasLeft && !there.isEmpty()) {
      throw changed(
          plan, directory, "it had moved the old data aside, and there is other data", old);
    }
  }

  /** The visible files directly in a directory. */
  private Map<Path, StoreEntry> list(Path directory) throws IOException {
    Map<Path, StoreEntry> files = new HashMap<>();
    try {
      store.list(
          directory,
          entry -> {
            if (!entry.isDirectory() && !isHidden(entry.name())) {
              files.put(entry.path(), entry);
            }
          });
    } catch (FileNotFoundException e) {
      // Then there is nothing.
    }
    return files;
  }

  /** As a report, which any job replaces. */
  private static boolean isHidden(String name) {
    return name.startsWith("_") || name.startsWith(".");
  }

  private static PlaceChangedException changed(JobPlan plan, Path place, String sign, Path old) {
    return new PlaceChangedException(plan, place, sign, old);
  }

  private static void note(Queue<PlaceChangedException> changed, Look look) throws IOException {
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
