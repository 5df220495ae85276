// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.CommitJob;
import io.manifestcommitter.commit.CommitWork;
import io.manifestcommitter.commit.RollBackJob;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.config.CommitterConfig.ConflictMode;
import io.manifestcommitter.jobs.LifeSigns;
import io.manifestcommitter.jobs.Pause;
import io.manifestcommitter.jobs.ReplacingJobs;
import io.manifestcommitter.jobs.SettledJobs;
import io.manifestcommitter.jobs.UnfinishedJobs;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.journal.Heartbeat;
import io.manifestcommitter.journal.LostJournalException;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.JobPlanner;
import io.manifestcommitter.plan.Swap;
import io.manifestcommitter.plan.Target;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The commit of a Spark job, told once from its commit messages to its report: seal, prove, lock
 * the places that are replaced, plan, write the journal, publish, complete; and back, if that
 * fails.
 */
final class CommitSparkJob {
  private static final Logger LOG = LoggerFactory.getLogger(CommitSparkJob.class);

  private final CommitJob commit;
  private final CommitWork work;
  private final StagingRoot staging;
  private final Overwrite overwrite;
  private final boolean madeTable;
  private final boolean mayHaveReport;
  private final Store store;
  private final Workers workers;
  private final CommitterConfig config;
  private final Heartbeat heartbeat;
  private final LifeSigns signs;
  private final Pause pause;
  private final SealOutput seal;
  private final ReplacingJobs others;

  private boolean replaces;
  private boolean isBegun;
  private Optional<CommitJournal> journal = Optional.empty();
  private Optional<Set<Path>> marked = Optional.empty();
  private Ending ending = Ending.NOTHING_VISIBLE;

  /** How a commit ended. */
  enum Ending {
    /** The table has the job's data, and its report. */
    COMMITTED,
    /** The table is as it was. */
    NOTHING_VISIBLE,
    /** Something may be visible, or old data gone: what is in the staging directory is needed. */
    LEFT_BEHIND
  }

  /**
   * A commit.
   *
   * @param work of this try
   * @param staging the job's staging directory in the table
   * @param madeTable whether the job made the table's directory
   * @param mayHaveReport whether the last job's report may be in it
   * @param store guarded by the driver's heartbeat
   * @param signs of the lives of other jobs' drivers
   * @param pause between two looks at a job that replaces the same places
   */
  CommitSparkJob(
      CommitWork work,
      StagingRoot staging,
      boolean madeTable,
      boolean mayHaveReport,
      Overwrite overwrite,
      Store store,
      Workers workers,
      CommitterConfig config,
      Heartbeat heartbeat,
      LifeSigns signs,
      Pause pause) {
    this.commit = new CommitJob(work);
    this.work = work;
    this.staging = staging;
    this.madeTable = madeTable;
    this.mayHaveReport = mayHaveReport;
    this.overwrite = overwrite;
    this.store = store;
    this.workers = workers;
    this.config = config;
    this.heartbeat = heartbeat;
    this.signs = signs;
    this.pause = pause;
    this.seal = new SealOutput(staging, overwrite, store, workers, config);
    this.others = new ReplacingJobs(store, config, signs, staging);
  }

  /**
   * Commits, or rolls back and fails.
   *
   * @param messages the contents of the commit messages of the attempts that Spark says committed
   */
  void run(List<?> messages) throws IOException {
    commit.run(
        () -> {
          work.enter(StatisticNames.JOB_STAGE_SEAL_OUTPUT);
          JobPlan plan = sealLockAndPlan(messages);
          CommitJournal begun =
              work.time(StatisticNames.JOB_STAGE_WRITE_JOURNAL, () -> writeJournal(plan));
          commit.publish();
          commit.complete(begun, this::findMarks);
        },
        failure -> {
          files().forEach(store::release);
          if (journal.isPresent()) {
            rollBack(journal.get(), commit.planned().get(), failure);
          }
        });
    ending = Ending.COMMITTED;
  }

  /** How it ended, once {@link #run} has returned or thrown. */
  Ending ending() {
    return ending;
  }

  /** The custom locations that are known so far, in which the job has staging directories. */
  List<Path> locations() {
    return seal.locations();
  }

  /** Whether nobody else has taken the commit. At most one request. */
  boolean isHeld() throws IOException {
    return !journal.isPresent() || journal.get().isHeld();
  }

  /** Notes in the store that nothing is left to do but to clean up. At most one request. */
  void end() throws IOException {
    if (journal.isPresent()) {
      journal.get().ended();
    }
  }

  /** Whether {@link #end} has to be called before anything of the staging directory is deleted. */
  boolean isStillToEnd() {
    return journal.isPresent() && journal.get().isStillToEnd();
  }

