// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.commit.FindEntries;
import io.manifestcommitter.commit.FindOldData;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.journal.CommitLedger;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.plan.Swaps.Swap;
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
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.fs.Path;

/**
 * Proves, before a held job is published, that all of it is still staged, and that the table is as
 * the job saw it where that matters. Changes nothing that a reader sees.
 */
final class ProveHeld {
  /** Paths that an error names. */
  private static final int NAMED = 3;

  private final Store store;
  private final Workers workers;
  private final StagingRoot root;
  private final CommitJournal journal;
  private final JobPlan plan;

  /**
   * A look at a job.
   *
   * @param plan with everything where it is before the journal is claimed
   */
  ProveHeld(Store store, Workers workers, StagingRoot root, CommitJournal journal, JobPlan plan) {
    this.store = store;
    this.workers = workers;
    this.root = root;
    this.journal = journal;
    this.plan = plan;
  }

  /**
   * Proves it. A listing of each directory that holds staged files, and of each that may hold
   * nothing but what is replaced. Then it makes the directories that are gone since.
   *
   * @throws IOException if something has changed: it says what, and what to do
   */
  void run() throws IOException {
    requireStaged();
    requireUnchanged();
    requireNotCommitted();
    makeDirectories();
  }

  private void requireStaged() throws IOException {
    Set<Path> sources = new HashSet<>();
    boolean hasUploads = false;
    for (FileEntry file : plan.files()) {
      file.sourceDirectory().ifPresent(sources::add);
      hasUploads |= file.isUpload();
    }
    Map<Path, StoreEntry> staged = new ConcurrentHashMap<>();
    workers.forEach(sources, source -> store.listIfThere(source, e -> staged.put(e.path(), e)));
    Optional<FileEntry> decision = journal.decision();
    Optional<Set<String>> waiting =
        hasUploads || decision.isPresent() ? store.waitingUploads(plan.table()) : Optional.empty();
    if (decision.isPresent() && !waits(decision.get(), waiting)) {
      throw changed("somebody began to discard it");
    }
    Set<Path> gone = new TreeSet<>();
    for (FileEntry file : plan.files()) {
      boolean isThere =
          file.isUpload()
              ? waits(file, waiting)
              : Optional.ofNullable(staged.get(file.source()))
                  .filter(entry -> entry.isSameFileAs(file))
                  .isPresent();
      if (!isThere) {
        gone.add(file.isUpload() ? file.destination() : file.source());
      }
    }
    if (!gone.isEmpty()) {
      throw changed(
          (gone.size() + " of its " + plan.files().count() + " files")
              + (hasUploads ? " do not wait as uploads any more" : " are gone, or others")
              + named(gone));
    }
  }

  /** Whether an upload waits, so far as the store tells. */
  private static boolean waits(FileEntry file, Optional<Set<String>> waiting) {
    return !waiting.isPresent() || waiting.get().contains(file.upload().get().id());
  }

  /** Where the job was to replace what is there, or to find nothing. */
  private void requireUnchanged() throws IOException {
    List<Path> places = plan.heldOver();
    if (places.isEmpty()) {
      return;
    }
    Map<Path, StoreEntry> before = files(plan.replaced());
    Set<Path> reports =
        plan.marksSuccess()
            ? Set.of(
                new Path(plan.table(), JobPaths.SUCCESS_MARKER),
                new Path(plan.table(), JobPaths.FILE_LIST))
            : Set.of();
    Map<Path, StoreEntry> now =
        files(new FindOldData(store, workers, plan.table()).run(places, reports));
    Set<Path> gone = new TreeSet<>(before.keySet());
    gone.removeAll(now.keySet());
    Set<Path> others = new TreeSet<>(now.keySet());
    others.removeIf(
        path -> before.containsKey(path) && now.get(path).isUntouchedSince(before.get(path)));
    if (!gone.isEmpty()) {
      throw changed(gone.size() + " files that it is to replace are gone" + named(gone));
    }
    if (!others.isEmpty()) {
      throw changed(
          others.size() + " files are there that it did not see when it was held" + named(others));
    }
  }

  private static Map<Path, StoreEntry> files(Collection<OldDirectory> directories) {
    Map<Path, StoreEntry> files = new HashMap<>();
    for (OldDirectory directory : directories) {
      directory.files().forEach(file -> files.put(file.path(), file));
    }
    return files;
  }

  private void requireNotCommitted() throws IOException {
    if (plan.commitId().isPresent()) {
      Optional<CommitLedger.Entry> before =
          new CommitLedger(store, plan.table()).find(plan.commitId().get());
      if (before.isPresent()) {
        throw changed(
            "the table has the data of its commit.id "
                + plan.commitId().get()
                + " from job "
                + before.get().jobId);
      }
    }
  }

  /** An overwrite may have removed, since the job was held, what it appends to. */
  private void makeDirectories() throws IOException {
    if (store.traits(plan.table()).completesUploads()) {
      return;
    }
    Set<Path> needed = new HashSet<>();
    for (Swap swap : plan.swaps().all()) {
      needed.add(swap.place().getParent());
    }
    for (FileEntry file : plan.files()) {
      if (plan.swaps().bringing(file.destinationDirectory()) < 0) {
        needed.add(file.destinationDirectory());
      }
    }
    needed.remove(plan.table());
    needed.removeAll(plan.missingDirectories());
    needed.removeAll(new FindEntries(store, workers).directories(needed).directories());
    workers.forEach(needed, store::mkdirs);
  }

  private static String named(Set<Path> paths) {
    List<Path> first = new ArrayList<>();
    paths.stream().limit(NAMED).forEach(first::add);
    return ", as " + first;
  }

  private IOException changed(String what) {
    return new IOException(
        "Job "
            + root.jobId()
            + " cannot be published: "
            + what
            + ". Nothing was changed, and the job is still held. To give it up, run"
            + " 'manifest-committer discard "
            + root.directory()
            + " "
            + root.jobId()
            + "', and then run the job again");
  }
}
