// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.CommitJob;
import io.manifestcommitter.commit.CommitWork;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.commit.Workers.Result;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.config.CommitterConfig.ConflictMode;
import io.manifestcommitter.jobs.LifeSigns.Pause;
import io.manifestcommitter.jobs.ReplacingJobs;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.journal.CommitLedger;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.JobPlanner;
import io.manifestcommitter.spark.TableRoot.JobStaging;
import io.manifestcommitter.spark.WriteRequest.Overwrite;
import io.manifestcommitter.store.Store;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.fs.Path;

/**
 * The whole commit of a Spark job, from its commit messages to its report. It seals, proves, locks
 * the places that are replaced, plans, writes the journal, publishes and completes. If that fails,
 * it rolls back.
 */
final class CommitSparkJob {
  private final StagingRoot staging;
  private final JobStaging setUp;
  private final Overwrite overwrite;
  private final WriteRequest write;
  private final CommitterConfig config;
  private final Pause pause;
  private final CommitWork work;
  private final Store store;
  private final Workers workers;
  private final SealOutput seal;
  private final ReplacingJobs others;
  private final LocationMarks marks;

  private Optional<CommitJournal> journal = Optional.empty();
  private Ending ending = Ending.NOTHING_VISIBLE;

  /**
   * A commit.
   *
   * @param setUp where the job staged
   * @param work of this try
   * @param store guarded by the driver's heartbeat
   */
  CommitSparkJob(
      WriteRequest write, JobStaging setUp, CommitWork work, Store store, Workers workers) {
    this.staging = setUp.root;
    this.setUp = setUp;
    this.overwrite = write.overwrite;
    this.write = write;
    this.config = write.config;
    this.pause = write.pause;
    this.work = work;
    this.store = store;
    this.workers = workers;
    this.seal = new SealOutput(staging, overwrite, store, workers, config);
    this.marks = new LocationMarks(store, staging);
    this.others = new ReplacingJobs(store, config, write.signs, staging);
  }

  /**
   * Commits, or rolls back and fails.
   *
   * @param messages the contents of the commit messages of the attempts that Spark says committed
   */
  void run(List<?> messages) throws IOException {
    workers.shield(
        () -> {
          work.enter(StatisticNames.JOB_STAGE_SEAL_OUTPUT);
          try {
            Optional<JobPlan> planned = sealLockAndPlan(messages);
            if (planned.isPresent()) {
              try (JobPlan plan = planned.get()) {
                publish(plan);
              }
            }
          } catch (IOException | RuntimeException | Error e) {
            preparedFiles().forEach(store::release);
            work.failed(e);
            throw e;
          }
        });
  }

  private void publish(JobPlan plan) throws IOException {
    CommitJob commit = new CommitJob(work, plan);
    try {
      work.step(StatisticNames.JOB_STAGE_WRITE_JOURNAL, () -> writeJournal(plan, commit));
      if (config.holds()) {
        ending = Ending.HELD;
        work.held(staging.jobId());
        return;
      }
      commit.publish();
      commit.complete(journal, () -> marks.lookAhead(seal.locations(), workers));
      ending = Ending.COMMITTED;
    } catch (IOException | RuntimeException | Error e) {
      preparedFiles().forEach(store::release);
      if (journal.isPresent()) {
        ending = Ending.LEFT_BEHIND;
        RollBackSparkJob back = new RollBackSparkJob(work, plan, setUp, store);
        ending = back.run(journal.get(), e);
        journal = back.hasBegun() ? journal : Optional.empty();
      }
      throw e;
    }
  }

  /** How it ended, once {@link #run} has returned or thrown. */
  Ending ending() {
    return ending;
  }

  /** The custom locations that are known so far, in which the job has staging directories. */
  List<Path> locations() {
    return seal.locations();
  }

  /** The marks of custom locations, which a commit that succeeds has seen. */
  LocationMarks marks() {
    return marks;
  }

  /** The journal, if the commit has begun. */
  Optional<CommitJournal> journal() {
    return journal;
  }

