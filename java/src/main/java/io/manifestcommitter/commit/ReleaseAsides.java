// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.plan.Swaps.Swap;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
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
import java.util.function.Predicate;
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
  private final List<Swap> asides;
  private final Queue<Swap> withForeign = new ConcurrentLinkedQueue<>();
  private final Map<Path, StoreEntry> files = new ConcurrentHashMap<>();

  /** A step after the swaps of a plan. */
  ReleaseAsides(CommitWork work, JobPlan plan) {
    this.store = work.store;
    this.workers = work.workers;
    this.plan = plan;
    plan.replaced.forEach(old -> directories.put(old.path, old));
    this.asides = new ArrayList<>(plan.swaps.all);
    asides.retainAll(work.published.aside);
  }

  /** Looks, and changes nothing. One request for each directory that is aside, in parallel. */
  void find() throws IOException {
    Set<Path> parentsOfFiles = new HashSet<>();
    List<Swap> ofDirectories = new ArrayList<>();
    for (Swap swap : asides) {
      if (swap.oldFile.isPresent()) {
        parentsOfFiles.add(swap.aside.get().getParent());
      } else {
        ofDirectories.add(swap);
      }
    }
    workers.beside(
        () ->
            workers.forEach(
                parentsOfFiles,
                parent ->
                    Retries.few(
                        () -> store.listIfThere(parent, entry -> files.put(entry.path(), entry)))),
        () ->
            workers.forEach(
                ofDirectories,
                swap -> {
                  Path aside = swap.aside.get();
                  PlaceContent content =
                      Retries.fewFor(
                          () -> PlaceContent.list(store, aside, swap.place, this::recorded));
                  if (content.hasForeign) {
                    withForeign.add(swap);
                  }
                }));
    for (Swap swap : asides) {
      StoreEntry aside = swap.oldFile.isPresent() ? files.get(swap.aside.get()) : null;
      if (aside != null && !swap.oldFile.get().isSameFileAs(aside)) {
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
    workers.forEach(
        withForeign,
        swap -> {
          Path aside = swap.aside.get();
          Retries.fewOrNote(
              aside,
              left,
              () -> {
                if (swap.oldFile.isPresent()) {
                  PlaceContent.giveBackFile(store, files.get(aside), swap.place);
                } else {
                  PlaceContent.giveBack(store, aside, swap.place, this::recorded);
                }
              });
        });
    if (!left.isEmpty()) {
      throw new IOException(
          "The new data of job "
              + plan.jobId
              + " is complete in "
              + plan.table
              + ", and the data that it replaces is out of sight. With it is data that another job wrote"
              + " in the meantime and that could not be moved back to its place. None of that was"
              + " deleted: "
              + left.stream().limit(NAMED).collect(Collectors.joining(", "))
              + (left.size() > NAMED ? ", ..." : ""));
    }
  }

  /** What the plan has in a directory, as it was. */
  private Predicate<StoreEntry> recorded(Path directory) {
    OldDirectory old = directories.get(directory);
    Map<String, StoreEntry> byName = old == null ? Map.of() : old.filesByName();
    return entry ->
        entry.isDirectory()
            ? directories.containsKey(StorePaths.resolve(directory, entry.name()))
            : byName.containsKey(entry.name()) && byName.get(entry.name()).isSameFileAs(entry);
  }
}
