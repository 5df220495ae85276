// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.plan.Swaps.Swap;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;

/**
 * Lists once more the old data that an overwrite moved aside, before it goes with the staging
 * directory. What was not there when the plan was made belongs to another job, which put it there
 * before the directory moved. It goes back to its place.
 */
final class ReleaseAsides {
  private static final int NAMED = 20;

  private final Store store;
  private final Workers workers;
  private final JobPlan plan;
  private final Map<Path, OldDirectory> directories = new HashMap<>();
  private final List<Swap> asides = new ArrayList<>();
  private final Queue<Swap> withForeign = new ConcurrentLinkedQueue<>();
  private final Map<Path, StoreEntry> files = new ConcurrentHashMap<>();

  private final ReturnForeign.Claim claim =
      new ReturnForeign.Claim() {
        @Override
        public boolean keepsFile(Path place, StoreEntry file) {
          return recorded(place).filter(asPlanned -> asPlanned.isSameFileAs(file)).isPresent();
        }

        @Override
        public boolean keepsDirectory(Path place) {
          return directories.containsKey(place);
        }
      };

  /** A step after the swaps of a plan. */
  ReleaseAsides(Store store, Workers workers, JobPlan plan, Swapped swapped) {
    this.store = store;
    this.workers = workers;
    this.plan = plan;
    for (OldDirectory old : plan.replaced()) {
      directories.put(old.path(), old);
    }
    List<Swap> all = plan.swaps().all();
    for (int number = 0; number < all.size(); number++) {
      if (swapped.isAside(number)) {
        asides.add(all.get(number));
      }
    }
  }

  /** Looks, and changes nothing. One request for each directory that is aside, in parallel. */
  void find() throws IOException {
    Set<Path> parentsOfFiles = new HashSet<>();
    List<Swap> ofDirectories = new ArrayList<>();
    for (Swap swap : asides) {
      if (swap.oldFile().isPresent()) {
        parentsOfFiles.add(swap.aside().get().getParent());
      } else {
        ofDirectories.add(swap);
      }
    }
    workers.beside(
        () -> workers.forEach(parentsOfFiles, parent -> Retries.few(() -> listFiles(parent))),
        () ->
            workers.forEach(
                ofDirectories,
                swap -> {
                  if (Retries.fewFor(() -> holdsForeign(swap.aside().get(), swap.place()))) {
                    withForeign.add(swap);
                  }
                }));
    for (Swap swap : asides) {
      if (swap.oldFile().isPresent() && isAnother(swap)) {
        withForeign.add(swap);
      }
    }
  }

  /**
   * Returns what {@link #find} found.
   *
   * @throws IOException if something of that could not be returned; it names that
   */
  void run() throws IOException {
    Queue<String> left = new ConcurrentLinkedQueue<>();
    ReturnForeign back = new ReturnForeign(store);
    workers.forEach(
        withForeign,
        swap ->
            Retries.fewOrNote(
                swap.aside().get(),
                left,
                () -> {
                  if (swap.oldFile().isPresent()) {
                    back.file(files.get(swap.aside().get()), swap.place());
                  } else {
                    back.run(swap.aside().get(), swap.place(), claim);
                  }
                }));
    if (!left.isEmpty()) {
      throw new IOException(
          "The new data of job "
              + plan.jobId()
              + " is complete in "
              + plan.table()
              + ", and the data that it replaces is out of sight. With it is data that another job wrote"
              + " in the meantime and that could not be moved back to its place. None of that was"
              + " deleted: "
              + left.stream().limit(NAMED).collect(Collectors.joining(", "))
              + (left.size() > NAMED ? ", ..." : ""));
    }
  }

  private void listFiles(Path directory) throws IOException {
    try {
      store.list(directory, entry -> files.put(entry.path(), entry));
    } catch (FileNotFoundException e) {
      // All of the old data was gone before it could be moved.
    }
  }

  /** Whether another file, or a directory, is where the old file should be. */
  private boolean isAnother(Swap swap) {
    StoreEntry aside = files.get(swap.aside().get());
    return aside != null && !swap.oldFile().get().isSameFileAs(aside);
  }

  /** What the plan has at a place. Goes through the directory: for the few that were not found. */
  private Optional<StoreEntry> recorded(Path place) {
    return Optional.ofNullable(filesOf(place.getParent()).get(place.getName()));
  }

  private Map<String, StoreEntry> filesOf(Path directory) {
    OldDirectory old = directories.get(directory);
    return old == null ? Map.of() : old.filesByName();
  }

  private boolean holdsForeign(Path aside, Path place) throws IOException {
    Map<String, StoreEntry> recorded = filesOf(place);
    List<Path> below = new ArrayList<>();
    boolean[] foreign = {false};
    try {
      store.list(
          aside,
          entry -> {
            StoreEntry asPlanned = entry.isDirectory() ? null : recorded.get(entry.name());
            if (asPlanned != null && asPlanned.isSameFileAs(entry)) {
              return;
            }
            Path at = StorePaths.resolve(place, entry.name());
            if (!entry.isDirectory()) {
              foreign[0] |= !claim.keepsFile(at, entry);
            } else if (claim.keepsDirectory(at)) {
              below.add(entry.path());
            } else {
              foreign[0] = true;
            }
          });
    } catch (FileNotFoundException e) {
      return false;
    }
    for (Path directory : below) {
      if (foreign[0]) {
        break;
      }
      foreign[0] = holdsForeign(directory, StorePaths.resolve(place, directory.getName()));
    }
    return foreign[0];
  }
}
