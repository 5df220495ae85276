// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.commit.Audit;
import io.manifestcommitter.commit.CommitJob;
import io.manifestcommitter.commit.CommitWork;
import io.manifestcommitter.commit.CompleteJob;
import io.manifestcommitter.commit.JobDescription;
import io.manifestcommitter.commit.Retries;
import io.manifestcommitter.commit.RollBackJob;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.journal.Heartbeat;
import io.manifestcommitter.journal.LostJournalException;
import io.manifestcommitter.journal.OtherVersionException;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.Target;
import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.progress.CommitSnapshot;
import io.manifestcommitter.progress.Commits;
import io.manifestcommitter.store.Store;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Completes, or rolls back, what a driver left that died in a job commit of the Spark protocol;
 * from the store alone, on any machine. May be repeated, and may itself die at any moment.
 *
 * <p>Past the point of no return both directions end at the new table. Where another job overwrote
 * a place in between, recovery leaves that alone and fails.
 */
public final class Recovery {
  private static final Logger LOG = LoggerFactory.getLogger(Recovery.class);

  private final Store store;
  private final CommitterConfig config;
  private final OtherJobs jobs;
  private final boolean force;
  private final Consumer<StatisticsRecorder> requestsTo;

  /** Where to. */
  public enum Direction {
    /**
     * Back before the point of no return, since the driver never said that the job succeeded and
     * somebody will run it again; forward after it.
     */
    AS_MARKED,
    /** Forward also before it. */
    COMPLETE
  }

  /**
   * A recovery by a job, which counts the requests as its own.
   *
   * @param force also of a job whose driver shows signs of life
   */
  public Recovery(Store store, CommitterConfig config, boolean force) {
    this(store, config, force, statistics -> {});
  }

  /**
   * A recovery.
   *
   * @param force also of a job whose driver shows signs of life
   * @param requestsTo lets the requests be counted, from then on, by what it is given, which each
   *     recovered job has of its own
   */
  public Recovery(
      Store store, CommitterConfig config, boolean force, Consumer<StatisticsRecorder> requestsTo) {
    this.requestsTo = requestsTo;
    this.store = store;
    this.config = config;
    this.jobs = new OtherJobs(store, config);
    this.force = force;
  }

  /** What a user does about a commit that neither came to its end nor could be rolled back. */
  public static String advice(StagingRoot root) {
    return "Delete nothing by hand: all that is needed is kept in "
        + root.root()
        + ", the old data in "
        + root.old()
        + ". Run 'manifest-committer recover "
        + root.directory()
        + "', or io.manifestcommitter.cli.Recover, once the store works again";
  }

  /**
   * The jobs that began to commit into a table and did not end, and those that ended and left
   * something behind; not what a job was told to leave.
   *
   * @param table qualified
   * @throws FileNotFoundException if there is no table
   */
  public List<StagingRoot> find(Path table) throws IOException {
    return jobs.begun(StagingRoots.list(store, table));
  }

  /**
   * Recovers one job.
   *
   * @param root one that {@link #find} found
   * @throws JobIsAliveException if its driver shows signs of life, and that is not to be ignored
   * @throws PlacesInUseException if a job that lives replaces some of the same places
   * @throws LostJournalException if somebody else does the same, or the job has ended
   * @throws CorruptManifestException if its journal cannot be used; nothing was changed
   * @throws LeftoverException if the commit has ended, and what is left of it cannot be removed
   * @throws IOException also if another job changed a place in between: it names that, and touched
   *     nothing there
   */
  public RecoveryOutcome run(StagingRoot root, Direction direction) throws IOException {
    StatisticsRecorder statistics = new StatisticsRecorder();
    requestsTo.accept(statistics);
    CommitJournal journal = journalOf(root);
    if (!journal.hasPlan()) {
      removeRest(root);
      return RecoveryOutcome.CLEANED_UP;
    }
    if (journal.state().isEnd()) {
      tidy(root, journal);
      return RecoveryOutcome.CLEANED_UP;
    }
    RecoveryOutcome outcome;
    try (JobPlan plan = planOfDead(root, journal)) {
      outcome = run(root, journal, plan, direction, statistics);
      removeStaging(root, plan, outcome);
    }
    return outcome;
  }

