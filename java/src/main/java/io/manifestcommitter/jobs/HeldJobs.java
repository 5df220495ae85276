// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.jobs.LifeSigns.JobIsAliveException;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.jobs.Recovery.Outcome;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.journal.CommitJournal.LostJournalException;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The held jobs of a table: each has ended its commit with nothing visible, and waits until
 * somebody publishes or discards it. No driver is at work for it.
 *
 * <p>To publish one is to recover it forward, with a look before. If that dies, any recovery goes
 * on forward: the job has succeeded, and nobody will run it again.
 */
public final class HeldJobs {
  private static final Logger LOG = LoggerFactory.getLogger(HeldJobs.class);

  private HeldJobs() {}

  /**
   * The held jobs in a table, the first first. One request, one for each staging directory, and
   * three for each held job, or four.
   *
   * @param table qualified
   * @throws FileNotFoundException if there is no table
   * @throws IOException also if a plan cannot be read
   */
  public static List<HeldJob> find(Store store, Path table) throws IOException {
    List<HeldJob> found = new ArrayList<>();
    for (StagingRoot root : new OtherJobs(store).list(table)) {
      try {
        Optional<CommitJournal> journal = journal(store, root);
        if (journal.isPresent()) {
          long since = store.status(journal.get().path()).map(StoreEntry::lastWritten).orElse(0L);
          try (JobPlan plan = journal.get().planBeforeClaim(root)) {
            found.add(new HeldJob(plan, since));
          }
        }
      } catch (FileNotFoundException e) {
        LOG.debug("Somebody publishes or discards {}", root.root(), e);
      }
    }
    found.sort(Comparator.comparingLong(job -> job.since));
    return found;
  }

  /**
   * What a held job would publish, with everything where it is now; empty if it is not held. Two
   * requests.
   *
   * @return to be closed
   */
  public static Optional<JobPlan> plan(Store store, StagingRoot root) throws IOException {
    try {
      Optional<CommitJournal> journal = journal(store, root);
      return journal.isPresent()
          ? Optional.of(journal.get().planBeforeClaim(root))
          : Optional.empty();
    } catch (FileNotFoundException e) {
      LOG.debug("Somebody publishes or discards {}", root.root(), e);
      return Optional.empty();
    }
  }

  private static Optional<CommitJournal> journal(Store store, StagingRoot root) throws IOException {
    return CommitJournal.find(store, root.attempt())
        .filter(journal -> journal.state() == CommitJournal.State.HELD);
  }

  /**
   * Publishes a held job, or discards it: that also if its publication died, or failed.
   *
   * @param direction {@link Direction#PUBLISH} or {@link Direction#DISCARD}
   * @throws IOException if it is not held any more, or cannot be published since the table has
   *     changed; it says what
   */
  public static void end(Recovery recovery, StagingRoot root, Direction direction)
      throws IOException {
    Outcome outcome;
    try {
      outcome = recovery.run(root, direction);
    } catch (Recovery.LeftoverException e) {
      LOG.warn(e.getMessage(), e);
      outcome = e.outcome;
    } catch (LostJournalException | JobIsAliveException e) {
      if (e instanceof JobIsAliveException && !((JobIsAliveException) e).isOf(root)) {
        throw e;
      }
      throw Recovery.notHeld(root, e);
    }
    if (outcome == Outcome.CLEANED_UP) {
      throw Recovery.notHeld(root, null);
    }
    if (outcome == Outcome.COMPLETED && direction == Direction.DISCARD) {
      throw notDiscarded(root);
    }
  }

  /** The failure of who discards a job that somebody else has published. */
  public static IOException notDiscarded(StagingRoot root) {
    return new IOException(
        "The data of job "
            + root.jobId()
            + " was complete in "
            + root.directory()
            + ", so it cannot be discarded any more: its publication was completed instead");
  }

  /** A held job, and what it would publish. Programs read it as it stands. */
  public static final class HeldJob {
    public final String jobId;

    public long files;

    /** Their size. */
    public long bytes;

    /** The directories to which it adds files, relative to the table; without the table's own. */
    public final Set<String> partitions = new TreeSet<>();

    /** Since when, in milliseconds since 1970, by the store's clock; 0 where it does not tell. */
    public final long since;

    /** Whether it may be published only over the state that it saw, in places of the table. */
    public final boolean overwrites;

    /** Its identity; null if it was given none. */
    public final String commitId;

    /** Whether all of it waits as files, and not as uploads. */
    public boolean readable = true;

    /** A job to which files are to be added. */
    public HeldJob(String jobId, long since, boolean overwrites, String commitId) {
      this.jobId = jobId;
      this.since = since;
      this.overwrites = overwrites;
      this.commitId = commitId;
    }

    private HeldJob(JobPlan plan, long since) {
      this(plan.jobId, since, !plan.heldOver().isEmpty(), plan.commitId.orElse(null));
      for (FileEntry file : plan.files) {
        Path directory = file.destinationDirectory();
        boolean isTable = directory.equals(plan.table);
        add(isTable ? "" : StorePaths.relative(plan.table, directory), file.size());
        readable &= !file.isUpload();
      }
    }

    /** Adds a file of a partition; empty for none. */
    public void add(String partition, long size) {
      files++;
      bytes += size;
      if (!partition.isEmpty()) {
        partitions.add(partition);
      }
    }
  }
}