  /**
   * All that comes before the journal. Seals and proves what the tasks committed. At the same time
   * settles what other jobs left, and locks the places that the job replaces. Then makes the plan.
   *
   * @return empty if another job has the data of this job's identity already
   */
  private Optional<JobPlan> sealLockAndPlan(List<?> messages) throws IOException {
    CommittedFiles committed = new CommittedFiles(staging.jobId(), messages, this::named);
    Set<Path> parents = committed.parents(staging.directory());
    Collection<Path> overwritten = overwrite.roots(parents);
    Collection<Path> written = Overwrite.outermost(overwritten, parents);
    Collection<Path> places =
        write.locked(config.conflictMode == ConflictMode.REPLACE ? written : overwritten);
    PlanSparkJob planning = new PlanSparkJob(staging.directory(), store, workers, config);
    ProveStaged proof = new ProveStaged(store, workers, config.missingFiles);
    try (JobPlanner planner = PlanSparkJob.begin(committed, staging, setUp.madeTable, config)) {
      Result<List<StagedTree>> trees = new Result<>(() -> sealAndProve(committed, proof, planner));
      Result<Optional<String>> held = new Result<>(() -> settleAndLock(places, written, planning));
      workers.beside(
          trees,
          held,
          () -> {
            // A job that replaces something, or has an identity, looks once that is locked.
            if (places.isEmpty()) {
              planning.lookAhead(committed.levels(staging.directory()));
            }
          },
          () -> workers.forEach(preparedFiles(), work::createAhead));
      CommitLedger ledger = new CommitLedger(store, write.table);
      if (write.isElsewhere(held.get(), () -> ledger.find(config.commitId.get()), work)) {
        ending = Ending.SKIPPED;
        return Optional.empty();
      }
      if (config.holds()) {
        planner.heldOver(write.heldOver(overwritten, written, setUp.isNewTable()));
      }
      JobPlan plan =
          work.time(
              StatisticNames.JOB_STAGE_PLAN,
              () -> planning.run(trees.get(), overwrite.roots(planner.parents()), planner));
      try {
        proof.removeStrays(plan.swaps.all);
      } catch (IOException | RuntimeException | Error e) {
        plan.close();
        throw e;
      }
      return Optional.of(plan);
    }
  }

  private List<StagedTree> sealAndProve(
      CommittedFiles committed, ProveStaged proof, JobPlanner planner) throws IOException {
    List<StagedTree> trees =
        work.time(StatisticNames.JOB_STAGE_SEAL_OUTPUT, () -> seal.run(committed, planner));
    List<StagedTree.Directory> listed = new ArrayList<>();
    trees.forEach(tree -> listed.addAll(tree.toList()));
    work.step(
        StatisticNames.JOB_STAGE_PROVE_OUTPUT,
        () -> proof.run(listed, committed, staging.directory(), planner));
    return trees;
  }

  /**
   * Before the job looks at the places, settles what dead drivers left in the table, and locks the
   * places. Setup settled that, too, but a driver that died just before setup showed signs of life
   * then. Of two jobs that replace the same places, one comes first. Waits for the job's own first
   * heartbeat: without it, others would take the job for dead. One request if the job replaces
   * nothing and no other job is there; otherwise see {@link ReplacingJobs#settleAndEnter}.
   *
   * @param places that the job replaces
   * @param written the same, and those that it adds to
   * @param planning learns that what it saw may have changed
   * @return a held job that has this one's identity
   */
  private Optional<String> settleAndLock(
      Collection<Path> places, Collection<Path> written, PlanSparkJob planning) throws IOException {
    Pause interruptible =
        waiting -> {
          workers.checkInterrupted();
          work.waits(waiting, () -> pause.pause(waiting));
          workers.checkInterrupted();
        };
    return work.beside(
        StatisticNames.JOB_STAGE_LOCK_PLACES,
        () -> {
          setUp.heartbeat.await();
          try {
            if (!places.isEmpty()) {
              return others.settleAndEnter(places, written, interruptible);
            }
            if (others.settle(written, interruptible)) {
              planning.lookAgain();
            }
            return Optional.<String>empty();
          } finally {
            work.goesOn();
          }
        });
  }

  /** What the commit writes to the job's own directory before it is known what that will be. */
  private List<Path> preparedFiles() {
    List<Path> files = new ArrayList<>(config.holds() ? List.of() : CommitJob.files(work));
    files.add(CommitJournal.unbegun(store, staging.attempt()));
    return files;
  }

  /** The location under the name by which its store is called here; opens its store. */
  private String named(String location) {
    Path named = store.named(new Path(location));
    store.traits(named);
    return named.toString();
  }

  /**
   * From here on anybody can complete the commit, or roll it back; of a held job, publish it. Two
   * requests, and one if the job replaces anything: nobody may have taken it for dead meanwhile and
   * replaced the same places.
   */
  private void writeJournal(JobPlan plan, CommitJob commit) throws IOException {
    Result<CommitJournal> written =
        new Result<>(() -> CommitJournal.write(store, staging.attempt(), plan));
    try {
      if (config.holds()) {
        written.apply();
      } else {
        commit.prepare(setUp.mayHaveReport, written);
      }
    } finally {
      journal = written.find();
    }
    CommitJournal begun = written.get();
    begun.begin();
    begun.endsAs(setUp.lastState(plan, !seal.locations().isEmpty(), config, store));
    others.requireNotTakenForDead();
  }
}
