// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.read;

import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/**
 * The files of a table as the jobs that have committed left it, by one listing. The new files of
 * other jobs are left out, and so are the old files that a committed job replaces. What lies aside
 * counts at its place. What is aside and in no plan belongs to a job that put it there before its
 * directory moved.
 */
final class TableView {
  private final Map<Path, StoreEntry> files = new HashMap<>();
  private final Optional<String> missing;

  /** What a listing shows, between the looks that found the same jobs. */
  TableView(Path table, TableState state, TableListing listing) {
    add(state, listing.there());
    // A file that moved meanwhile was listed twice, and was last seen here.
    add(state, listing.aside());
    this.missing =
        listing.isComplete()
            ? missing(table, state, listing)
            : Optional.of("a directory went away while it was listed");
  }

  private void add(TableState state, Map<Path, StoreEntry> found) {
    found.forEach(
        (place, file) -> {
          if (state.open().stream().noneMatch(job -> job.leavesOut(place, file))) {
            files.put(place, file);
          }
        });
  }

  /** Old data that a job is to replace was there when it was planned, so is there until then. */
  private static Optional<String> missing(Path table, TableState state, TableListing listing) {
    for (OpenJob job : state.open()) {
      for (Path place : job.isCommitted() ? List.<Path>of() : job.planned().old().keySet()) {
        StoreEntry there = listing.there().get(place);
        StoreEntry aside = listing.aside().get(place);
        boolean isFound =
            (there != null && job.isOld(place, there))
                || (aside != null && job.isOld(place, aside));
        if (!isFound && !isHidden(table, place)) {
          return Optional.of(
              "job " + job + " has not replaced " + place + ", and it is not to be found");
        }
      }
    }
    return Optional.empty();
  }

  private static boolean isHidden(Path table, Path file) {
    for (String name : StorePaths.relative(table, file).split("/", -1)) {
      if (StagingRoot.isHidden(name)) {
        return true;
      }
    }
    return false;
  }

  /** Why it is no whole state of the table; empty if it may be one. */
  Optional<String> missing() {
    return missing;
  }

  /** Whether another view has the same files, wherever they are. */
  boolean isSameAs(TableView other) {
    return files.keySet().equals(other.files.keySet())
        && files.entrySet().stream()
            .allMatch(file -> file.getValue().isSameFileAs(other.files.get(file.getKey())));
  }

  /** Its files, in no particular order. */
  List<WholeFile> files() {
    List<WholeFile> all = new ArrayList<>(files.size());
    files.forEach(
        (place, file) ->
            all.add(new WholeFile(place, file.path(), file.length(), file.lastWritten())));
    return all;
  }
}
