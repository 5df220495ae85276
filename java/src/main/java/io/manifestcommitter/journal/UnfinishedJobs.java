package io.manifestcommitter.journal;

import io.manifestcommitter.CommitterConfig;
import io.manifestcommitter.CommitterConfig.UnfinishedJobsMode;
import io.manifestcommitter.StagingRoot;
import io.manifestcommitter.journal.Recovery.Direction;
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

  /** As {@code config} says. */
  public UnfinishedJobs(Store store, CommitterConfig config) {
    this.store = store;
    this.config = config;
  }

  /**
   * Recovers them, or fails, or warns. The commit of a driver that lives is a concurrent job's and
   * left alone, and so is one whose places a job that lives replaces. One request for each staging
   * root; four more where a commit was begun.
   *
   * @param roots the staging roots of other jobs
   * @return whether any was recovered
   * @throws IOException if one may not, or cannot, be recovered; it names the command that does
   */
  public boolean settle(List<StagingRoot> roots) throws IOException {
    boolean recovered = false;
    Recovery recovery = new Recovery(store, config, /* force= */ false);
    for (StagingRoot root : recovery.unfinished(roots)) {
      try {
        recovered |= settle(recovery, root);
      } catch (JobIsAliveException | LostJournalException | PlacesInUseException e) {
        LOG.info("{} is left alone: {}", root.root(), e.getMessage());
      }
    }
    return recovered;
  }

  private boolean settle(Recovery recovery, StagingRoot root) throws IOException {
    if (config.unfinishedJobs() == UnfinishedJobsMode.ROLLBACK) {
      try {
        LOG.warn("{}: {}", root.root(), recovery.run(root, Direction.AS_MARKED));
      } catch (JobIsAliveException | LostJournalException | PlacesInUseException e) {
        throw e;
      } catch (IOException e) {
        throw new IOException(told(root) + ", and cannot be recovered: " + e.getMessage(), e);
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

  private static String told(StagingRoot root) {
    return root.directory()
        + " holds the unfinished commit of a driver that died, in "
        + root.root();
  }
}
