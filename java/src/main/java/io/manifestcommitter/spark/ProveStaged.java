// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.config.CommitterConfig.MissingFiles;
import io.manifestcommitter.manifest.FileEntries;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.plan.JobPlan.PlanRejectedException;
import io.manifestcommitter.plan.JobPlanner;
import io.manifestcommitter.plan.Swaps.Swap;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.ConsumerRaisingIOE;

/**
 * Proves that every file the driver named is in the store, and learns its length and identity, with
 * one listing a directory, in parallel. What is there and was not named (of an attempt that failed,
 * was killed or lost a race) is not planned: only what is planned here can become visible.
 */
final class ProveStaged {
  private static final int NAMED = 10;

  /** Files that go to the planner at once. */
  private static final int LOT = 500;

  /** Bytes of files without identity that stay in memory. */
  private static final int IN_MEMORY = 4 << 20;

  private final Store store;
  private final Workers workers;
  private final MissingFiles missingFiles;
  private final List<StoreEntry> strays = new ArrayList<>();

  ProveStaged(Store store, Workers workers, MissingFiles missingFiles) {
    this.store = store;
    this.workers = workers;
    this.missingFiles = missingFiles;
  }

  /**
   * Lists the directories and plans their files, and those that attempts uploaded. Nobody asks
   * whether an upload still waits: that takes another right than to write, and the answer may be
   * wrong by the time of the completion. If it is gone, its completion fails, and the commit is
   * rolled back.
   *
   * @param table that the job writes to
   * @throws PlanRejectedException if a named file is missing and that is not allowed, or if there
   *     is a file whose name was not given out
   */
  void run(
      Collection<StagedTree.Directory> directories,
      CommittedFiles committed,
      Path table,
      JobPlanner planner)
      throws IOException {
    committed.forEachLinked(
        table,
        (number, linked) -> {
          throw new PlanRejectedException(
              "A task linked "
                  + linked.destination()
                  + " in lakeFS, and the driver does not commit there. Driver and executors need the"
                  + " same settings of lakeFS.");
        });
    BitSet found = new BitSet(committed.count());
    committed.forEachUpload(
        table,
        (number, upload) -> {
          if (!store.traits(upload.destination()).completesUploads()) {
            throw new PlanRejectedException(
                "A task uploaded "
                    + upload.destination()
                    + ", but its store publishes by renaming. Driver and executors need the same"
                    + " settings of that store.");
          }
          planner.publish(upload);
          found.set(number);
        });
    try (FileEntries.Builder unidentified = FileEntries.builder(IN_MEMORY)) {
      workers.forEach(
          directories,
          directory ->
              list(
                  directory,
                  lot -> {
                    synchronized (found) {
                      take(lot, directory, found, unidentified, planner);
                    }
                  }));
      identify(unidentified, planner);
    }
    requireAll(found, committed, planner);
    requireNamed(committed);
  }

  /**
   * Requires that no attempt that committed left a file which it did not name, and nobody a file
   * with a name of another form. A writer that makes more files than it asks names for, or names
   * them itself, would lose rows. Files of checksums follow theirs.
   */
  private void requireNamed(CommittedFiles committed) throws IOException {
    List<Path> files = new ArrayList<>();
    for (StoreEntry stray : strays) {
      if (!stray.isDirectory() && !stray.path().getName().endsWith(".crc")) {
        files.add(stray.path());
      }
    }
    List<Path> lost = committed.notOfFailed(files);
    if (!lost.isEmpty()) {
      throw new PlanRejectedException(notGiven(lost.size(), lost.get(0).toString()));
    }
  }

  static String notGiven(int count, String first) {
    return count
        + " files of tasks have names that were not given out, such as "
        + first
        + ". What is in them would be lost, so nothing was published. Use a data source, or an"
        + " engine, that asks Spark for the name of each of its files.";
  }

  /**
   * Deletes what nobody named from the directories that are published as they are: one request for
   * each file or directory.
   */
  void removeStrays(List<Swap> swaps) throws IOException {
    Set<Path> staged = new HashSet<>();
    swaps.forEach(swap -> swap.staged.ifPresent(staged::add));
    strays.removeIf(stray -> !StorePaths.isSameOrBelowOne(staged, stray.path()));
    workers.forEach(
        strays,
        stray -> {
          if (stray.isDirectory()) {
            store.deleteTree(stray.path());
          } else {
            store.deleteFile(stray.path());
          }
        });
  }

  private void list(StagedTree.Directory directory, ConsumerRaisingIOE<List<StoreEntry>> lots)
      throws IOException {
    List<StoreEntry> lot = new ArrayList<>();
    store.listIfThere(
        directory.source,
        directory.count(),
        entry -> {
          lot.add(entry);
          if (lot.size() == LOT) {
            lots.accept(lot);
            lot.clear();
          }
        });
    lots.accept(lot);
  }

  private void take(
      List<StoreEntry> entries,
      StagedTree.Directory directory,
      BitSet found,
      FileEntries.Builder unidentified,
      JobPlanner planner)
      throws IOException {
    boolean identityIsMissing = store.traits(directory.source).identityCostsRequest();
    for (StoreEntry entry : entries) {
      int number = directory.find(entry);
      if (number >= 0) {
        FileEntry file = directory.planned(entry);
        if (identityIsMissing) {
          unidentified.add(file);
        } else {
          planner.publish(file);
        }
        found.set(number);
      } else if (!directory.leadsOn(entry)) {
        strays.add(entry);
      }
    }
  }

  /** Asks the store for what identifies the files where a listing does not show it. */
  private void identify(FileEntries.Builder unidentified, JobPlanner planner) throws IOException {
    try (FileEntries files = unidentified.build()) {
      workers.forEach(
          files,
          file -> {
            StoreEntry seen = store.identified(StoreEntry.file(file.source(), file.identity()));
            synchronized (files) {
              planner.publish(
                  FileEntry.of(
                      file.sourceDirectory(),
                      file.destinationDirectory(),
                      file.name(),
                      seen.identity()));
            }
          });
    }
  }

  /** Requires that all files that were named are there, or notes it, as the settings say. */
  void requireAll(BitSet found, CommittedFiles committed, JobPlanner planner) throws IOException {
    int missing = committed.count() - found.cardinality();
    if (missing == 0) {
      return;
    }
    String what =
        missing
            + " files that committed tasks named are neither in the staging directory nor uploaded: "
            + String.join(", ", committed.missing(found, NAMED))
            + (missing > NAMED ? ", ..." : "")
            + ".";
    if (missingFiles == MissingFiles.FAIL) {
      throw new PlanRejectedException(
          what
              + " If the data source makes no file where it has no rows, set"
              + " mapreduce.manifest.committer.missing.files to warn; else rows would be lost.");
    }
    planner.warn(what);
  }
}
