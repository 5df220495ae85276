// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.read;

import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.Path;

/**
 * The files of a table: those at their places, and those that jobs keep aside. Each by the place
 * where it belongs. The places are listed first, so that what moves aside meanwhile is seen twice
 * and not missed.
 */
final class TableListing {
  private final Store store;
  private final Workers workers;
  private final Map<Path, StoreEntry> there = new HashMap<>();
  private final Map<Path, StoreEntry> aside = new HashMap<>();
  private boolean complete = true;

  private TableListing(Store store, Workers workers) {
    this.store = store;
    this.workers = workers;
  }

  /**
   * Lists what a look has found. One request for each directory in the table. For each commit that
   * has moved old data aside, or is rolled back, two and one for each directory that is aside.
   */
  static TableListing of(Store store, Workers workers, Path table, TableState state)
      throws IOException {
    TableListing listing = new TableListing(store, workers);
    Tree root = new Tree(table, table, true);
    List<Tree> below = new ArrayList<>();
    state.entries().forEach(entry -> listing.add(root, entry, listing.there, below));
    listing.walk(below, listing.there);
    List<Tree> aside = new ArrayList<>();
    for (OpenJob job : state.open()) {
      listing.findAside(job, table, aside);
    }
    listing.walk(aside, listing.aside);
    return listing;
  }

  /** The files at their places. */
  Map<Path, StoreEntry> there() {
    return there;
  }

  /** The files that are elsewhere, by their places. */
  Map<Path, StoreEntry> aside() {
    return aside;
  }

  /** Whether no directory went away between two of its requests. */
  boolean isComplete() {
    return complete;
  }

  private void findAside(OpenJob job, Path table, List<Tree> found) throws IOException {
    Map<String, Path> asides = job.planned().asides();
    List<StoreEntry> holders = new ArrayList<>();
    if (!asides.isEmpty()) {
      store.listIfThere(job.root().allOld(), holders::add);
    }
    for (StoreEntry holder : holders) {
      complete &=
          store.listIfThere(
              holder.path(),
              entry -> {
                Path place = asides.get(entry.name());
                if (place != null && entry.isDirectory()) {
                  found.add(new Tree(entry.path(), place, true));
                } else if (place != null && isShown(place.getName(), entry)) {
                  aside.put(place, entry);
                }
              });
    }
    if (job.isRevoked() && !job.planned().swapped().isEmpty()) {
      store.listIfThere(
          job.root().attempt(),
          entry -> {
            if (StagingRoot.holderOfSealed(entry.name()).isPresent()) {
              for (Path place : job.planned().swapped()) {
                String relative = StorePaths.relative(table, place);
                found.add(new Tree(StorePaths.resolve(entry.path(), relative), place, false));
              }
            }
          });
    }
  }

  /** Lists trees, one level after the other. */
  private void walk(List<Tree> trees, Map<Path, StoreEntry> into) throws IOException {
    List<Tree> level = trees;
    while (!level.isEmpty()) {
      List<Tree> below = new ArrayList<>();
      List<List<StoreEntry>> found = workers.map(level, this::list);
      for (int i = 0; i < level.size(); i++) {
        for (StoreEntry entry : found.get(i)) {
          add(level.get(i), entry, into, below);
        }
      }
      level = below;
    }
  }

  private List<StoreEntry> list(Tree tree) throws IOException {
    List<StoreEntry> entries = new ArrayList<>();
    if (!store.listIfThere(tree.at, entries::add) && tree.wasSeen) {
      gone();
    }
    return entries;
  }

  private synchronized void gone() {
    complete = false;
  }

  private void add(Tree in, StoreEntry entry, Map<Path, StoreEntry> files, List<Tree> below) {
    if (!isShown(entry.name(), entry)) {
      return;
    }
    Path place = in.isThere() ? entry.path() : StorePaths.resolve(in.place, entry.name());
    if (entry.isDirectory()) {
      below.add(new Tree(entry.path(), place, true));
    } else {
      files.put(place, entry);
    }
  }

  /** As Spark lists a table, which leaves out what is hidden, and links that lead to nothing. */
  private static boolean isShown(String name, StoreEntry entry) {
    return !StagingRoot.isHidden(name) && (entry.isDirectory() || entry.isSameFileAs(entry));
  }

  /** A directory, where it belongs, and whether another listing showed it. */
  private static final class Tree {
    private final Path at;
    private final Path place;
    private final boolean wasSeen;

    Tree(Path at, Path place, boolean wasSeen) {
      this.at = at;
      this.place = place;
      this.wasSeen = wasSeen;
    }

    boolean isThere() {
      return at.equals(place);
    }

    @Override
    public String toString() {
      return at.toString();
    }
  }
}