  /**
   * All that comes before the journal: seals and proves what the tasks committed; at the same time
   * settles what other jobs left, and locks the places that the job replaces; then makes the plan.
   */
  private JobPlan sealLockAndPlan(List<?> messages) throws IOException {
    CommittedFiles committed = new CommittedFiles(staging.jobId(), messages, this::named);
    try (JobPlanner planner = planner(committed)) {
      Set<Path> parents = committed.parents(staging.directory());
      Collection<Path> overwritten = overwrite.roots(parents);
      Collection<Path> places =
          config.conflictMode() == ConflictMode.REPLACE
              ? Overwrite.outermost(overwritten, parents)
              : overwritten;
      replaces = !places.isEmpty();
      PlanSparkJob planning = new PlanSparkJob(staging.directory(), store, workers, config);
      ProvenOutput[] output = {null};
      SettledJobs[] settled = {null};
      workers.beside(
          () -> output[0] = sealAndProve(committed, planner),
          () -> settled[0] = settleAndLock(places),
          () -> lookAhead(planning, committed),
          () -> workers.forEach(files(), this::create));
      settled[0].requireNoneAt(Overwrite.outermost(overwritten, parents));
      if (settled[0].hasRecovered()) {
        planning.forget();
      }
      JobPlan plan = commit.plan(() -> plan(planning, output[0], planner));
      removeStrays(output[0].strays, plan.swaps().all());
      return plan;
    }
  }

  private JobPlanner planner(CommittedFiles committed) throws IOException {
    JobPlanner planner =
        new JobPlanner(staging.jobId(), new Target(staging.directory(), staging.root()));
    if (madeTable) {
      planner.makesTable();
    }
    if (config.markSuccessfulJobs()) {
      planner.marksSuccess();
    }
    for (Integer task : committed.tasks()) {
      planner.task(task.toString());
    }
    return planner;
  }

  private ProvenOutput sealAndProve(CommittedFiles committed, JobPlanner planner)
      throws IOException {
    List<StagedTree> trees =
        work.time(StatisticNames.JOB_STAGE_SEAL_OUTPUT, () -> seal.run(committed, planner));
    List<StoreEntry> strays =
        work.time(StatisticNames.JOB_STAGE_PROVE_OUTPUT, () -> prove(trees, committed, planner));
    return new ProvenOutput(trees, strays);
  }

  /** See {@link PlanSparkJob#lookAhead}. */
  private void lookAhead(PlanSparkJob planning, CommittedFiles committed) throws IOException {
    if (!replaces) {
      planning.lookAhead(committed.levels(staging.directory()));
    }
  }

  /** See {@link PlanSparkJob#run}. */
  private JobPlan plan(PlanSparkJob planning, ProvenOutput output, JobPlanner planner)
      throws IOException {
    return work.time(
        StatisticNames.JOB_STAGE_PLAN,
        () -> planning.run(output.trees, overwrite.roots(planner.parents()), planner));
  }

  /** What is sealed, and proven to be there. */
  private static final class ProvenOutput {
    final List<StagedTree> trees;

    /** What lies in them that nobody named. */
    final List<StoreEntry> strays;

    ProvenOutput(List<StagedTree> trees, List<StoreEntry> strays) {
      this.trees = trees;
      this.strays = strays;
    }
  }

  /** What the commit writes to the job's own directory before it is known what that will be. */
  private List<Path> files() {
    List<Path> files = new ArrayList<>(commit.files());
    files.add(CommitJournal.unbegun(store, staging.attempt()));
    return files;
  }

  /** Makes a file. If that fails, it is made when it is written. */
  private void create(Path file) {
    try {
      store.create(file);
    } catch (IOException e) {
      LOG.debug("{} is made later", file, e);
    }
  }

  /** The location under the name by which its store is called here; opens its store. */
  private String named(String location) {
    Path named = store.named(new Path(location));
    store.traits(named);
    return named.toString();
  }

  /**
   * Proves that every named file is there. One listing for each staged directory.
   *
   * @return what nobody named
   */
  private List<StoreEntry> prove(
      List<StagedTree> trees, CommittedFiles committed, JobPlanner planner) throws IOException {
    List<StagedDirectory> listed = new ArrayList<>();
    trees.forEach(tree -> listed.addAll(tree.toList()));
    return new ProveStaged(store, workers, config.missingFiles())
        .run(listed, committed, new UploadedFiles(staging), planner);
  }

  /**
   * Before anybody looks at the places: what drivers that died left in the table is settled, again,
   * since one that died just before setup showed signs of life then; and of two jobs that replace
   * the same places, one comes first. Waits for the job's first sign of life: without it, others
   * would take it for dead. One request if the job replaces nothing and nobody else is there; else
   * see {@link UnfinishedJobs#settle} and {@link ReplacingJobs#enter}.
   *
   * @param places that the job replaces
   */
  private SettledJobs settleAndLock(Collection<Path> places) throws IOException {
    Pause interruptible =
        waiting -> {
          workers.checkInterrupted();
          work.waits(waiting, () -> pause.pause(waiting));
          workers.checkInterrupted();
        };
    return work.beside(
        StatisticNames.JOB_STAGE_LOCK_PLACES,
        () -> {
          heartbeat.await();
          try {
            return replaces
                ? others.settleAndEnter(places, interruptible)
                : new UnfinishedJobs(store, config, signs, interruptible).settle(others.inTable());
          } finally {
            work.goesOn();
          }
        });
  }

