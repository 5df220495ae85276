// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.plan.JobPlan.ExistingDirectories;
import io.manifestcommitter.plan.JobPlan.PlanRejectedException;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.fs.Path;

/**
 * Finds which of many paths exist. A directory that holds many of them is listed once. A few are
 * asked for one by one, since a table may have a hundred thousand partitions and a job write to
 * three. All in parallel, at most one request a path.
 */
public final class FindEntries {
  private static final int FEW = 4;

  private final Store store;
  private final Workers workers;

  public FindEntries(Store store, Workers workers) {
    this.store = store;
    this.workers = workers;
  }

  /**
   * Looks at all of a plan's directories, one level at a time and never below a directory that is
   * missing.
   *
   * @param directories every level below the roots
   */
  public ExistingDirectories directories(Set<Path> directories) throws IOException {
    Map<Path, StoreEntry> found = new HashMap<>();
    Set<Path> files = new HashSet<>();
    Map<Path, Set<Path>> children = byParent(directories);
    Set<Path> parents = new HashSet<>(children.keySet());
    parents.removeAll(directories);
    while (!parents.isEmpty()) {
      List<Path> planned = new ArrayList<>();
      parents.forEach(parent -> planned.addAll(children.get(parent)));
      parents.clear();
      for (StoreEntry entry : run(planned).values()) {
        if (!entry.isDirectory()) {
          files.add(entry.path());
          continue;
        }
        found.put(entry.path(), entry);
        if (children.containsKey(entry.path())) {
          parents.add(entry.path());
        }
      }
    }
    return new ExistingDirectories(found.keySet(), files, found);
  }

  /**
   * Looks at all of them.
   *
   * @return what stands at those that exist; what identifies a file may be missing, see {@link
   *     Store#identified}
   */
  Map<Path, StoreEntry> run(Collection<Path> paths) throws IOException {
    Map<Path, Set<Path>> byParent = byParent(paths);
    List<Path> toProbe = new ArrayList<>();
    byParent.values().removeIf(wanted -> wanted.size() <= FEW && toProbe.addAll(wanted));
    Map<Path, StoreEntry> found = new ConcurrentHashMap<>();
    workers.forEach(
        byParent.entrySet(),
        parent ->
            store.listIfThere(
                parent.getKey(),
                parent.getValue().size(),
                entry -> {
                  if (parent.getValue().contains(entry.path())) {
                    found.put(entry.path(), entry);
                  }
                }));
    workers.forEach(
        toProbe, path -> store.status(path).ifPresent(entry -> found.put(entry.path(), entry)));
    return found;
  }

  /**
   * Requires that what is staged in a table, or at a custom location, can be renamed to where it
   * goes. On a local disk a mount, or a symbolic link, may lead to another volume, and a rename
   * between two volumes would be a copy. One request for each target on a local disk, none
   * elsewhere.
   *
   * @param targets the table and the custom locations: each has a staging directory of its own
   * @param parents the directories that get files
   * @param existing what is there of them
   * @throws PlanRejectedException if one is on another volume; it says what to do
   */
  public void requireOneVolume(Set<Path> targets, Set<Path> parents, ExistingDirectories existing)
      throws IOException {
    Map<Path, StoreEntry> known = new HashMap<>();
    for (Path target : targets) {
      if (store.traits(target).hasLinks()) {
        store.status(target).ifPresent(entry -> known.put(target, entry));
      }
    }
    for (Path parent : known.isEmpty() ? Set.<Path>of() : parents) {
      Path path = parent;
      while (path != null && !targets.contains(path)) {
        path = path.getParent();
      }
      StoreEntry target = known.get(path);
      Optional<StoreEntry> directory = existing.entry(parent);
      if (target != null
          && directory.isPresent()
          && !directory.get().rights().isOnSameVolumeAs(target.rights())) {
        throw new PlanRejectedException(
            parent
                + " is on another volume than "
                + target.path()
                + ", where the job's files are, and a rename between them would be a copy. Nothing"
                + " was changed. Register the directory on that volume as the partition's location,"
                + " or write a table of its own there.");
      }
    }
  }

  private static Map<Path, Set<Path>> byParent(Collection<Path> paths) {
    Map<Path, Set<Path>> byParent = new HashMap<>();
    for (Path path : paths) {
      byParent.computeIfAbsent(path.getParent(), parent -> new HashSet<>()).add(path);
    }
    return byParent;
  }
}