  /** Removes a staging directory, whose deletion was cut short: those at locations went before. */
  private void removeRest(StagingRoot root) throws IOException {
    if (!force) {
      jobs.requireDead(root);
    }
    try {
      Retries.few(() -> store.deleteTree(root.root()));
    } catch (IOException e) {
      throw new LeftoverException(root, RecoveryOutcome.CLEANED_UP, e);
    }
  }

  /** Removes what is left of a commit that has ended; whatever fails here harms nobody. */
  private void tidy(StagingRoot root, CommitJournal journal) throws IOException {
    try (JobPlan plan = planOfDead(root, journal)) {
      if (journal.isStillToEnd()) {
        journal.ended();
      }
      removeStaging(root, plan, RecoveryOutcome.CLEANED_UP);
    } catch (LeftoverException e) {
      throw e;
    } catch (LostJournalException e) {
      LOG.debug("Somebody else removed {}", root.root(), e);
    } catch (IOException e) {
      throw new LeftoverException(root, RecoveryOutcome.CLEANED_UP, e);
    }
  }

  /** Removes the staging directories of a job that ended, the one with its journal last. */
  private void removeStaging(StagingRoot root, JobPlan plan, RecoveryOutcome outcome)
      throws LeftoverException {
    try {
      List<Target> locations = new ArrayList<>(plan.targets());
      locations.removeIf(target -> target.staging().equals(root.root()));
      workers(root)
          .forEach(locations, target -> Retries.few(() -> store.deleteTree(target.staging())));
      Retries.few(() -> store.deleteTree(root.root()));
      // Also where an earlier recovery rolled it back and ended here; what has files is not empty.
      boolean mayBeEmpty = outcome == RecoveryOutcome.CLEANED_UP && plan.files().count() > 0;
      if ((outcome == RecoveryOutcome.ROLLED_BACK || mayBeEmpty) && plan.makesTable()) {
        Retries.few(() -> store.deleteEmptyDirectory(root.directory()));
      }
    } catch (IOException e) {
      LeftoverException left = new LeftoverException(root, outcome, e);
      try {
        Heartbeat.remove(store, root.root());
      } catch (IOException suppressed) {
        left.addSuppressed(suppressed);
      }
      throw left;
    }
  }

  private CommitJournal journalOf(StagingRoot root) throws IOException {
    try {
      return CommitJournal.find(store, root.attempt())
          .orElseThrow(() -> new LostJournalException(root.attempt()));
    } catch (CorruptManifestException e) {
      if (!force) {
        jobs.requireDead(root);
      }
      throw e;
    }
  }

  /** What fails because the job itself ends right now is told as that. */
  private JobPlan planOfDead(StagingRoot root, CommitJournal journal) throws IOException {
    try {
      if (!force) {
        jobs.requireDead(root);
      }
      JobPlan plan = plan(root, journal, root.jobId());
      try {
        LocationRoots.require(store, workers(root), plan, root, journal);
      } catch (IOException | RuntimeException e) {
        plan.close();
        throw e;
      }
      return plan;
    } catch (FileNotFoundException e) {
      throw journal.isHeld() ? e : new LostJournalException(journal.path());
    }
  }

  private RecoveryOutcome run(
      StagingRoot root,
      CommitJournal journal,
      JobPlan plan,
      Direction direction,
      StatisticsRecorder statistics)
      throws IOException {
    Set<Path> replaced = new HashSet<>();
    plan.replaced().forEach(old -> replaced.add(old.path()));
    PlacesOfDeadJob places = new PlacesOfDeadJob(store, config, root, replaced);
    // Also before the first heartbeat: whoever waits for the dead job would wait for that again.
    places.requireFree();
    // Before the claim, which is never without life.
    Heartbeat heartbeat = Heartbeat.start(store, root.root(), config);
    RecoveryOutcome outcome;
    boolean isClaimed = false;
    try {
      places.enter();
      journal.claim();
      isClaimed = true;
      LOG.info("Recovering {}", journal);
      outcome = recover(heartbeat.guard(store), root, journal, plan, direction, statistics);
    } catch (IOException | RuntimeException | Error e) {
      heartbeat.close();
      removeHeartbeat(root, isClaimed ? Optional.of(journal) : Optional.empty(), e);
      throw e;
    } finally {
      heartbeat.close();
    }
    return outcome;
  }

