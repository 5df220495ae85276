package io.manifestcommitter.commit;

import io.manifestcommitter.plan.ExistingDirectories;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.Path;

/**
 * Finds which of a plan's directories exist, one level at a time and never below a directory that
 * is missing. A parent with many planned children is listed once; for a few children they are asked
 * for one by one, since a table may have a hundred thousand partitions and a job write to three. At
 * most one request for each planned directory.
 */
public final class FindDirectories {
  private static final int FEW = 4;

  private final Store store;
  private final Workers workers;

  /** A step on {@code store}. */
  public FindDirectories(Store store, Workers workers) {
    this.store = store;
    this.workers = workers;
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
    Set<Path> files = new HashSet<>();
    List<Path> parents = roots(children, directories);
    while (!parents.isEmpty()) {
      List<Path> existing = new ArrayList<>();
      for (StoreEntry entry : entries(parents, children)) {
        if (entry.isDirectory()) {
          existing.add(entry.path());
          found.put(entry.path(), entry);
        } else {
          files.add(entry.path());
        }
      }
      existing.removeIf(directory -> !children.containsKey(directory));
      parents = existing;
    }
    return new ExistingDirectories(found.keySet(), files, found);
  }

  private static List<Path> roots(Map<Path, List<Path>> children, Set<Path> directories) {
    List<Path> roots = new ArrayList<>(children.keySet());
    roots.removeIf(directories::contains);
    roots.sort(Comparator.naturalOrder());
    return roots;
  }

  /** The planned children of {@code parents} that exist. */
  private Collection<StoreEntry> entries(List<Path> parents, Map<Path, List<Path>> children)
      throws IOException {
    List<Path> toList = new ArrayList<>();
    List<Path> toProbe = new ArrayList<>();
    for (Path parent : parents) {
      List<Path> planned = children.get(parent);
      if (planned.size() <= FEW) {
        toProbe.addAll(planned);
      } else {
        toList.add(parent);
      }
    }
    List<StoreEntry> entries = new ArrayList<>();
    for (List<StoreEntry> some :
        workers.map(toList, parent -> listed(parent, new HashSet<>(children.get(parent))))) {
      entries.addAll(some);
    }
    workers.map(toProbe, store::status).forEach(entry -> entry.ifPresent(entries::add));
    return entries;
  }

  private List<StoreEntry> listed(Path parent, Set<Path> planned) throws IOException {
    List<StoreEntry> entries = new ArrayList<>();
    store.list(
        parent,
        entry -> {
          if (planned.contains(entry.path())) {
            entries.add(entry);
          }
        });
    return entries;
  }
}
