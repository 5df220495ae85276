// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.journal.CommitLedger;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Queue;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
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
 * <p>Each old directory that is still at its place is listed again. A file goes only if it is still
 * the one the plan recorded; a directory only if nothing is in it any more. What appeared since the
 * plan was made belongs to another job and stays.
 */
public final class RemoveOldData {
  private static final Logger LOG = LoggerFactory.getLogger(RemoveOldData.class);
  private static final int NAMED = 20;

  private final CommitWork work;
  private final Store store;
  private final Workers workers;
  private final JobPlan plan;
  private final List<OldDirectory> inPlace;

  /** A step after the swaps of a plan: what was moved aside goes with the staging directory. */
  RemoveOldData(CommitWork work, JobPlan plan) {
    this.work = work;
    this.store = work.store;
    this.workers = work.workers;
    this.plan = plan;
    this.inPlace = work.published.inPlace(plan);
  }

  /**
   * Removes it, and notes the job's identity where other jobs of the same identity look. Until the
   * identity is noted, the journal has it, and stays. One request more for a job that has one.
   *
   * @param asides returns what belongs to other jobs
   */
  void runAndNote(ReleaseAsides asides) throws IOException {
    boolean isNoted = false;
    try {
      noteIdentity();
      isNoted = true;
    } catch (IOException e) {
      // A full disk may have room for it only once the old data is gone.
      LOG.warn("The identity of {} could not be noted yet", plan, e);
    }
    try {
      run();
      asides.run();
    } finally {
      if (!isNoted) {
        noteIdentity();
      }
    }
  }

  private void noteIdentity() throws IOException {
    if (plan.commitId.isPresent()) {
      CommitLedger ledger = new CommitLedger(store, plan.table);
      String application = work.job.facts.get("application.id");
      Retries.few(() -> ledger.add(plan.commitId.get(), plan.jobId, application));
    }
  }

  /**
   * Removes it.
   *
   * @throws OldDataRemainsException if a file could not be removed, after everything else was; it
   *     names files only, since a directory may hold new data by now
   */
  void run() throws IOException {
    SortedMap<Path, String> left = new ConcurrentSkipListMap<>();
    List<Path> files = new ArrayList<>();
    workers.map(inPlace, directory -> unchanged(directory, left)).forEach(files::addAll);
    workers.forEach(
        files,
        file -> {
          try {
            Retries.few(() -> store.deleteFile(file));
          } catch (IOException e) {
            left.put(file, e.toString());
          }
        });

    Set<Path> directories = inPlace.stream().map(old -> old.path).collect(Collectors.toSet());
    directories.removeAll(directoriesInUse());
    Queue<String> empty = new ConcurrentLinkedQueue<>();
    deleteEmpty(store, workers, directories, empty);
    if (!empty.isEmpty()) {
      LOG.warn(
          "{} directories of replaced data may remain empty: {}",
          empty.size(),
          empty.stream().limit(NAMED).collect(Collectors.toList()));
    }
    if (!left.isEmpty()) {
      throw new OldDataRemainsException(plan, left);
    }
  }

  /**
   * Deletes directories in which nothing is left, children before parents, those of one depth in
   * parallel. One that is not empty stays, and counts as done.
   *
   * @param left takes what could not be deleted, with the reason
   */
  public static void deleteEmpty(
      Store store, Workers workers, Collection<Path> directories, Queue<String> left)
      throws IOException {
    NavigableMap<Integer, List<Path>> byDepth = new TreeMap<>();
    directories.forEach(
        directory ->
            byDepth.computeIfAbsent(directory.depth(), depth -> new ArrayList<>()).add(directory));
    for (List<Path> level : byDepth.descendingMap().values()) {
      workers.forEach(
          level,
          directory ->
              Retries.fewOrNote(
                  directory,
                  left,
                  () -> {
                    // A file that stands there by now is somebody's.
                    if (store.status(directory).filter(StoreEntry::isDirectory).isPresent()) {
                      store.deleteEmptyDirectory(directory);
                    }
                  }));
    }
  }

  /** The table itself and every directory that holds published files, of all levels. */
  private Set<Path> directoriesInUse() {
    Set<Path> inUse = new HashSet<>();
    inUse.add(plan.table);
    plan.files.totals().keySet().forEach(holder -> StorePaths.addUpwards(holder, inUse));
    return inUse;
  }

  private Collection<Path> unchanged(OldDirectory old, Map<Path, String> left) {
    if (old.count == 0) {
      return List.of();
    }
    Map<String, StoreEntry> recorded = old.filesByName();
    Set<Path> found = new HashSet<>();
    try {
      Retries.few(
          () -> {
            found.clear();
            boolean isDirectoryThere =
                store.listIfThere(
                    old.path,
                    entry -> {
                      StoreEntry asPlanned = recorded.get(entry.name());
                      boolean isThere = asPlanned != null && asPlanned.path().equals(entry.path());
                      if (isThere && entry.isUntouchedSince(asPlanned)) {
                        found.add(entry.path());
                      }
                    });
            if (!isDirectoryThere) {
              // Somebody else removed it: nothing is left to do.
              found.clear();
            }
          });
    } catch (IOException e) {
      // Not the directory: new data may be in it.
      old.files().forEach(file -> left.put(file.path(), e.toString()));
      return List.of();
    }
    return found;
  }

  /** An overwrite published its new data and then could not remove all of the old. */
  public static final class OldDataRemainsException extends IOException {
    private static final long serialVersionUID = 1L;

    private final transient Set<Path> directories = new HashSet<>();

    private OldDataRemainsException(JobPlan plan, SortedMap<Path, String> left) {
      super(
          "The new data of job "
              + plan.jobId
              + " is complete in "
              + plan.table
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
              + plan.table
              + "' removes them and ends the job");
      left.keySet().forEach(file -> directories.add(file.getParent()));
    }

    /** Whether one of the places shows old and new data, or is above or below what does. */
    public boolean isAt(Collection<Path> places) {
      return directories.stream()
          .anyMatch(
              mixed ->
                  places.stream()
                      .anyMatch(
                          place ->
                              StorePaths.isSameOrBelow(mixed, place)
                                  || StorePaths.isSameOrBelow(place, mixed)));
    }
  }
}
