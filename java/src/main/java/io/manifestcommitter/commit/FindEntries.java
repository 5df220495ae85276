// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.plan.JobPlan.ExistingDirectories;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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

  /** A step on {@code store}. */
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
    Map<Path, StoreEntry> found = new HashMap<>();
    workers
        .map(byParent.entrySet(), parent -> listed(parent.getKey(), parent.getValue()))
        .forEach(entries -> entries.forEach(entry -> found.put(entry.path(), entry)));
    workers
        .map(toProbe, store::status)
        .forEach(entry -> entry.ifPresent(one -> found.put(one.path(), one)));
    return found;
  }

  private static Map<Path, Set<Path>> byParent(Collection<Path> paths) {
    Map<Path, Set<Path>> byParent = new HashMap<>();
    for (Path path : paths) {
      byParent.computeIfAbsent(path.getParent(), parent -> new HashSet<>()).add(path);
    }
    return byParent;
  }

  private List<StoreEntry> listed(Path parent, Set<Path> wanted) throws IOException {
    List<StoreEntry> entries = new ArrayList<>();
    try {
      store.list(
          parent,
          wanted.size(),
          entry -> {
            if (wanted.contains(entry.path())) {
              entries.add(entry);
            }
          });
    } catch (FileNotFoundException e) {
      // Then none of them is there.
    }
    return entries;
  }
}
