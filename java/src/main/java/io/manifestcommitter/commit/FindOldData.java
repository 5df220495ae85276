package io.manifestcommitter.commit;

import io.manifestcommitter.StagingRoot;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.fs.Path;

/**
 * Records the data that an overwrite replaces, with the identity of each file, as it stands when
 * the plan is made: only this may be deleted later. One listing a directory, in parallel.
 *
 * <p>Staging roots of jobs, our own and others', are left out at every level: what is in them
 * belongs to a job that runs.
 */
public final class FindOldData {
  private final Store store;
  private final Workers workers;

  /** A step on {@code store}. */
  public FindOldData(Store store, Workers workers) {
    this.store = store;
    this.workers = workers;
  }

  /**
   * Lists the trees below {@code roots}, which do not contain one another.
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
        found.add(listing.toOldDirectory());
        listing.directories.forEach(entry -> next.add(new Listing(entry.path(), entry)));
      }
      level.clear();
      level.addAll(next);
    }
    return found;
  }

  private void fill(Listing listing, Set<Path> keep) throws IOException {
    try {
      store.list(
          listing.directory,
          entry -> {
            if (!entry.isDirectory()) {
              if (!keep.contains(entry.path()) && !entry.isLink()) {
                listing.files.add(entry);
              }
            } else if (StagingRoot.isStaging(entry.name())) {
              listing.holdsStaging = true;
            } else {
              listing.directories.add(entry);
            }
          });
    } catch (FileNotFoundException e) {
      listing.exists = false;
    }
  }

  private static final class Listing {
    private final Path directory;
    private final StoreEntry entry;
    private final List<StoreEntry> files = new ArrayList<>();
    private final List<StoreEntry> directories = new ArrayList<>();
    private boolean exists = true;
    private boolean holdsStaging;

    Listing(Path directory, StoreEntry entry) {
      this.directory = directory;
      this.entry = entry;
    }

    OldDirectory toOldDirectory() {
      return new OldDirectory(directory, files, holdsStaging, entry);
    }
  }
}