  /**
   * Nobody works on the job any more; or somebody else took its journal first, and may have removed
   * its root before this one's heartbeat.
   */
  private void removeHeartbeat(
      StagingRoot root, Optional<CommitJournal> claimed, Throwable failure) {
    try {
      if (claimed.isPresent()) {
        if (claimed.get().isHeld()) {
          Heartbeat.remove(store, root.root());
        }
      } else if (!store.status(root.attempt()).isPresent()) {
        Heartbeat.remove(store, root.root());
        store.deleteEmptyDirectory(root.root());
      }
    } catch (IOException | RuntimeException e) {
      failure.addSuppressed(e);
    }
  }

  private Workers workers(StagingRoot root) {
    return workers(root, CommitProgress.unwatched());
  }

  private Workers workers(StagingRoot root, CommitProgress progress) {
    return new Workers(config.ioThreads(), () -> {}, Audit.job(root.jobId()), progress);
  }

  private RecoveryOutcome recover(
      Store guarded,
      StagingRoot root,
      CommitJournal journal,
      JobPlan plan,
      Direction direction,
      StatisticsRecorder statistics)
      throws IOException {
    CommitProgress progress =
        Commits.begin(
            CommitSnapshot.Kind.RECOVERY,
            StatisticNames.JOB_STAGE_PLAN,
            plan.jobId(),
            root.directory().toString(),
            statistics);
    RecoveryOutcome[] outcome = {null};
    progress.run(
        () -> {
          outcome[0] =
              recover(guarded, root, journal, plan, direction, workers(root, progress), statistics);
          if (outcome[0] == RecoveryOutcome.ROLLED_BACK) {
            progress.end(CommitSnapshot.State.ROLLED_BACK);
          }
        });
    return outcome[0];
  }

  private RecoveryOutcome recover(
      Store guarded,
      StagingRoot root,
      CommitJournal journal,
      JobPlan plan,
      Direction direction,
      Workers workers,
      StatisticsRecorder statistics)
      throws IOException {
    RecoveryOutcome outcome = RecoveryOutcome.COMPLETED;
    CommitWork work =
        new CommitWork(
            new JobDescription(
                plan.jobId(),
                "journal",
                Recovery.class.getName(),
                root.directory(),
                root.attempt(),
                advice(root)),
            guarded,
            config,
            workers,
            statistics);
    work.awaitRenames(plan, Store.RenamesOf.ANYBODY);
    // To have reported is the last step but for the journal's name; only an append does so
    // unmarked.
    if (journal.state() == CommitJournal.State.COMMITTED
        || (work.hasReported(plan) && !journal.isRolledBack())) {
      new CompleteJob(work).run(plan);
      work.saveCompleted(plan);
    } else if (direction == Direction.COMPLETE) {
      // Which saves a report of its own.
      resume(work, journal, plan);
    } else if (!journal.renounce()) {
      new CompleteJob(work).run(plan);
      work.saveCompleted(plan);
    } else {
      new RollBackJob(work).fromStore(plan);
      work.saveRolledBack(plan);
      outcome = RecoveryOutcome.ROLLED_BACK;
    }
    journal.ended();
    return outcome;
  }

  /**
   * Goes on with a commit that was cut short before its point of no return. If it fails, it may be
   * repeated, or rolled back.
   *
   * @throws io.manifestcommitter.commit.PlaceChangedException if another job changed a place since;
   *     it changed nothing then
   */
  private static void resume(CommitWork work, CommitJournal journal, JobPlan begun)
      throws IOException {
    CommitJob commit = new CommitJob(work);
    commit.run(
        () -> {
          commit.plan(() -> begun);
          commit.resume();
          commit.prepare(/* mayHaveReport= */ true, () -> {});
          // What was just written made the staging directory again, had somebody deleted it.
          journal.requireHeld();
          commit.publish();
          commit.complete(journal, () -> {});
        },
        failure -> {});
  }

  private static JobPlan plan(StagingRoot root, CommitJournal journal, String jobId)
      throws IOException {
    try {
      return journal.plan(jobId, new Target(root.directory(), root.root()));
    } catch (OtherVersionException e) {
      throw e;
    } catch (CorruptManifestException e) {
      if (journal.state().isEnd()) {
        throw e;
      }
      throw new CorruptManifestException(
          e.getMessage()
              + ". Nothing was changed. Find what the job made visible by hand: its files"
              + " have '"
              + jobId
              + "' in their names, what it moved aside is in "
              + root.old(),
          e);
    }
  }
}
