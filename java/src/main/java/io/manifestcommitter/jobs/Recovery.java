// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.commit.Audit;
import io.manifestcommitter.commit.CommitJob;
import io.manifestcommitter.commit.CommitWork;
import io.manifestcommitter.commit.JobDescription;
import io.manifestcommitter.commit.RollBackJob;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.LifeSigns.JobIsAliveException;
import io.manifestcommitter.jobs.LifeSigns.Pause;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.journal.CommitJournal.LostJournalException;
import io.manifestcommitter.journal.CommitJournal.State;
import io.manifestcommitter.journal.Heartbeat;
import io.manifestcommitter.journal.PlanReader.OtherVersionException;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.progress.CommitSnapshot;
import io.manifestcommitter.progress.Commits;
import io.manifestcommitter.store.PlaceChangedException;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
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
  private final LifeSigns signs;
  private final Pause pause;
  private final boolean force;
  private final Consumer<StatisticsRecorder> requestsTo;

  /** Where to. */
  public enum Direction {
    /**
     * Back before the point of no return, since the driver never said that the job succeeded and
     * somebody will run it again; forward after it. Also forward for a held job that somebody began
     * to publish: it did succeed, and nobody will run it again.
     */
    AS_MARKED,
    /** Forward also before it. */
    COMPLETE,
    /** Of a held job: forward, if the table is still as the job saw it. */
    PUBLISH,
    /** Of a held job, also of one whose publication died: back. */
    DISCARD;

    private boolean isForward() {
      return this == COMPLETE || this == PUBLISH;
    }

    private boolean isOfHeld() {
      return this == PUBLISH || this == DISCARD;
    }
  }

  /** What became of a job that was recovered. */
  public enum Outcome {
    /** The table is as it was before the job. */
    ROLLED_BACK,
    /** The table is as the job wanted it. */
    COMPLETED,
    /** There was nothing to do but to clean up. */
    CLEANED_UP
  }

  /**
   * A recovery.
   *
   * @param signs of the lives of drivers, which have watched those whose jobs are recovered
   * @param pause between two looks at a job that may live
   * @param force also of a job whose driver shows signs of life, for which it is not watched then
   * @param requestsTo lets the requests be counted, from then on, by what it is given, which each
   *     recovered job has of its own; does nothing where they count as the caller's
   */
  public Recovery(
      Store store,
      CommitterConfig config,
      LifeSigns signs,
      Pause pause,
      boolean force,
      Consumer<StatisticsRecorder> requestsTo) {
    this.requestsTo = requestsTo;
    this.store = store;
    this.config = config;
    this.jobs = new OtherJobs(store);
    this.signs = signs;
    this.pause = pause;
    this.force = force;
  }

  /** What a user does about a commit that neither came to its end nor could be rolled back. */
  public static String advice(StagingRoot root) {
    return "Delete nothing by hand: all that is needed is kept in "
        + root.root()
        + ", the old data in "
        + root.allOld()
        + ". Run 'manifest-committer recover "
        + root.directory()
        + "', or io.manifestcommitter.cli.Recover, once the store works again";
  }

  /** The failure of who asks for a job that is not held, or not any more. */
  public static IOException notHeld(StagingRoot root, Exception cause) {
    return new IOException(
        "Job "
            + root.jobId()
            + " is not held in "
            + root.directory()
            + ": it never was, or it was published or discarded before, or somebody does that now."
            + " This process changed nothing. If the table's _SUCCESS names it, it was published",
        cause);
  }

  /** What a user does about a held job. */
  public static String heldAdvice(StagingRoot root) {
    String job = " " + root.directory() + " " + root.jobId() + "'";
    return "Publish it with 'manifest-committer publish"
        + job
        + ", or discard it with 'manifest-committer discard"
        + job;
  }

  /**
   * The jobs that began to commit into a table and did not end, and those that ended and left
   * something behind; not what a job was told to leave.
   *
   * @param table qualified
   * @throws FileNotFoundException if there is no table
   */
  public List<StagingRoot> find(Path table) throws IOException {
    return jobs.begun(jobs.list(table));
  }

  /**
   * Recovers one job.
   *
   * @param root one that {@link #find} found
   * @throws JobIsAliveException if its driver shows signs of life; it is watched for them. Also if
   *     another job that lives replaces some of the same places
   * @throws LostJournalException if somebody else does the same, or the job has ended
   * @throws CorruptManifestException if its journal cannot be used; nothing was changed
   * @throws LeftoverException if the commit has ended, and what is left of it cannot be removed
   * @throws IOException also if another job changed a place in between: it names that, and touched
   *     nothing there
   */
  public Outcome run(StagingRoot root, Direction direction) throws IOException {
    StatisticsRecorder statistics = new StatisticsRecorder();
    requestsTo.accept(statistics);
    CommitJournal journal = journalOf(root);
    if (!journal.hasPlan()) {
      // Its deletion was cut short: the staging directories at locations went before.
      requireDead(root);
      try {
        Retries.few(() -> store.deleteTree(root.root()));
      } catch (IOException e) {
        throw new LeftoverException(root, Outcome.CLEANED_UP, e);
      }
      return Outcome.CLEANED_UP;
    }
    if (journal.state().isEnd()) {
      tidy(root, journal);
      return Outcome.CLEANED_UP;
    }
    if (direction.isForward() && journal.state() == State.REVOKED) {
      throw new IOException(
          journal
              + " says that the commit is being rolled back, so it cannot be completed any more."
              + " Nothing was changed. Recover it without --complete, and run the job again");
    }
    if (journal.state() == State.HELD && !direction.isOfHeld()) {
      throw new IOException(journal + " is of a held job. " + heldAdvice(root));
    }
    try (JobPlan plan = planOfDead(root, journal)) {
      if (direction.isOfHeld() && !plan.isHeld()) {
        throw notHeld(root, null);
      }
      Outcome outcome =
          run(root.heldBy(journal.nextHolder()), journal, plan, direction, statistics);
      removeStaging(root, plan, outcome);
      return outcome;
    }
  }

  /** Removes what is left of a commit that has ended; whatever fails here harms nobody. */
  private void tidy(StagingRoot root, CommitJournal journal) throws IOException {
    try (JobPlan plan = planOfDead(root, journal)) {
      if (journal.isStillToEnd()) {
        journal.ended();
      }
      removeStaging(root, plan, Outcome.CLEANED_UP);
    } catch (LeftoverException e) {
      throw e;
    } catch (LostJournalException e) {
      LOG.debug("Somebody else removed {}", root.root(), e);
    } catch (IOException e) {
      throw new LeftoverException(root, Outcome.CLEANED_UP, e);
    }
  }

  /** Removes the staging directories of a job that ended, the one with its journal last. */
  private void removeStaging(StagingRoot root, JobPlan plan, Outcome outcome)
      throws LeftoverException {
    try {
      workers(root, CommitProgress.unwatched())
          .forEach(
              OtherJobs.locations(plan, root),
              target -> Retries.few(() -> store.deleteTree(target.staging)));
      Retries.few(() -> store.deleteTree(root.root()));
      // Also where an earlier recovery rolled it back and ended here; what has files is not empty.
      boolean mayBeEmpty = outcome == Outcome.CLEANED_UP && plan.files.size() > 0;
      if ((outcome == Outcome.ROLLED_BACK || mayBeEmpty) && plan.makesTable) {
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

  private void requireDead(StagingRoot root) throws IOException {
    if (!force) {
      signs.requireDead(root, pause);
    }
  }

  private CommitJournal journalOf(StagingRoot root) throws IOException {
    try {
      return CommitJournal.find(store, root.attempt())
          .orElseThrow(() -> new LostJournalException(root.attempt()));
    } catch (CorruptManifestException e) {
      requireDead(root);
      throw e;
    }
  }

  /** What fails because the job itself ends right now is told as that. */
  private JobPlan planOfDead(StagingRoot root, CommitJournal journal) throws IOException {
    try {
      requireDead(root);
      JobPlan plan = plan(root, journal);
      try {
        jobs.requireLocations(
            workers(root, CommitProgress.unwatched()),
            plan,
            root,
            journal,
            journal.state().isEnd());
      } catch (IOException | RuntimeException e) {
        plan.close();
        throw e;
      }
      return plan;
    } catch (FileNotFoundException | CorruptManifestException e) {
      Optional<Path> now = CommitJournal.find(store, root.attempt()).map(CommitJournal::path);
      throw now.equals(Optional.of(journal.path())) ? e : new LostJournalException(journal.path());
    }
  }

  private Outcome run(
      StagingRoot root,
      CommitJournal journal,
      JobPlan plan,
      Direction direction,
      StatisticsRecorder statistics)
      throws IOException {
    Set<Path> replaced = new HashSet<>(plan.heldOver());
    plan.replaced.forEach(old -> replaced.add(old.path));
    // Also before the first heartbeat: jobs that wait for the dead job would wait for that again.
    jobs.requireFree(replaced, root, signs, pause);
    Optional<Heartbeat> heartbeat = heartbeat(root);
    boolean isClaimed = false;
    StagingRoot before = root.heldBy(journal.holder());
    try {
      jobs.keepOut(replaced, root, signs);
      claim(root, journal, direction, heartbeat.isPresent());
      isClaimed = true;
      LOG.info("Recovering {}", journal);
      CommitProgress progress =
          Commits.begin(
              CommitSnapshot.Kind.RECOVERY,
              StatisticNames.JOB_STAGE_PLAN,
              plan.jobId,
              root.directory().toString(),
              statistics);
      Store guarded = heartbeat.map(life -> life.guard(store)).orElse(store);
      JobDescription job =
          new JobDescription(
              plan.jobId,
              "journal",
              Recovery.class.getName(),
              root.directory(),
              work(root),
              advice(root),
              Map.of());
      Workers workers = workers(root, progress);
      CommitWork work = new CommitWork(job, guarded, config, workers, statistics);
      Outcome[] outcome = {Outcome.COMPLETED};
      progress.run(
          () -> {
            work.awaitRenames(plan, /* ofAnybody= */ true);
            new Fence(guarded, workers, plan, journal, before).run();
            if (!isCompleted(work, workers, root, journal, plan, direction)) {
              new RollBackJob(work, plan).fromStore();
              work.summary.saveRolledBack(plan);
              outcome[0] = Outcome.ROLLED_BACK;
              progress.end(CommitSnapshot.State.ROLLED_BACK);
            }
            journal.ended();
          });
      return outcome[0];
    } catch (IOException | RuntimeException | Error e) {
      heartbeat.ifPresent(Heartbeat::close);
      removeHeartbeat(root, journal, isClaimed, e);
      throw e;
    } finally {
      heartbeat.ifPresent(Heartbeat::close);
    }
  }

  private void claim(
      StagingRoot root, CommitJournal journal, Direction direction, boolean hasHeartbeat)
      throws IOException {
    State to = journal.state();
    if (to == State.HELD && direction == Direction.DISCARD) {
      to = State.REVOKED;
    } else if (to == State.HELD) {
      try (JobPlan plan = journal.planBeforeClaim(root)) {
        new ProveHeld(store, workers(root, CommitProgress.unwatched()), root, journal, plan).run();
      }
      to = State.PLANNED;
    }
    journal.claim(to, hasHeartbeat);
  }

  /** Before the claim, which is not without life where there is room for a sign of it. */
  private Optional<Heartbeat> heartbeat(StagingRoot root) {
    try {
      return Optional.of(Heartbeat.start(store, root.root(), config));
    } catch (IOException e) {
      LOG.warn(
          "There is no room for a heartbeat in {}, or no right to write one. Job {} is recovered"
              + " without it: that only renames and deletes. To make room, delete what is not needed"
              + " outside of the table, or raise its quota",
          root.root(),
          root.jobId(),
          e);
      return Optional.empty();
    }
  }

  /**
   * Nobody works on the job any more; or somebody else took its journal first, and may have removed
   * its root before this one's heartbeat.
   */
  private void removeHeartbeat(
      StagingRoot root, CommitJournal journal, boolean isClaimed, Throwable failure) {
    try {
      if (isClaimed || journal.state() == State.HELD) {
        if (journal.isHeld()) {
          Heartbeat.remove(store, root.root());
        }
      } else if (!CommitJournal.find(store, root.attempt()).isPresent()) {
        Heartbeat.remove(store, root.root());
        store.deleteFile(root.replaces());
        store.deleteEmptyDirectory(root.attempt());
        store.deleteEmptyDirectory(root.root());
      }
    } catch (IOException | RuntimeException e) {
      failure.addSuppressed(e);
    }
  }

  private Workers workers(StagingRoot root, CommitProgress progress) {
    return new Workers(config.ioThreads, () -> {}, Audit.job(root.jobId()), progress);
  }

  /** Completes the commit, unless it is to be rolled back: then its journal says so. */
  private boolean isCompleted(
      CommitWork work,
      Workers workers,
      StagingRoot root,
      CommitJournal journal,
      JobPlan plan,
      Direction direction)
      throws IOException {
    // To have reported is the last step but for the journal's name; only an append does so
    // unmarked.
    boolean isDone =
        journal.state() == State.COMMITTED
            || (journal.state() == State.PLANNED && work.hasReported(plan));
    boolean wasBegun = plan.isHeld() && direction == Direction.AS_MARKED;
    boolean isRevoked = journal.state() == State.REVOKED;
    if (!isDone && (direction.isForward() || (wasBegun && !isRevoked))) {
      // Which saves a report of its own.
      try {
        resume(work, workers, journal, plan);
      } catch (IOException e) {
        boolean isChanged = e instanceof PlaceChangedException && !plan.isHeld();
        if (!isChanged && !(e instanceof LostJournalException)) {
          e.addSuppressed(new IOException(notCompleted(root, plan)));
        }
        throw e;
      }
      return true;
    }
    if (!isDone && journal.revoke()) {
      return false;
    }
    CommitJob.completeFromStore(work, plan);
    work.summary.saveCompleted(plan);
    return true;
  }

  /**
   * Goes on with a commit that was cut short before its point of no return. If it fails, it may be
   * repeated, or rolled back.
   *
   * @throws io.manifestcommitter.commit.PlaceChangedException if another job changed a place since;
   *     it changed nothing then
   */
  private static void resume(CommitWork work, Workers workers, CommitJournal journal, JobPlan begun)
      throws IOException {
    workers.shield(
        () -> {
          try {
            CommitJob commit = new CommitJob(work, begun);
            commit.resume();
            commit.prepare(/* mayHaveReport= */ true, () -> {});
            // What was just written made the staging directory again, had somebody deleted it.
            journal.requireHeld();
            commit.publish();
            commit.complete(Optional.of(journal), () -> {});
          } catch (IOException | RuntimeException | Error e) {
            work.failed(e);
            throw e;
          }
        });
  }

  private static String notCompleted(StagingRoot root, JobPlan plan) {
    return "The commit of job "
        + root.jobId()
        + " was not completed, and nothing is lost. To complete it needs room, and the right to"
        + " create files: make room, or grant that, and run this again. To roll it back needs"
        + " neither: run 'manifest-committer "
        + (plan.isHeld() ? "discard " : "recover ")
        + root.directory()
        + (plan.isHeld() ? " " + root.jobId() : "")
        + "'";
  }

  /** Where the report waits, and the last one: with the rest of what was taken over, if it was. */
  private Path work(StagingRoot root) {
    boolean isFenced = store.traits(root.root()).hasAtomicDirectoryRename();
    return (isFenced ? root : root.heldBy(StagingRoot.DRIVER)).old();
  }

  private static JobPlan plan(StagingRoot root, CommitJournal journal) throws IOException {
    try {
      return journal.plan(root);
    } catch (CorruptManifestException e) {
      if (e instanceof OtherVersionException || journal.state().isEnd()) {
        throw e;
      }
      throw new CorruptManifestException(
          e.getMessage()
              + ". Nothing was changed. Find what the job made visible by hand: its files"
              + " have '"
              + root.jobId()
              + "' in their names, what it moved aside is in "
              + root.allOld(),
          e);
    }
  }

  /**
   * A commit has ended, and what is left of it could not be removed. The table is right; nobody
   * needs what is left.
   */
  public static final class LeftoverException extends IOException {
    private static final long serialVersionUID = 1L;

    /** What became of the job before that. */
    public final Outcome outcome;

    LeftoverException(StagingRoot root, Outcome outcome, IOException cause) {
      super(
          "The commit of job "
              + root.jobId()
              + " into "
              + root.directory()
              + " has ended, but what it left in "
              + root.root()
              + " could not be removed: "
              + cause.getMessage()
              + ". Nobody needs it, and no job waits for it. A user with the right to delete it can"
              + " remove it with 'manifest-committer clean "
              + root.directory()
              + "' or by hand",
          cause);
      this.outcome = outcome;
    }
  }
}
