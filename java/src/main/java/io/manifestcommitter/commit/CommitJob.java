package io.manifestcommitter.commit;

import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.plan.JobPlan;
import java.io.IOException;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A job commit as it goes forward. Each protocol tells its own story by these steps: plan, {@link
 * #publish}, and {@link #complete} or {@link #report}.
 */
public final class CommitJob {
  private static final Logger LOG = LoggerFactory.getLogger(CommitJob.class);

  /** The steps that Hadoop's committer does not have, named in its manner. */
  private static final String RENAME_DIRECTORIES = "job_stage_rename_directories";

  static final String REMOVE_OLD_DATA = "job_stage_remove_old_data";

  private final CommitWork work;
  private final SwapDirectories swaps;
  private final long start = System.currentTimeMillis();

  private JobPlan plan;
  private boolean pastReturn;

  /** The commit of a job. */
  public CommitJob(CommitWork work) {
    this.work = work;
    this.swaps = new SwapDirectories(work.store, work.workers, work.swapped);
  }

  /** How a protocol commits. */
  @FunctionalInterface
  public interface Story {
    /** Commits. */
    void run() throws IOException;
  }

  /**
   * Commits. An interrupt is a failure like any other: it is handled to its end.
   *
   * @param afterFailure what is done about it, before the report of the failure is saved
   */
  public void run(Story story, Consumer<Throwable> afterFailure) throws IOException {
    work.workers.<Void>shield(
        () -> {
          try {
            work.enter(StatisticNames.JOB_STAGE_LOAD_MANIFESTS);
            story.run();
          } catch (IOException | RuntimeException | Error e) {
            work.workers.toItsEnd();
            afterFailure.accept(e);
            work.statistics.increment(StatisticNames.COMMITTER_COMMITS_ABORTED);
            work.saveFailure(e);
            throw e;
          } finally {
            if (plan != null) {
              plan.close();
            }
          }
          return null;
        });
  }

  /** Makes the plan, which is closed at the end. Nothing has changed then that a reader sees. */
  public JobPlan plan(StatisticsRecorder.Timed<JobPlan> planning) throws IOException {
    plan = work.statistics.time(work.stage(), planning);
    LOG.info("Committing {}", plan);
    work.workers.checkInterrupted();
    swaps.makeAsides(plan);
    return plan;
  }

  /** The plan, once it is made: without one there is nothing to roll back. */
  public Optional<JobPlan> planned() {
    return Optional.ofNullable(plan);
  }

  /** Whether the commit can only go forward. */
  public boolean isPastReturn() {
    return pastReturn;
  }

  /**
   * Tells, with the failure of a commit that was not rolled back, what a user does about it.
   *
   * @param what became of it, as the end of a sentence
   */
  public void advise(Throwable failure, String what) {
    work.advise(failure, what);
  }

  /** Tells from the store what an earlier try, which was cut short, had published of the plan. */
  public void resume() throws IOException {
    PlaceSurvey places = PlaceSurvey.of(work.store, work.workers, plan);
    places.requireNotOverwritten();
    places.resume(work.swapped);
  }

  /** Makes the new data visible at its place, and moves the old aside where it gives way. */
  public void publish() throws IOException {
    if (!plan.swaps().isEmpty()) {
      work.step(RENAME_DIRECTORIES, () -> swaps.run(plan));
    }
    work.step(
        StatisticNames.JOB_STAGE_CREATE_TARGET_DIRS,
        () ->
            new MakeDirectories(work.store, work.workers, work.replaced)
                .run(plan, work.swapped.failed()));
    work.step(StatisticNames.JOB_STAGE_RENAME_FILES, this::renameFiles);
  }

  /**
   * Whether this try may have found all of it published by an earlier one: a rename turned out to
   * be done, or there was none to do.
   */
  public boolean mayBeRepetition() {
    return work.published.hasRecovered() || plan.files().count() == 0;
  }

  /**
   * Brings a commit that has a log, and has published its data, to its end: past the point of no
   * return, where it replaces something, it removes the old data.
   */
  public void complete(CommitLog log) throws IOException {
    SuccessReport success = prepareReport(log::requireHeld);
    if (!plan.replaced().isEmpty()) {
      log.pointOfNoReturn();
      pastReturn = true;
      work.step(REMOVE_OLD_DATA, () -> work.removeOldData(plan));
    }
    publishReport();
    log.end();
    pastReturn = true;
    committed(success);
  }

  /** Ends a commit that replaces nothing and can be repeated from wherever it is cut short. */
  public void report() throws IOException {
    SuccessReport success = prepareReport(() -> {});
    publishReport();
    committed(success);
  }

  /**
   * Checks the output, if it is to be, and brings the report to where one request publishes it.
   *
   * @param before done between its writing, which makes a staging directory again that somebody
   *     deleted, and the first change of what the last job left in the table
   */
  private SuccessReport prepareReport(Story before) throws IOException {
    if (work.config.validateOutput()) {
      work.step(
          StatisticNames.JOB_STAGE_OPTIONAL_VALIDATE_OUTPUT,
          () -> new ValidateOutput(work.store, work.workers).run(plan));
    }
    work.statistics.increment(StatisticNames.COMMITTER_COMMIT_JOB);
    work.statistics.sample(StatisticNames.COMMITTER_COMMIT_JOB, System.currentTimeMillis() - start);
    SuccessReport success = work.summary.success(plan);
    if (work.config.markSuccessfulJobs()) {
      work.step(
          StatisticNames.JOB_STAGE_SAVE_SUCCESS_MARKER,
          () -> {
            work.report.write(plan, work.workers.telling(plan.files()), success);
            before.run();
            work.report.prepare(plan);
          });
    }
    work.workers.checkInterrupted();
    work.workers.toItsEnd();
    return success;
  }

  private void publishReport() throws IOException {
    if (work.config.markSuccessfulJobs()) {
      work.enter(StatisticNames.JOB_STAGE_SAVE_SUCCESS_MARKER);
      work.reportBegun = true;
      work.report.publish();
    }
  }

  private void committed(SuccessReport success) {
    work.summary.save(success, plan.files().count(), work.workers.telling(plan.files()));
    LOG.info("Committed {} in {} ms", plan, System.currentTimeMillis() - start);
  }

  private void renameFiles() throws IOException {
    RenameFiles rename =
        new RenameFiles(
            work.store, work.workers, work.statistics, work.published, work.swapped, work.replaced);
    if (work.config.deleteTargetFiles()) {
      rename.runReplacing(plan);
    } else {
      rename.run(plan);
    }
    work.statistics.count(StatisticNames.COMMITTER_FILES_COMMITTED, plan.files().count());
    work.statistics.count(StatisticNames.COMMITTER_BYTES_COMMITTED, plan.bytes());
    work.statistics.count(StatisticNames.COMMITTER_TASKS_COMPLETED, plan.tasks());
  }
}
