// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.plan.JobPlan.PlanRejectedException;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.fs.Path;

/**
 * Records the data that an overwrite replaces, with the identity of each file, as it stands when
 * the plan is made: only this may be deleted later. One listing a directory, in parallel.
 *
 * <p>Staging directories of jobs, our own and others', are left out at every level: what is in them
 * belongs to a job that runs.
 */
public final class FindOldData {
  private final Store store;
  private final Workers workers;
  private final Path table;

  /**
   * A step on {@code store}.
   *
   * @param table that is written to; a symbolic link there is the user's own, and followed
   */
  public FindOldData(Store store, Workers workers, Path table) {
    this.store = store;
    this.workers = workers;
    this.table = table;
  }

  /**
   * Requires that no symbolic link stands in a place that is to be overwritten: what it leads to
   * may be the data of another table. No request where there are no links.
   *
   * @throws PlanRejectedException naming the link, and the way out
   */
  public static void requireNoLink(Store store, Path place) throws IOException {
    if (store.traits(place).hasLinks()
        && store.status(place).filter(StoreEntry::isLink).isPresent()) {
      throw refused(place);
    }
  }

  private static PlanRejectedException refused(Path link) {
    return new PlanRejectedException(
        link
            + " is a symbolic link, and is to be overwritten: that could delete what it leads to."
            + " Put the directory that it leads to in its place, or remove the link. A partition's"
            + " data elsewhere can be its location.");
  }

  /**
   * Lists the trees below {@code roots}, which do not contain one another.
   *
   * @param keep files that are not data: they stay
   * @return every directory found, a parent before its children; nothing for a root that does not
   *     exist
   * @throws PlanRejectedException if there is a symbolic link, or one leads to a root
   */
  public List<OldDirectory> run(Collection<Path> roots, Set<Path> keep) throws IOException {
    workers.forEach(places(roots), place -> requireNoLink(store, place));
    List<OldDirectory> found = new ArrayList<>();
    List<Listing> level = new ArrayList<>();
    roots.forEach(root -> level.add(new Listing(root, null)));
    while (!level.isEmpty()) {
      workers.forEach(level, listing -> fill(listing, keep));
      level.removeIf(listing -> !listing.exists);
      List<Listing> next = new ArrayList<>();
      for (Listing listing : level) {
        found.add(listing.found);
        listing.directories.forEach(entry -> next.add(new Listing(entry.path(), entry)));
      }
      level.clear();
      level.addAll(next);
    }
    return found;
  }

  private void fill(Listing listing, Set<Path> keep) throws IOException {
    List<StoreEntry> files = new ArrayList<>();
    try {
      store.list(
          listing.directory,
          entry -> {
            boolean isStaging = StagingRoot.isStaging(entry.name());
            if (entry.isDirectory() && isStaging) {
              listing.holdsStaging = true;
            } else if (entry.isDirectory() && !entry.isLink()) {
              listing.directories.add(entry);
            } else if (!keep.contains(entry.path()) && !(entry.isLink() && isStaging)) {
              if (entry.isLink()) {
                throw refused(entry.path());
              }
              files.add(entry);
            }
          });
      listing.ended(files);
    } catch (FileNotFoundException e) {
      listing.exists = false;
    }
  }

  /** The roots where there may be links, and what is between them and the table. */
  private Set<Path> places(Collection<Path> roots) {
    Set<Path> places = new HashSet<>();
    for (Path root : roots) {
      if (store.traits(root).hasLinks()) {
        Path place = root;
        while (!place.equals(table) && places.add(place) && StorePaths.isBelow(table, place)) {
          place = place.getParent();
        }
      }
    }
    return places;
  }

  private static final class Listing {
    private final Path directory;
    private final StoreEntry entry;
    private final List<StoreEntry> directories = new ArrayList<>();
    private boolean exists = true;
    private boolean holdsStaging;
    private OldDirectory found;

    Listing(Path directory, StoreEntry entry) {
      this.directory = directory;
      this.entry = entry;
    }

    /** From here on its files take little memory. */
    void ended(List<StoreEntry> files) {
      found = new OldDirectory(directory, files, holdsStaging, entry);
    }
  }
}
