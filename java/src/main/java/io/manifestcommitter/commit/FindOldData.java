package io.manifestcommitter.commit;

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

  /** Whether a directory's name is that of a staging root: ours, Hadoop's, Spark's or Hive's. */
  public static boolean isStagingRoot(String name) {
    return name.startsWith("_manifest_")
        || name.equals("_temporary")
        || name.startsWith(".spark-staging-")
        || name.startsWith(".hive-staging");
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
    List<Path> level = List.copyOf(roots);
    while (!level.isEmpty()) {
      List<Path> next = new ArrayList<>();
      for (Listing listing : workers.map(level, directory -> list(directory, keep))) {
        if (listing.exists) {
          found.add(new OldDirectory(listing.directory, listing.files));
          next.addAll(listing.directories);
        }
      }
      level = next;
    }
    return found;
  }

  private Listing list(Path directory, Set<Path> keep) throws IOException {
    Listing listing = new Listing(directory);
    try {
      store.list(
          directory,
          entry -> {
            if (!entry.isDirectory()) {
              if (!keep.contains(entry.path())) {
                listing.files.add(entry);
              }
            } else if (!isStagingRoot(entry.name())) {
              listing.directories.add(entry.path());
            }
          });
    } catch (FileNotFoundException e) {
      listing.exists = false;
    }
    return listing;
  }

  private static final class Listing {
    private final Path directory;
    private final List<StoreEntry> files = new ArrayList<>();
    private final List<Path> directories = new ArrayList<>();
    private boolean exists = true;

    Listing(Path directory) {
      this.directory = directory;
    }
  }
}
