// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.jobs.LifeSigns.JobIsAliveException;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.jobs.Recovery.Outcome;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.journal.CommitJournal.LostJournalException;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
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
        find(store, root).ifPresent(found::add);
      } catch (FileNotFoundException e) {
        LOG.debug("Somebody publishes or discards {}", root.root(), e);
      } catch (IOException | RuntimeException e) {
        for (HeldJob job : found) {
          job.close();
        }
        throw e;
      }
    }
    found.sort(Comparator.comparingLong(HeldJob::since));
    return found;
  }

  private static Optional<HeldJob> find(Store store, StagingRoot root) throws IOException {
    Optional<CommitJournal> journal = CommitJournal.find(store, root.attempt());
    if (!journal.filter(one -> one.state() == CommitJournal.State.HELD).isPresent()) {
      return Optional.empty();
    }
    long since = store.status(journal.get().path()).map(StoreEntry::lastWritten).orElse(0L);
    return Optional.of(new HeldJob(journal.get().planBeforeClaim(root), since));
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
      outcome = e.outcome();
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

  /** A held job; to be closed. */
  public static final class HeldJob implements AutoCloseable {
    private final JobPlan plan;
    private final long since;

    private HeldJob(JobPlan plan, long since) {
      this.plan = plan;
      this.since = since;
    }

    /** What would be published, with everything where it is now. */
    public JobPlan plan() {
      return plan;
    }

    /** Since when, in milliseconds since 1970, by the store's clock; 0 where it does not tell. */
    public long since() {
      return since;
    }

    @Override
    public void close() throws IOException {
      plan.close();
    }
  }
}
