// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.commit.FindOldData;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;

/**
 * Proves, before a held job is published, that all of it is still staged, and that the table is as
 * the job saw it where that matters. Changes nothing that a reader sees.
 */
public final class ProveHeld {
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
   * nothing but what is replaced.
   *
   * @throws IOException if something has changed: it says what, and what to do
   */
  void run() throws IOException {
    requireStaged();
    requireUnchanged();
  }

  private void requireStaged() throws IOException {
    Set<Path> sources = new HashSet<>();
    plan.files.forEach(file -> file.sourceDirectory().ifPresent(sources::add));
    Map<Path, StoreEntry> staged = new ConcurrentHashMap<>();
    workers.forEach(sources, source -> store.listIfThere(source, e -> staged.put(e.path(), e)));
    Optional<Set<String>> waiting = store.waitingUploads(plan.table);
    Optional<FileEntry> decision = journal.decision();
    if (decision.isPresent() && !waits(decision.get(), waiting)) {
      throw changed(root, "somebody began to discard it");
    }
    Set<Path> gone = new HashSet<>();
    for (FileEntry file : plan.files) {
      if (file.isUpload() && !waits(file, waiting)) {
        gone.add(file.destination());
      } else if (!file.isUpload()) {
        StoreEntry there = staged.get(file.source());
        if (there == null || !there.isSameFileAs(file)) {
          gone.add(file.source());
        }
      }
    }
    requireNone(
        gone,
        "of its "
            + plan.files.size()
            + " files are gone, or others, or do not wait as uploads any more");
  }

  /** Whether an upload waits, so far as the store tells. */
  private static boolean waits(FileEntry file, Optional<Set<String>> waiting) {
    return !waiting.isPresent() || waiting.get().contains(file.upload().get().id);
  }

  /** Where the job was to replace what is there, or to find nothing. */
  private void requireUnchanged() throws IOException {
    FindOldData look = new FindOldData(store, workers, plan.table);
    Map<Path, StoreEntry> before = files(plan.replaced);
    Map<Path, StoreEntry> now = files(look.run(plan.heldOver(), plan.marksSuccess));
    Set<Path> gone = new HashSet<>(before.keySet());
    gone.removeAll(now.keySet());
    requireNone(gone, "files that it is to replace are gone");
    now.values()
        .removeIf(
            file ->
                before.containsKey(file.path()) && file.isUntouchedSince(before.get(file.path())));
    requireNone(now.keySet(), "files are there that it did not see when it was held");
  }

  private static Map<Path, StoreEntry> files(Collection<OldDirectory> directories) {
    Map<Path, StoreEntry> files = new HashMap<>();
    for (OldDirectory directory : directories) {
      directory.files().forEach(file -> files.put(file.path(), file));
    }
    return files;
  }

  private void requireNone(Set<Path> paths, String what) throws IOException {
    if (!paths.isEmpty()) {
      List<Path> first = paths.stream().sorted().limit(NAMED).collect(Collectors.toList());
      throw changed(root, paths.size() + " " + what + ", as " + first);
    }
  }

  /**
   * The failure of who publishes a job that is not staged, or a table not there, as it was seen.
   */
  public static IOException changed(StagingRoot root, String what) {
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
