// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.commit.OldDataRemainsException;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.config.CommitterConfig.UnfinishedJobsMode;
import io.manifestcommitter.jobs.LifeSigns.Life;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.journal.LostJournalException;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.Store;
import java.io.IOException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a job does about unfinished commits of dead drivers in the table it writes to: half of their
 * data may be visible, and a job that is run again would double it.
 */
public final class UnfinishedJobs {
  private static final Logger LOG = LoggerFactory.getLogger(UnfinishedJobs.class);

  private final Store store;
  private final CommitterConfig config;
  private final Pause pause;
  private final OtherJobs jobs;

  /**
   * As {@code config} says.
   *
   * @param pause between two looks at a job that may live
   */
  public UnfinishedJobs(Store store, CommitterConfig config, Pause pause) {
    this.store = store;
    this.config = config;
    this.pause = pause;
    this.jobs = new OtherJobs(store, config);
  }

  /**
   * Recovers them, or fails, or warns. The commit of a driver that lives is a concurrent job's and
   * left alone, and so is one whose places a job that lives replaces. Whether a driver lives that
   * has begun its commit is waited for: until its heartbeat moves or grows stale, or its commit
   * ends. What is left of a commit that ended is removed, unless this job, or that one, was told to
   * clean up nothing; what cannot be removed is a warning. So is a commit past its point of no
   * return whose old data the store refuses to delete: it concerns only jobs that write to the same
   * places. One request for each staging directory; where a commit was begun six more, and those of
   * each look while it is waited.
   *
   * @param roots the staging directories of other jobs
   * @throws IOException if one may not, or cannot, be recovered; it names the command that does
   */
  public SettledJobs settle(List<StagingRoot> roots) throws IOException {
    SettledJobs settled = new SettledJobs();
    Recovery recovery = new Recovery(store, config, /* force= */ false);
    LifeSigns signs = new LifeSigns(store, config.heartbeatTimeout(), pause);
    List<StagingRoot> begun = jobs.begun(roots);
    for (StagingRoot root : begun) {
      signs.note(root);
    }
    for (StagingRoot root : begun) {
      try {
        if (settle(recovery, signs, root)) {
          settled.recovered();
        }
      } catch (OldDataRemainsException e) {
        LOG.warn("{}", SettledJobs.cannotBeRecovered(root, e).getMessage());
        settled.stuck(root, e);
      } catch (JobIsAliveException | LostJournalException | PlacesInUseException e) {
        LOG.info("{} is left alone: {}", root.root(), e.getMessage());
      }
    }
    return settled;
  }

  /** A job that keeps the dead one's places may itself have died a moment ago. */
  private boolean settle(Recovery recovery, LifeSigns signs, StagingRoot root) throws IOException {
    if (jobs.isUnfinished(root) && signs.of(root, () -> jobs.isUnfinished(root)) == Life.ALIVE) {
      LOG.info("{} is left alone: its driver lives", root.root());
      return false;
    }
    while (true) {
      try {
        return settle(recovery, root);
      } catch (PlacesInUseException e) {
        StagingRoot user = e.user();
        if (signs.of(user, () -> ReplaceNote.exists(store, user)) == Life.ALIVE) {
          throw e;
        }
      }
    }
  }

  private boolean settle(Recovery recovery, StagingRoot root) throws IOException {
    if (config.unfinishedJobs() == UnfinishedJobsMode.ROLLBACK) {
      if (config.cleanupSkipped() && !jobs.isUnfinished(root)) {
        return false;
      }
      try {
        LOG.warn("{}: {}", root.root(), recovery.run(root, Direction.AS_MARKED));
      } catch (LeftoverException e) {
        tell(e);
        return e.outcome() != RecoveryOutcome.CLEANED_UP;
      } catch (JobIsAliveException
          | LostJournalException
          | PlacesInUseException
          | OldDataRemainsException e) {
        throw e;
      } catch (IOException e) {
        throw SettledJobs.cannotBeRecovered(root, e);
      }
      return true;
    }
    jobs.requireDead(root);
    if (!jobs.isUnfinished(root)) {
      return false;
    }
    if (config.unfinishedJobs() == UnfinishedJobsMode.FAIL) {
      throw new IOException(
          SettledJobs.told(root)
              + ". Run 'manifest-committer recover "
              + root.directory()
              + "' first");
    }
    LOG.warn("{}: run 'manifest-committer recover {}'", SettledJobs.told(root), root.directory());
    return false;
  }

  /** It harms nobody; where the job lives, it may be cleaning up itself. */
  private static void tell(LeftoverException e) {
    if (e.getCause() instanceof JobIsAliveException) {
      LOG.info(e.getMessage());
    } else {
      LOG.warn(e.getMessage(), e);
    }
  }
}