  /**
   * Deletes what nobody named from the directories that are published as they are: one request for
   * each.
   */
  private void removeStrays(List<StoreEntry> strays, List<Swap> swaps) throws IOException {
    Set<Path> staged = new HashSet<>();
    swaps.forEach(swap -> swap.staged().ifPresent(staged::add));
    List<StoreEntry> visible = new ArrayList<>();
    for (StoreEntry stray : strays) {
      for (Path path = stray.path(); path != null; path = path.getParent()) {
        if (staged.contains(path)) {
          visible.add(stray);
          break;
        }
      }
    }
    workers.forEach(
        visible,
        stray -> {
          if (stray.isDirectory()) {
            store.deleteTree(stray.path());
          } else {
            store.deleteFile(stray.path());
          }
        });
  }

  /**
   * From here on anybody can complete the commit, or roll it back. Two requests, and one if the job
   * replaces anything: nobody may have taken it for dead meanwhile and replaced the same places.
   */
  private CommitJournal writeJournal(JobPlan plan) throws IOException {
    CommitJournal[] written = {null};
    try {
      commit.prepare(
          mayHaveReport, () -> written[0] = CommitJournal.write(store, staging.attempt(), plan));
    } catch (IOException | RuntimeException | Error e) {
      if (written[0] != null) {
        discard(written[0]);
      }
      throw e;
    }
    CommitJournal begun = written[0];
    journal = Optional.of(begun);
    begun.begin();
    isBegun = true;
    begun.endsBefore(cleanup(plan));
    if (replaces) {
      others.requireNotTakenForDead();
    }
    return begun;
  }

  private CommitJournal.Cleanup cleanup(JobPlan plan) {
    if (config.cleanupSkipped()) {
      return CommitJournal.Cleanup.SKIPPED;
    }
    boolean goesAtOnce =
        showsItsEnd(plan)
            && seal.locations().isEmpty()
            && store.traits(staging.root()).hasAtomicDirectoryDeletion();
    return goesAtOnce ? CommitJournal.Cleanup.AT_ONCE : CommitJournal.Cleanup.ONE_BY_ONE;
  }

  /**
   * Whether it shows by something else than the journal's last name that the commit came to its
   * end: by the point of no return, or by the report, which has left the staging directory.
   */
  private boolean showsItsEnd(JobPlan plan) {
    return !plan.replaced().isEmpty() || plan.marksSuccess();
  }

  /** What remains of it is invisible, and goes with the staging directory, or with old uploads. */
  private static void discard(CommitJournal unbegun) {
    try {
      unbegun.discard();
    } catch (IOException | RuntimeException e) {
      LOG.warn("{} has not begun, and could not be discarded", unbegun, e);
    }
  }

  /** For the cleanup. What cannot be told now is asked again then. */
  private void findMarks() {
    try {
      marked = Optional.of(new LocationMarks(store, staging).find(seal.locations(), workers));
    } catch (IOException e) {
      LOG.debug("The marks of custom locations in {} cannot be listed", staging.root(), e);
    }
  }

  /** The custom locations where attempts of the job wrote, if the commit came to know them. */
  Optional<Set<Path>> marked() {
    return marked;
  }

  private void rollBack(CommitJournal written, JobPlan plan, Throwable failure) {
    ending = Ending.LEFT_BEHIND;
    try {
      if (!isBegun && written.hasNoName()) {
        discard(written);
        journal = Optional.empty();
        ending = Ending.NOTHING_VISIBLE;
        return;
      }
      if (commit.isPastReturn() || !written.revoke()) {
        commit.advise(failure, "is not complete and was not rolled back");
        return;
      }
      heartbeat.forgetSilence();
      if (new RollBackJob(work).afterFailure(plan, failure)) {
        ending = Ending.NOTHING_VISIBLE;
      }
    } catch (LostJournalException e) {
      failure.addSuppressed(e);
      // What lies where the driver had it came there since: who took the commit over has the rest.
      boolean isFenced = store.traits(staging.root()).hasAtomicDirectoryRename();
      new RollBackJob(work).afterLoss(/* mayBeOwn= */ isFenced, failure);
      commit.advise(failure, "was taken over");
    } catch (IOException | RuntimeException | Error e) {
      failure.addSuppressed(e);
      commit.advise(failure, "could not be rolled back");
    }
  }
}
