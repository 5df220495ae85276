// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.commit.RemoveOldData.OldDataRemainsException;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.config.CommitterConfig.UnfinishedJobsMode;
import io.manifestcommitter.jobs.LifeSigns.JobIsAliveException;
import io.manifestcommitter.jobs.LifeSigns.Life;
import io.manifestcommitter.jobs.LifeSigns.Pause;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.jobs.Recovery.LeftoverException;
import io.manifestcommitter.journal.CommitJournal.LostJournalException;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.Store;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a job does about unfinished commits of dead drivers in the table it writes to. Half of their
 * data may be visible, and a job that is run again would double it.
 */
public final class UnfinishedJobs {
  private static final Logger LOG = LoggerFactory.getLogger(UnfinishedJobs.class);

  private final Store store;
  private final CommitterConfig config;
  private final LifeSigns signs;
  private final Collection<Path> written;
  private final Pause pause;
  private final OtherJobs jobs;

  /** Whose commits could not be ended, and concern only jobs that write to the same places. */
  final Set<Path> stuck = new HashSet<>();

  /**
   * As {@code config} says.
   *
   * @param signs of the lives of their drivers
   * @param written the places that the job writes to or replaces
   * @param pause between two looks at a job that may live
   */
  public UnfinishedJobs(
      Store store, CommitterConfig config, LifeSigns signs, Collection<Path> written, Pause pause) {
    this.store = store;
    this.config = config;
    this.signs = signs;
    this.written = written;
    this.pause = pause;
    this.jobs = new OtherJobs(store);
  }

  /**
   * As {@link #settle}, of those that are known to be dead at the first look, and does not wait.
   *
   * @return whether any was recovered
   */
  public boolean settleKnown(List<StagingRoot> roots) throws IOException {
    List<StagingRoot> dead = new ArrayList<>();
    for (StagingRoot root : jobs.begun(roots)) {
      if (signs.look(root) == Life.DEAD) {
        dead.add(root);
      }
    }
    return settleDead(dead);
  }

  /**
   * Recovers them, or fails, or warns. The commit of a driver that lives is a concurrent job's and
   * left alone, and so is one whose places a job that lives replaces. To learn whether the driver
   * of a begun commit lives, this job waits until its heartbeat moves, has stood still for the
   * timeout, or its commit ends. It waits for all such drivers at the same time. What is left of a
   * commit that ended is removed, unless this job, or that one, was told to clean up nothing; what
   * cannot be removed is a warning. So is a commit past its point of no return whose old data the
   * store refuses to delete, unless this job writes where that shows. A job that never began its
   * commit, and was seen to be dead by now, is removed. One request for each staging directory;
   * where a commit was begun six more, and those of each look while this job waits.
   *
   * @param roots the staging directories of other jobs
   * @return whether any was recovered
   * @throws IOException if one may not, or cannot, be recovered; it names the command that does
   */
  public boolean settle(List<StagingRoot> roots) throws IOException {
    List<StagingRoot> begun = jobs.begun(roots);
    List<StagingRoot> unfinished = new ArrayList<>();
    List<StagingRoot> dead = new ArrayList<>();
    for (StagingRoot root : begun) {
      if (jobs.isUnfinished(root)) {
        unfinished.add(root);
      } else if (signs.look(root) == Life.DEAD) {
        dead.add(root);
      }
    }
    for (Map.Entry<StagingRoot, Life> each :
        signs.await(unfinished, jobs::isUnfinished, pause).entrySet()) {
      if (each.getValue() == Life.ALIVE) {
        LOG.info("{} is left alone: its driver lives", each.getKey().root());
      } else {
        dead.add(each.getKey());
      }
    }
    boolean hasRecovered = settleDead(dead);
    removeUnbegun(roots, begun);
    return hasRecovered;
  }

  private boolean settleDead(List<StagingRoot> dead) throws IOException {
    boolean hasRecovered = false;
    for (StagingRoot root : dead) {
      boolean isUnfinished = jobs.isUnfinished(root);
      String told =
          root.directory()
              + " holds the unfinished commit of a driver that died, in "
              + root.root();
      if (config.unfinishedJobs == UnfinishedJobsMode.ROLLBACK) {
        if (isUnfinished || !config.cleanupSkipped) {
          hasRecovered |= recover(root, told);
        }
      } else if (isUnfinished && config.unfinishedJobs == UnfinishedJobsMode.FAIL) {
        throw new IOException(
            told + ". Run 'manifest-committer recover " + root.directory() + "' first");
      } else if (isUnfinished) {
        LOG.warn("{}: run 'manifest-committer recover {}'", told, root.directory());
      }
    }
    return hasRecovered;
  }

  private boolean recover(StagingRoot root, String told) throws IOException {
    try {
      LOG.warn(
          "{}: {}",
          root.root(),
          new Recovery(store, config, signs, pause, /* force= */ false, requests -> {})
              .run(root, Direction.AS_MARKED));
      return true;
    } catch (LeftoverException e) {
      if (e.getCause() instanceof JobIsAliveException) {
        LOG.info(e.getMessage());
      } else {
        LOG.warn(e.getMessage(), e);
      }
      return e.outcome != Recovery.Outcome.CLEANED_UP;
    } catch (JobIsAliveException | LostJournalException e) {
      LOG.info("{} is left alone: {}", root.root(), e.getMessage());
      return false;
    } catch (IOException e) {
      String why = told + ", and cannot be recovered: " + e.getMessage();
      if (e instanceof OldDataRemainsException && !((OldDataRemainsException) e).isAt(written)) {
        LOG.warn(why);
        stuck.add(root.root());
        return false;
      }
      throw new IOException(why, e);
    }
  }

  /** What killed drivers left that never began to commit: nobody waits for it, nor needs it. */
  private void removeUnbegun(List<StagingRoot> roots, List<StagingRoot> begun) {
    if (config.unfinishedJobs != UnfinishedJobsMode.ROLLBACK || config.cleanupSkipped) {
      return;
    }
    for (StagingRoot root : roots) {
      if (!begun.contains(root) && signs.hasStopped(root)) {
        try {
          new StagedJobs(store, config).removeUnbegun(root, signs);
          LOG.info("{} is removed: its driver died before its commit", root.root());
        } catch (IOException e) {
          LOG.warn("{} is of a driver that died, and could not be removed", root.root(), e);
        }
      }
    }
  }
}
