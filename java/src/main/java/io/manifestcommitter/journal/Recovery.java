package io.manifestcommitter.journal;

import io.manifestcommitter.CommitterConfig;
import io.manifestcommitter.StagingRoot;
import io.manifestcommitter.commit.Audit;
import io.manifestcommitter.commit.CommitJob;
import io.manifestcommitter.commit.JobDescription;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.Target;
import io.manifestcommitter.store.Store;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finishes, or takes back, what a driver left that died in a job commit of the Spark protocol; from
 * the store alone, on any machine. May be repeated, and may itself die at any moment.
 *
 * <p>Past the commit's mark (its point of no return) both directions end at the new table. Where
 * another job overwrote a place in between, recovery leaves that alone and fails.
 */
public final class Recovery {
  private static final Logger LOG = LoggerFactory.getLogger(Recovery.class);

  private final Store store;
  private final CommitterConfig config;
  private final boolean force;

  /** Where to. */
  public enum Direction {
    /**
     * Back before the commit's mark, since the driver never said that the job succeeded and
     * somebody will run it again; forward after it.
     */
    AS_MARKED,
    /** Forward also before the mark. */
    FINISH
  }

  /** What became of a job. */
  public enum Outcome {
    /** The table is as it was before the job. */
    TAKEN_BACK,
    /** The table is as the job wanted it. */
    FINISHED,
    /** There was nothing to do but to clean up. */
    CLEANED_UP
  }

  /**
   * A recovery.
   *
   * @param force also of a job whose driver shows signs of life
   */
  public Recovery(Store store, CommitterConfig config, boolean force) {
    this.store = store;
    this.config = config;
    this.force = force;
  }

  /**
   * The jobs that began to commit into a table and did not end.
   *
   * @param table qualified
   */
  public List<StagingRoot> find(Path table) throws IOException {
    List<StagingRoot> roots;
    try {
      roots = StagingRoots.list(store, table);
    } catch (FileNotFoundException e) {
      throw new IOException("There is no table at " + table, e);
    }
    return unfinished(roots);
  }

  /** Those of some jobs that began to commit and did not end. One request each. */
  List<StagingRoot> unfinished(List<StagingRoot> roots) throws IOException {
    List<StagingRoot> unfinished = new ArrayList<>();
    for (StagingRoot root : roots) {
      if (hasJournal(root, journal -> true)) {
        unfinished.add(root);
      }
    }
    return unfinished;
  }

  /** Whether a job's commit has begun and has more left to do than to clean up. One request. */
  boolean isUnfinished(StagingRoot root) throws IOException {
    return hasJournal(root, journal -> journal.state() != CommitJournal.State.FINISHED);
  }

  /** One that cannot be used counts: {@link #run} tells what is wrong with it. */
  private boolean hasJournal(StagingRoot root, Predicate<CommitJournal> condition)
      throws IOException {
    try {
      return CommitJournal.find(store, root.attempt()).filter(condition).isPresent();
    } catch (CorruptManifestException e) {
      LOG.debug("{} has a journal that cannot be used", root.root(), e);
      return true;
    }
  }

  /**
   * Recovers one job.
   *
   * @param root one that {@link #find} found
   * @throws JobIsAliveException if its driver shows signs of life, and that is not to be ignored
   * @throws PlacesInUseException if a job that lives replaces some of the same places
   * @throws LostJournalException if somebody else does the same, or the job has ended
   * @throws CorruptManifestException if its journal cannot be used; nothing was changed
   * @throws IOException also if another job changed a place in between: it names that, and touched
   *     nothing there
   */
  public Outcome run(StagingRoot root, Direction direction) throws IOException {
    CommitJournal journal = journalOf(root);
    try (JobPlan plan = planOfDead(root, journal)) {
      return run(root, journal, plan, direction);
    }
  }

  private CommitJournal journalOf(StagingRoot root) throws IOException {
    try {
      return CommitJournal.find(store, root.attempt())
          .orElseThrow(() -> new LostJournalException(root.attempt()));
    } catch (CorruptManifestException e) {
      if (!force) {
        requireDead(root);
      }
      throw e;
    }
  }

  /** What fails because the job itself ends right now is told as that. */
  private JobPlan planOfDead(StagingRoot root, CommitJournal journal) throws IOException {
    try {
      if (!force) {
        requireDead(root);
      }
      JobPlan plan = plan(root, journal, root.jobId());
      try {
        LocationRoots.require(store, plan, root, journal);
      } catch (IOException | RuntimeException e) {
        plan.close();
        throw e;
      }
      return plan;
    } catch (FileNotFoundException e) {
      throw journal.isHeld() ? e : new LostJournalException(journal.path());
    }
  }

