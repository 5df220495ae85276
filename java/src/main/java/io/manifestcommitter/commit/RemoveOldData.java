// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes the data that an overwrite replaced. Past the point of no return: the new data is
 * complete in the store.
 *
 * <p>Each old directory is listed again. A file goes only if it is still the one the plan recorded;
 * a directory only if nothing is in it any more. What appeared since the plan was made belongs to
 * another job and stays.
 */
final class RemoveOldData {
  private static final Logger LOG = LoggerFactory.getLogger(RemoveOldData.class);
  private static final int NAMED = 20;

  private final Store store;
  private final Workers workers;

  RemoveOldData(Store store, Workers workers) {
    this.store = store;
    this.workers = workers;
  }

  /**
   * Removes it.
   *
   * @param replaced what of the plan's old data is still at its place
   * @throws IOException if a file could not be removed, after everything else was; it names files
   *     only, since a directory may hold new data by now
   */
  void run(JobPlan plan, List<OldDirectory> replaced) throws IOException {
    SortedMap<Path, String> left = new ConcurrentSkipListMap<>();
    List<Path> files = new ArrayList<>();
    workers.map(replaced, directory -> unchanged(directory, left)).forEach(files::addAll);
    workers.forEach(files, file -> delete(file, left));

    Set<Path> inUse = directoriesInUse(plan);
    List<Path> directories = new ArrayList<>();
    replaced.forEach(directory -> directories.add(directory.path()));
    directories.removeIf(inUse::contains);
    Queue<String> empty = new ConcurrentLinkedQueue<>();
    new RemoveEmptyDirectories(store, workers).run(directories, empty);
    if (!empty.isEmpty()) {
      LOG.warn("{} directories of replaced data may remain empty: {}", empty.size(), first(empty));
    }
    if (!left.isEmpty()) {
      throw new IOException(
          "The new data of job "
              + plan.jobId()
              + " is complete in "
              + plan.table()
              + ", but "
              + left.size()
              + " paths of the data it replaces could not be removed, so the table shows both."
              + " They are: "
              + left.entrySet().stream()
                  .limit(NAMED)
                  .map(file -> file.getKey() + " (" + file.getValue() + ")")
                  .collect(Collectors.joining(", "))
              + (left.size() > NAMED ? ", ..." : "")
              + ". Once they may be deleted, 'manifest-committer recover "
              + plan.table()
              + "' removes them and ends the job");
    }
  }

  private void delete(Path file, Map<Path, String> left) {
    try {
      Retries.few(() -> store.deleteFile(file));
    } catch (IOException e) {
      left.put(file, e.toString());
    }
  }

  /** The table itself and every directory that holds published files, of all levels. */
  private static Set<Path> directoriesInUse(JobPlan plan) {
    Set<Path> inUse = new HashSet<>();
    inUse.add(plan.table());
    for (Path holder : plan.files().totals().keySet()) {
      Path directory = holder;
      while (directory != null && inUse.add(directory)) {
        directory = directory.getParent();
      }
    }
    return inUse;
  }

  private List<Path> unchanged(OldDirectory old, Map<Path, String> left) {
    if (old.count() == 0) {
      return List.of();
    }
    Map<String, StoreEntry> recorded = old.filesByName();
    Set<Path> found = new HashSet<>();
    try {
      Retries.few(
          () -> {
            found.clear();
            try {
              store.list(
                  old.path(),
                  entry -> {
                    StoreEntry asPlanned = recorded.get(entry.name());
                    boolean isThere = asPlanned != null && asPlanned.path().equals(entry.path());
                    if (isThere && entry.isUntouchedSince(asPlanned)) {
                      found.add(entry.path());
                    }
                  });
            } catch (FileNotFoundException e) {
              // Somebody else removed it: nothing is left to do.
              found.clear();
            }
          });
    } catch (IOException e) {
      // Not the directory: new data may be in it.
      old.files().forEach(file -> left.put(file.path(), e.toString()));
      return List.of();
    }
    return new ArrayList<>(found);
  }

  private static List<String> first(Queue<String> empty) {
    List<String> all = new ArrayList<>(empty);
    return all.subList(0, Math.min(NAMED, all.size()));
  }
}
