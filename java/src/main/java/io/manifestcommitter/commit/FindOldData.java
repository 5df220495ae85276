// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.plan.JobPlan.ExistingDirectories;
import io.manifestcommitter.plan.JobPlan.PlanRejectedException;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.hadoop.fs.Path;

/**
 * Records the data that an overwrite replaces, with the identity of each file, as it stands when
 * the plan is made: only this may be deleted later. One listing a directory, in parallel.
 *
 * <p>Staging directories of jobs, our own and others', are left out at every level: what is in them
 * belongs to a job that runs.
 */
public final class FindOldData {
  private static final int NAMED = 5;

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
   * @param keepsReport whether the last job's report in the table is no data: a new one replaces it
   * @return every directory found, a parent before its children; nothing for a root that does not
   *     exist
   * @throws PlanRejectedException if there is a symbolic link, or one leads to a root
   */
  public List<OldDirectory> run(Collection<Path> roots, boolean keepsReport) throws IOException {
    Set<Path> keep =
        keepsReport
            ? Set.of(new Path(table, JobPaths.SUCCESS_MARKER), new Path(table, JobPaths.FILE_LIST))
            : Set.of();
    workers.forEach(places(roots), place -> requireNoLink(store, place));
    List<OldDirectory> found = new ArrayList<>();
    Map<Path, Optional<StoreEntry>> level = new TreeMap<>();
    roots.forEach(root -> level.put(root, Optional.empty()));
    while (!level.isEmpty()) {
      Queue<StoreEntry> below = new ConcurrentLinkedQueue<>();
      workers
          .map(level.entrySet(), one -> list(one.getKey(), one.getValue(), keep, below))
          .forEach(directory -> directory.ifPresent(found::add));
      level.clear();
      below.forEach(entry -> level.put(entry.path(), Optional.of(entry)));
    }
    return found;
  }

  /** The files of a directory, empty if that does not exist; adds the directories in it. */
  private Optional<OldDirectory> list(
      Path directory, Optional<StoreEntry> seen, Set<Path> keep, Queue<StoreEntry> below)
      throws IOException {
    List<StoreEntry> files = new ArrayList<>();
    List<StoreEntry> directories = new ArrayList<>();
    boolean[] holdsStaging = {false};
    boolean isThere =
        store.listIfThere(
            directory,
            entry -> {
              boolean isStaging = StagingRoot.isStaging(entry.name());
              if (entry.isDirectory() && isStaging) {
                holdsStaging[0] = true;
              } else if (entry.isDirectory() && !entry.isLink()) {
                directories.add(entry);
              } else if (!keep.contains(entry.path()) && !(entry.isLink() && isStaging)) {
                if (entry.isLink()) {
                  throw refused(entry.path());
                }
                files.add(entry);
              }
            });
    if (!isThere) {
      return Optional.empty();
    }
    below.addAll(directories);
    return Optional.of(new OldDirectory(directory, files, holdsStaging[0], seen));
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

  /**
   * Requires, as far as the store can tell, that old data can be deleted. Past the point of no
   * return it would be too late to find out. In parallel; no request for a directory whose
   * permission is known to allow it.
   *
   * @param existing directories that were seen elsewhere
   * @throws IOException if something cannot be deleted; it names the directories
   */
  public void requireDeletable(List<OldDirectory> old, ExistingDirectories existing)
      throws IOException {
    Map<Path, List<Path>> below = new HashMap<>();
    for (OldDirectory directory : old) {
      below
          .computeIfAbsent(directory.path.getParent(), parent -> new ArrayList<>())
          .add(directory.path);
    }
    List<OldDirectory> full = new ArrayList<>(old);
    full.removeIf(one -> one.count == 0 && !below.containsKey(one.path));
    Queue<String> denied = new ConcurrentLinkedQueue<>();
    workers.forEach(
        full,
        one ->
            store
                .deletionDenied(
                    one.path,
                    one.entry.or(() -> existing.entry(one.path)),
                    () -> entries(one, below.getOrDefault(one.path, List.of())))
                .ifPresent(denied::add));
    if (!denied.isEmpty()) {
      int more = denied.size() - NAMED;
      throw new IOException(
          "The data that the job replaces cannot be deleted, so nothing was changed: "
              + denied.stream().limit(NAMED).collect(Collectors.joining("; "))
              + (more > 0 ? "; and " + more + " more directories" : "")
              + ". Have their owner permit it, or delete the data, and run the job again");
    }
  }

  /** What is to be deleted from one directory. Few stores ask for these paths: made for them. */
  private static Iterator<Path> entries(OldDirectory old, List<Path> directories) {
    Stream<StoreEntry> files = StreamSupport.stream(old.files().spliterator(), false);
    return Stream.concat(files.map(StoreEntry::path), directories.stream()).iterator();
  }
}
