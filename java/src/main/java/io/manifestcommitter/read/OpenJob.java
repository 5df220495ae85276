// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.read;

import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileIdentity;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.plan.Swaps.Swap;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.fs.Path;

/**
 * A job with a journal in a table, as one look saw it: whether it has committed, and what its plan
 * says of files. Immutable.
 */
final class OpenJob {
  /** Its staging directory. */
  final StagingRoot root;

  /** What of a look is compared with another one. */
  final String journal;

  /** How far it has come. */
  final CommitJournal.State state;

  private final Optional<Planned> planned;

  private OpenJob(StagingRoot root, CommitJournal journal, Optional<Planned> planned) {
    this.root = root;
    this.state = journal.state();
    this.journal = state + " " + journal.path().getName();
    this.planned = planned;
  }

  /**
   * The job of a staging directory; empty if it has no journal. One request. If the commit has not
   * ended one more, unless its plan is known already.
   *
   * @param known the plans that were read, by their jobs
   * @param isUndone whether the table is looked at as it was before this job, which has ended
   * @throws IOException also if the job publishes outside of the table
   */
  static Optional<OpenJob> find(
      Store store, StagingRoot root, Map<String, Planned> known, boolean isUndone)
      throws IOException {
    Optional<CommitJournal> found = CommitJournal.find(store, root.attempt());
    if (!found.isPresent()) {
      return Optional.empty();
    }
    CommitJournal journal = found.get();
    // What is held has changed nothing, and what it is to replace may be another by now.
    boolean isOpen = !journal.state().isEnd() && journal.state() != CommitJournal.State.HELD;
    Optional<Planned> planned = Optional.empty();
    if (isOpen || (isUndone && journal.state() == CommitJournal.State.KEPT)) {
      planned = Optional.ofNullable(known.get(root.jobId()));
      if (!planned.isPresent()) {
        // Without a plan it is over: its directory is being deleted, or the journal has changed.
        planned = read(store, root, journal);
        planned.ifPresent(plan -> known.put(root.jobId(), plan));
      }
    }
    return Optional.of(new OpenJob(root, journal, planned));
  }

  private static Optional<Planned> read(Store store, StagingRoot root, CommitJournal journal)
      throws IOException {
    try {
      if (!journal.hasPlan()) {
        return Optional.empty();
      }
      try (JobPlan plan = journal.plan(root)) {
        return Optional.of(new Planned(plan));
      }
    } catch (FileNotFoundException | CorruptManifestException e) {
      Optional<Path> now = CommitJournal.find(store, root.attempt()).map(CommitJournal::path);
      if (now.equals(Optional.of(journal.path()))) {
        throw e;
      }
      return Optional.empty();
    }
  }

  /** Whether its commit has ended, or is about to vanish: its plan matters to nobody. */
  boolean hasEnded() {
    return !planned.isPresent();
  }

  /** Whether its data counts, and what it replaces does not. */
  boolean isCommitted() {
    return state == CommitJournal.State.COMMITTED;
  }

  /** What its plan says; only of one that has not ended. */
  Planned planned() {
    return planned.orElseThrow(IllegalStateException::new);
  }

  /**
   * Whether a file that belongs at {@code place} is no part of the table: new data before the
   * commit, or old data after it. Of a job that is undone, also what came to the same places later.
   */
  boolean leavesOut(Path place, StoreEntry file) {
    boolean isOld = isOld(place, file);
    if (isCommitted()) {
      // A new file that took the place of an old one is what is there.
      return isOld && !(isAtPlace(place, file) && planned().published.containsKey(place));
    }
    // By its name also where a store has put the directory inside of another one.
    return !isOld
        && (place.getName().contains(root.jobId())
            || planned().isPublished(place, file)
            || (state == CommitJournal.State.KEPT && planned().isReplaced(place)));
  }

  /** Whether a file that belongs at {@code place} is one that the plan replaces, as it was. */
  boolean isOld(Path place, StoreEntry file) {
    StoreEntry old = planned().old.get(place);
    return old != null
        && (isAtPlace(place, file) ? file.isUntouchedSince(old) : file.isSameFileAs(old));
  }

  private static boolean isAtPlace(Path place, StoreEntry file) {
    return file.path().equals(place);
  }

  @Override
  public String toString() {
    return root.jobId() + " (" + journal + ")";
  }

  /** What a plan says of files. It does not change, so it is read once for several looks. */
  static final class Planned {
    /** By destination. */
    private final Map<Path, FileIdentity> published = new HashMap<>();

    /** What it replaces, by path. */
    final Map<Path, StoreEntry> old = new HashMap<>();

    /** Where what moves aside belongs, by its name there. */
    final Map<String, Path> asides = new HashMap<>();

    private final Set<Path> replaced = new HashSet<>();

    /** The places to which whole directories go. */
    final List<Path> swapped = new ArrayList<>();

    private Planned(JobPlan plan) throws IOException {
      if (plan.targets.size() > 1) {
        throw new IOException(
            "Job "
                + plan.jobId
                + " commits to partitions outside of "
                + plan.table
                + ": "
                + plan.targets.subList(1, plan.targets.size())
                + ". What such a table holds as a whole cannot be told from its directory. Read it"
                + " by the catalog, with spark.table");
      }
      for (FileEntry file : plan.files) {
        published.put(file.destination(), file.identity());
      }
      for (OldDirectory directory : plan.replaced) {
        replaced.add(directory.path);
        directory.files().forEach(file -> old.put(file.path(), file));
      }
      for (Swap swap : plan.swaps.all) {
        swap.aside.ifPresent(aside -> asides.put(aside.getName(), swap.place));
        swap.staged.ifPresent(staged -> swapped.add(swap.place));
      }
    }

    /** Whether a place lies in what it replaces. */
    private boolean isReplaced(Path place) {
      Path above = place;
      while (above != null && !replaced.contains(above)) {
        above = above.getParent();
      }
      return above != null;
    }

    private boolean isPublished(Path place, StoreEntry file) {
      FileIdentity own = published.get(place);
      return own != null && file.identity().isOfSameFileAs(own);
    }
  }
}
