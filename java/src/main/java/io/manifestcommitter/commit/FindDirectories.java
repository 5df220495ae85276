// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.plan.ExistingDirectories;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.Path;

/**
 * Finds which of a plan's directories exist, one level at a time and never below a directory that
 * is missing. At most one request for each planned directory.
 */
public final class FindDirectories {
  private final FindEntries entries;

  /** A step on {@code store}. */
  public FindDirectories(Store store, Workers workers) {
    this.entries = new FindEntries(store, workers);
  }

  /**
   * Looks at all of them.
   *
   * @param directories every level below the roots
   */
  public ExistingDirectories run(Set<Path> directories) throws IOException {
    Map<Path, List<Path>> children = new HashMap<>();
    for (Path directory : directories) {
      children.computeIfAbsent(directory.getParent(), parent -> new ArrayList<>()).add(directory);
    }
    Map<Path, StoreEntry> found = new HashMap<>();
    Map<Path, StoreEntry> links = new HashMap<>();
    Set<Path> files = new HashSet<>();
    List<Path> parents = roots(children, directories);
    while (!parents.isEmpty()) {
      List<Path> next = new ArrayList<>();
      List<Path> planned = new ArrayList<>();
      parents.forEach(parent -> planned.addAll(children.get(parent)));
      for (StoreEntry entry : entries.run(planned).values()) {
        if (entry.isDirectory()) {
          next.add(entry.path());
          found.put(entry.path(), entry);
        } else {
          files.add(entry.path());
          entry.asLink().ifPresent(link -> links.put(link.path(), link));
        }
      }
      next.removeIf(directory -> !children.containsKey(directory));
      parents = next;
    }
    Set<Path> existing = Set.copyOf(found.keySet());
    found.putAll(links);
    return new ExistingDirectories(existing, files, found);
  }

  private static List<Path> roots(Map<Path, List<Path>> children, Set<Path> directories) {
    List<Path> roots = new ArrayList<>(children.keySet());
    roots.removeIf(directories::contains);
    roots.sort(Comparator.naturalOrder());
    return roots;
  }
}