  private Outcome run(StagingRoot root, CommitJournal journal, JobPlan plan, Direction direction)
      throws IOException {
    ReplacingJobs others = new ReplacingJobs(store, config, root);
    Set<Path> replaced = new HashSet<>();
    if (journal.state() != CommitJournal.State.FINISHED) {
      plan.replaced().forEach(old -> replaced.add(old.path()));
    }
    if (!replaced.isEmpty()) {
      // Also before the first heartbeat: whoever waits for the dead job would wait for that again.
      others.requireNone(replaced);
    }
    // Before the claim, which is never without life.
    Heartbeat heartbeat = Heartbeat.start(store, root.root(), config.heartbeatInterval());
    Outcome outcome;
    boolean isClaimed = false;
    try {
      if (!replaced.isEmpty()) {
        others.enterForDead(replaced);
      }
      journal.claim();
      isClaimed = true;
      LOG.info("Recovering {}", journal);
      outcome = recover(root, journal, plan, direction);
    } catch (IOException | RuntimeException e) {
      heartbeat.close();
      removeHeartbeat(root, isClaimed, e);
      throw e;
    } finally {
      heartbeat.close();
    }
    // After the last heartbeat, which would make it again.
    store.deleteTree(root.root());
    // Also where an earlier recovery took it back and ended here; what has files is not empty.
    boolean mayBeEmpty = outcome == Outcome.CLEANED_UP && plan.files().count() > 0;
    if ((outcome == Outcome.TAKEN_BACK || mayBeEmpty) && plan.makesTable()) {
      store.deleteEmptyDirectory(root.directory());
    }
    return outcome;
  }

  /**
   * Nobody works on the job any more; or somebody else took its journal first, and may have removed
   * its root before this one's heartbeat.
   */
  private void removeHeartbeat(StagingRoot root, boolean isClaimed, Exception failure) {
    try {
      if (isClaimed) {
        Heartbeat.remove(store, root.root());
      } else if (!store.status(root.attempt()).isPresent()) {
        Heartbeat.remove(store, root.root());
        store.deleteEmptyDirectory(root.root());
      }
    } catch (IOException e) {
      failure.addSuppressed(e);
    }
  }

  private Outcome recover(
      StagingRoot root, CommitJournal journal, JobPlan plan, Direction direction)
      throws IOException {
    CommitJob commit =
        new CommitJob(
            new JobDescription(
                plan.jobId(),
                "journal",
                Recovery.class.getName(),
                root.directory(),
                root.attempt()),
            store,
            config,
            new Workers(config.ioThreads(), () -> {}, Audit.job(plan.jobId())),
            new StatisticsRecorder());
    Outcome outcome = Outcome.FINISHED;
    switch (journal.state()) {
      case FINISHED:
        outcome = Outcome.CLEANED_UP;
        break;
      case COMMITTED:
        commit.rollForward(plan);
        break;
      default:
        if (commit.hasReported()) {
          // The last step but for the journal's name; only an append reports before its mark.
          commit.rollForward(plan);
        } else if (direction == Direction.FINISH) {
          commit.resume(new ResumedJob(journal, plan));
        } else {
          commit.rollBack(plan);
          outcome = Outcome.TAKEN_BACK;
        }
    }
    journal.finished();
    for (Target target : plan.targets()) {
      if (!target.staging().equals(root.root())) {
        store.deleteTree(target.staging());
      }
    }
    return outcome;
  }

  private static JobPlan plan(StagingRoot root, CommitJournal journal, String jobId)
      throws IOException {
    try {
      return journal.plan(jobId, new Target(root.directory(), root.root()));
    } catch (CorruptManifestException e) {
      throw new CorruptManifestException(
          e.getMessage()
              + ". Nothing was changed. What the job made visible has to be told by hand: its files"
              + " have '"
              + jobId
              + "' in their names, what it moved aside is in "
              + root.old(),
          e);
    }
  }

  /**
   * Requires that a job's driver shows no sign of life.
   *
   * @throws JobIsAliveException if it does
   */
  void requireDead(StagingRoot root) throws IOException {
    Optional<Long> age = Heartbeat.age(store, root);
    if (age.isPresent() && age.get() < config.heartbeatTimeout()) {
      throw new JobIsAliveException(root, age.get(), config.heartbeatTimeout());
    }
  }
}
