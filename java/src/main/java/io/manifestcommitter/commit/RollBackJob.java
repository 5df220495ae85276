// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.JobPlan.Target;
import io.manifestcommitter.store.PlaceChangedException;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Rolls back a commit that is not past its point of no return, so that the table is as it was.
 * First the report is rolled back, then files and directories, then what had given way to them, and
 * last the report of the job before. What another job put there stays.
 */
public final class RollBackJob {
  private final CommitWork work;

  /** Rolls back the commit of a job. */
  public RollBackJob(CommitWork work) {
    this.work = work;
  }

  /**
   * Rolls back what this process did of a plan, after that failed. What cannot be rolled back is
   * added to the failure.
   *
   * @return whether nothing is left
   */
  public boolean afterFailure(JobPlan plan, Throwable failure) {
    work.workers.toItsEnd();
    return run(plan, failure, rollBack -> rollBack.run(plan, work.published, work.swapped));
  }

  /**
   * For a commit that another process has taken over: returns the last report, if this process
   * moved it aside after the other one had looked. Nothing gives way to it.
   *
   * @param mayBeOwn whether it may be this job's, by which the other one has completed it
   */
  public void afterLoss(boolean mayBeOwn, Throwable failure) {
    List<String> left = work.report.rollBackLast(mayBeOwn);
    if (!left.isEmpty()) {
      failure.addSuppressed(
          new IOException("The last report was not moved back: " + String.join(", ", left)));
    }
  }

  /**
   * Rolls back what an earlier try, which may have run anywhere, did of a plan. May be repeated
   * from wherever it ended.
   *
   * @throws PlaceChangedException if another job overwrote a place since; it changed nothing then
   * @throws IOException if something could not be rolled back; it names that
   */
  public void fromStore(JobPlan plan) throws IOException {
    work.workers.shield(
        () -> {
          begin();
          keepFromDriver(plan);
          PlaceSurvey survey = work.survey(plan);
          survey.requireNotOverwritten();
          fromStore(plan, Optional.of(survey), "The commit was not rolled back completely");
        });
  }

  /**
   * Where no directory is renamed atomically, the sources go before any destination is looked at: a
   * driver that was taken for dead, and lives, publishes nothing more. The report, too.
   */
  private void keepFromDriver(JobPlan plan) throws IOException {
    if (RollBackPublished.isFencedByFile(work.store, plan.table())) {
      work.report.discardPrepared(!plan.replaced().isEmpty());
    }
    List<Target> targets = new ArrayList<>(plan.targets());
    targets.removeIf(target -> !RollBackPublished.isFencedByFile(work.store, target.staging()));
    work.workers.forEach(
        targets,
        target ->
            Retries.few(
                () ->
                    work.store.deleteTree(
                        new StagingRoot(target.directory(), plan.jobId()).output())));
  }

  /**
   * As above, of a plan that replaces nothing: no place is looked at for what another job
   * overwrote.
   *
   * @param reason of the failure if something is left
   */
  public void fromStore(JobPlan plan, String reason) throws IOException {
    begin();
    fromStore(plan, Optional.empty(), reason);
  }

  private void begin() {
    work.enter(StatisticNames.JOB_STAGE_ABORT);
    work.workers.toItsEnd();
  }

  /** Throws, for this reason, if something is left. */
  private void fromStore(JobPlan plan, Optional<PlaceSurvey> survey, String reason)
      throws IOException {
    IOException failure = new IOException(reason);
    if (!run(plan, failure, rollBack -> rollBack.runFromStore(plan, survey))) {
      throw failure;
    }
  }

  private boolean run(JobPlan plan, Throwable failure, Way way) {
    List<String> left = new ArrayList<>();
    try {
      left.addAll(work.report.rollBack());
      work.awaitRenames(plan, Store.RenamesOf.THIS_STORE);
      left.addAll(
          way.run(new RollBackPublished(work.store, work.workers, work.statistics, work.replaced)));
    } catch (IOException | RuntimeException e) {
      left.add("any file of this job in " + plan.table() + " (" + e + ")");
    }
    left.addAll(work.report.rollBackLast());
    if (!left.isEmpty()) {
      failure.addSuppressed(
          new IOException(
              "The failed job "
                  + work.job.jobId()
                  + " could not roll back what it had published. "
                  + work.job.advice()
                  + ". What is left: "
                  + String.join(", ", left)));
    }
    return left.isEmpty();
  }

  /** One way to roll files and directories back. */
  private interface Way {
    List<String> run(RollBackPublished rollBack) throws IOException;
  }
}
