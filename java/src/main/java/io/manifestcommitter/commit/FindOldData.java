// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
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
  private final Set<Path> targets;

  /**
   * A step on {@code store}.
   *
   * @param targets the table and locations: a symbolic link there is the user's own, and followed
   */
  public FindOldData(Store store, Workers workers, Set<Path> targets) {
    this.store = store;
    this.workers = workers;
    this.targets = Set.copyOf(targets);
  }

  /**
   * Lists the trees below {@code roots}, which do not contain one another. A symbolic link is old
   * data itself; what it leads to is not.
   *
   * @param keep files that are not data: they stay
   * @return every directory found, a parent before its children; nothing for a root that does not
   *     exist
   */
  public List<OldDirectory> run(Collection<Path> roots, Set<Path> keep) throws IOException {
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
    Optional<StoreEntry> link = listing.isRoot() ? link(listing.directory) : Optional.empty();
    if (link.isPresent()) {
      listing.ended(List.of(link.get()));
      return;
    }
    List<StoreEntry> files = new ArrayList<>();
    try {
      store.list(
          listing.directory,
          entry -> {
            boolean isStaging = StagingRoot.isStaging(entry.name());
            boolean isLink = entry.linkTarget().isPresent();
            if (entry.isDirectory() && isStaging) {
              listing.holdsStaging = true;
            } else if (entry.isDirectory() && !isLink) {
              listing.directories.add(entry);
            } else if (!keep.contains(entry.path()) && !(isLink && isStaging)) {
              files.add(entry.asLink().orElse(entry));
            }
          });
      listing.ended(files);
    } catch (FileNotFoundException e) {
      listing.exists = false;
    }
  }

  private Optional<StoreEntry> link(Path root) throws IOException {
    return store.traits(root).hasLinks() && !targets.contains(root)
        ? store.status(root).flatMap(StoreEntry::asLink)
        : Optional.empty();
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

    boolean isRoot() {
      return entry == null;
    }

    /** From here on its files take little memory. */
    void ended(List<StoreEntry> files) {
      found = new OldDirectory(directory, files, holdsStaging, entry);
    }
  }
}
