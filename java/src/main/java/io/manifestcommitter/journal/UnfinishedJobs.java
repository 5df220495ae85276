package io.manifestcommitter.journal;

import io.manifestcommitter.commit.OldDataRemainsException;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.config.CommitterConfig.UnfinishedJobsMode;
import io.manifestcommitter.journal.LifeSigns.Life;
import io.manifestcommitter.journal.Recovery.Direction;
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

  /**
   * As {@code config} says.
   *
   * @param pause between two looks at a job that may live
   */
  public UnfinishedJobs(Store store, CommitterConfig config, Pause pause) {
    this.store = store;
    this.config = config;
    this.pause = pause;
  }

  /**
   * Recovers them, or fails, or warns. The commit of a driver that lives is a concurrent job's and
   * left alone, and so is one whose places a job that lives replaces. Whether a driver lives that
   * has begun its commit is waited for: until its heartbeat moves or grows stale, or its commit
   * ends. What is left of a commit that ended is removed, unless this job, or that one, was told to
   * clean up nothing; what cannot be removed is a warning. So is a commit past its point of no
   * return whose old data the store refuses to delete: it concerns only jobs that write to the same
   * places. One request for each staging root; where a commit was begun six more, and those of each
   * look while it is waited.
   *
   * @param roots the staging roots of other jobs
   * @throws IOException if one may not, or cannot, be recovered; it names the command that does
   */
  public SettledJobs settle(List<StagingRoot> roots) throws IOException {
    SettledJobs settled = new SettledJobs();
    Recovery recovery = new Recovery(store, config, /* force= */ false);
    LifeSigns signs = new LifeSigns(store, config.heartbeatTimeout(), pause);
    List<StagingRoot> begun = recovery.begun(roots);
    for (StagingRoot root : begun) {
      signs.note(root);
    }
    for (StagingRoot root : begun) {
      try {
        if (settle(recovery, signs, root)) {
          settled.recovered();
        }
      } catch (OldDataRemainsException e) {
        LOG.warn("{}", cannotBeRecovered(root, e).getMessage());
        settled.stuck(root, e);
      } catch (JobIsAliveException | LostJournalException | PlacesInUseException e) {
        LOG.info("{} is left alone: {}", root.root(), e.getMessage());
      }
    }
    return settled;
  }

  /** A job that keeps the dead one's places may itself have died a moment ago. */
  private boolean settle(Recovery recovery, LifeSigns signs, StagingRoot root) throws IOException {
    if (recovery.isUnfinished(root)
        && signs.of(root, () -> recovery.isUnfinished(root)) == Life.ALIVE) {
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
      if (config.cleanupSkipped() && !recovery.isUnfinished(root)) {
        return false;
      }
      try {
        LOG.warn("{}: {}", root.root(), recovery.run(root, Direction.AS_MARKED));
      } catch (LeftoverException e) {
        tell(e);
        return e.outcome() != Recovery.Outcome.CLEANED_UP;
      } catch (JobIsAliveException
          | LostJournalException
          | PlacesInUseException
          | OldDataRemainsException e) {
        throw e;
      } catch (IOException e) {
        throw cannotBeRecovered(root, e);
      }
      return true;
    }
    recovery.requireDead(root);
    if (!recovery.isUnfinished(root)) {
      return false;
    }
    if (config.unfinishedJobs() == UnfinishedJobsMode.FAIL) {
      throw new IOException(
          told(root) + ". Run 'manifest-committer recover " + root.directory() + "' first");
    }
    LOG.warn("{}: run 'manifest-committer recover {}'", told(root), root.directory());
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

  static IOException cannotBeRecovered(StagingRoot root, IOException why) {
    return new IOException(told(root) + ", and cannot be recovered: " + why.getMessage(), why);
  }

  private static String told(StagingRoot root) {
    return root.directory()
        + " holds the unfinished commit of a driver that died, in "
        + root.root();
  }
}
