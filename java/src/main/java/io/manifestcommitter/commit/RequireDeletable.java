// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.plan.JobPlan.ExistingDirectories;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.util.AbstractCollection;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.hadoop.fs.Path;

/**
 * Requires, as far as the store can tell, that the old data of an overwrite can be deleted. Past
 * the point of no return it would be too late to find out. In parallel; no request for a directory
 * whose permission is known to allow it.
 */
public final class RequireDeletable {
  private static final int NAMED = 5;

  private final Store store;
  private final Workers workers;

  /** A step on {@code store}. */
  public RequireDeletable(Store store, Workers workers) {
    this.store = store;
    this.workers = workers;
  }

  /**
   * Looks at all directories of the old data.
   *
   * @param existing directories that were seen elsewhere
   * @throws IOException if something cannot be deleted; it names the directories
   */
  public void run(List<OldDirectory> old, ExistingDirectories existing) throws IOException {
    Map<Path, Entries> entries = new LinkedHashMap<>();
    Map<Path, StoreEntry> seen = new HashMap<>();
    for (OldDirectory directory : old) {
      directory.entry().ifPresent(entry -> seen.put(directory.path(), entry));
      entries.computeIfAbsent(directory.path(), path -> new Entries()).files = directory;
      Entries beside = entries.get(directory.path().getParent());
      if (beside != null) {
        beside.directories.add(directory.path());
      }
    }
    entries.values().removeIf(Entries::isEmpty);
    Queue<String> denied = new ConcurrentLinkedQueue<>();
    workers.forEach(
        entries.keySet(),
        directory -> {
          Optional<StoreEntry> entry =
              seen.containsKey(directory)
                  ? Optional.of(seen.get(directory))
                  : existing.entry(directory);
          store.deletionDenied(directory, entry, entries.get(directory)).ifPresent(denied::add);
        });
    if (!denied.isEmpty()) {
      List<String> all = new ArrayList<>(denied);
      int more = all.size() - NAMED;
      throw new IOException(
          "The data that the job replaces cannot be deleted, so nothing was changed: "
              + String.join("; ", all.subList(0, Math.min(NAMED, all.size())))
              + (more > 0 ? "; and " + more + " more directories" : "")
              + ". Have their owner permit it, or delete the data, and run the job again");
    }
  }

  /** What is to be deleted from one directory. Few stores ask for these paths: made for them. */
  private static final class Entries extends AbstractCollection<Path> {
    private OldDirectory files;
    private final List<Path> directories = new ArrayList<>();

    @Override
    public int size() {
      return directories.size() + files.count();
    }

    @Override
    public Iterator<Path> iterator() {
      Stream<StoreEntry> all = StreamSupport.stream(files.files().spliterator(), false);
      return Stream.concat(all.map(StoreEntry::path), directories.stream()).iterator();
    }
  }
}
