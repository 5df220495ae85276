// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.Swaps;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.hadoop.fs.Path;

/**
 * What lies at a place that a swap publishes, or was moved aside from it. Some is claimed. The rest
 * is of another job, and can be returned to where that job put it.
 */
final class PlaceContent {
  private final Store store;
  private final Claim claim;
  boolean exists;

  /** How many files are claimed. */
  int claimed;

  /** Whether there is anything else. */
  boolean hasForeign;

  private PlaceContent(Store store, Claim claim) {
    this.store = store;
    this.claim = claim;
  }

  /** Lists a place, with all claimed directories below it. */
  static PlaceContent list(Store store, Path place, Claim claim) throws IOException {
    return list(store, place, place, claim);
  }

  /** As above, of what is at another path and belongs to {@code place}. */
  static PlaceContent list(Store store, Path at, Path place, Claim claim) throws IOException {
    PlaceContent content = new PlaceContent(store, claim);
    content.add(at, place);
    return content;
  }

  private void add(Path at, Path place) throws IOException {
    Predicate<StoreEntry> isClaimed = claim.in(place);
    List<String> below = new ArrayList<>();
    boolean isThere =
        store.listIfThere(
            at,
            entry -> {
              if (!isClaimed.test(entry)) {
                hasForeign = true;
              } else if (entry.isDirectory()) {
                below.add(entry.name());
              } else {
                claimed++;
              }
            });
    if (!isThere) {
      return;
    }
    exists = true;
    for (String name : below) {
      add(StorePaths.resolve(at, name), StorePaths.resolve(place, name));
    }
  }

  /**
   * Moves the content of a directory, but for what is claimed, back to where it was. Nothing that
   * stands there is replaced. May be repeated from wherever it ended.
   *
   * @param from the directory; nothing happens if it does not exist
   * @param to its old place
   */
  static void giveBack(Store store, Path from, Path to, Claim claim) throws IOException {
    List<StoreEntry> entries = new ArrayList<>();
    if (!store.listIfThere(from, entries::add)) {
      return;
    }
    Predicate<StoreEntry> stays = claim.in(to);
    for (StoreEntry entry : entries) {
      Path place = StorePaths.resolve(to, entry.name());
      if (entry.isDirectory() && stays.test(entry)) {
        giveBack(store, entry.path(), place, claim);
      } else if (entry.isDirectory()) {
        // File by file: a store may put a renamed directory into one that appeared at its place.
        store.mkdirs(place);
        giveBack(store, entry.path(), place, Claim.NOTHING);
        store.deleteEmptyDirectory(entry.path());
      } else if (!stays.test(entry)) {
        giveBackFile(store, entry, place);
      }
    }
  }

  /** Moves one file back to its place. */
  static void giveBackFile(Store store, StoreEntry listed, Path place) throws IOException {
    StoreEntry file = store.identified(listed);
    RenameResult result = Retries.rename(store, file.movedTo(place));
    result.orThrow("Could not move " + file.path() + " back to " + place);
  }

  /** What somebody claims of what lies in directories. */
  interface Claim {
    /** Nobody claims anything. */
    Claim NOTHING = directory -> entry -> false;

    /** What is claimed of the entries of a directory, by its place in the table. */
    Predicate<StoreEntry> in(Path directory);

    /** What swaps bring: files of the plan. */
    static Claim planned(Swaps swaps) {
      return of(swaps, Set.of(), name -> false);
    }

    /** What is of a job: what swaps bring, and what has its id in its name. */
    static Claim own(JobPlan plan) {
      return of(plan.swaps, plan.missingDirectories, name -> name.contains(plan.jobId));
    }

    private static Claim of(Swaps swaps, Set<Path> made, Predicate<String> names) {
      return directory ->
          entry -> {
            if (entry.isDirectory()) {
              Path place = StorePaths.resolve(directory, entry.name());
              return swaps.bringing(place).isPresent() || made.contains(place);
            }
            return names.test(entry.name())
                || (swaps.bringing(directory).isPresent() && swaps.names(directory, entry.name()));
          };
    }
  }
}
