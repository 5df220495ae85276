package io.manifestcommitter.commit;

import io.manifestcommitter.CommitterConfig;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.Store;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The story of a job commit: load and check everything, make directories, rename, report. One
 * instance commits one job once.
 */
public final class CommitJob {
  private static final Logger LOG = LoggerFactory.getLogger(CommitJob.class);

  /** The step that Hadoop's committer does not have, named in its manner. */
  private static final String REMOVE_OLD_DATA = "job_stage_remove_old_data";

  private final JobDescription job;
  private final Store store;
  private final CommitterConfig config;
  private final Workers workers;
  private final StatisticsRecorder statistics;
  private final Published published = new Published();
  private final PublishReport report;
  private final SaveSummary summary;

  private String stage = "setup";
  private JobPlan plan;
  private boolean pastReturn;
  private boolean leftSomethingBehind;

  /** The commit of {@code job}. */
  public CommitJob(
      JobDescription job,
      Store store,
      CommitterConfig config,
      Workers workers,
      StatisticsRecorder statistics) {
    this.job = Objects.requireNonNull(job);
    this.store = Objects.requireNonNull(store);
    this.config = Objects.requireNonNull(config);
    this.workers = Objects.requireNonNull(workers);
    this.statistics = Objects.requireNonNull(statistics);
    this.report = new PublishReport(store, job);
    this.summary = new SaveSummary(store, job, config, statistics);
  }

  /**
   * Commits the job, or leaves it half done for a second try or for {@link #takeBack}.
   *
   * @return the report, which is also in the table unless markers are switched off
   */
  public SuccessReport run(PlanSource source) throws IOException {
    return workers.shield(
        () -> {
          try {
            return commit(source);
          } catch (IOException | RuntimeException | Error e) {
            saveFailure(e);
            throw e;
          }
        });
  }

  /**
   * Commits the job; if that fails, takes back what it made visible, so that the table is as it
   * was. An interrupt is a failure like any other: it is handled to its end.
   */
  public SuccessReport runOrTakeBack(PlanSource source) throws IOException {
    return workers.shield(
        () -> {
          try {
            return commit(source);
          } catch (IOException | RuntimeException | Error e) {
            withdraw(e);
            saveFailure(e);
            throw e;
          }
        });
  }

  /** Removes what a failed {@link #run} made visible, as far as the store lets it. */
  public void takeBack() throws IOException {
    workers.<Void>shield(
        () -> {
          IOException reason = new IOException("Job " + job.jobId() + " was aborted");
          withdraw(reason);
          if (reason.getSuppressed().length > 0) {
            throw reason;
          }
          return null;
        });
  }

  /**
   * Whether a failed commit could not take back all it made visible: what is left in the staging
   * tree is then needed.
   */
  public boolean leftSomethingBehind() {
    return leftSomethingBehind;
  }

  private SuccessReport commit(PlanSource source) throws IOException {
    long start = System.currentTimeMillis();
    stage = StatisticNames.JOB_STAGE_LOAD_MANIFESTS;
    plan = statistics.time(stage, source::plan);
    LOG.info("Committing {}", plan);

    step(
        StatisticNames.JOB_STAGE_CREATE_TARGET_DIRS,
        () -> new MakeDirectories(store, workers).run(plan));
    step(StatisticNames.JOB_STAGE_RENAME_FILES, this::renameFiles);
    if (config.validateOutput()) {
      step(
          StatisticNames.JOB_STAGE_OPTIONAL_VALIDATE_OUTPUT,
          () -> new ValidateOutput(store, workers).run(plan));
    }
    statistics.increment(StatisticNames.COMMITTER_COMMIT_JOB);
    statistics.sample(StatisticNames.COMMITTER_COMMIT_JOB, System.currentTimeMillis() - start);
    SuccessReport success = summary.success(plan);
    if (config.markSuccessfulJobs()) {
      step(StatisticNames.JOB_STAGE_SAVE_SUCCESS_MARKER, () -> report.prepare(plan, success));
    }
    workers.checkInterrupted();
    workers.toItsEnd();
    if (!plan.replaced().isEmpty()) {
      pastReturn = true;
      step(REMOVE_OLD_DATA, () -> new RemoveOldData(store, workers).run(plan));
    }
    if (config.markSuccessfulJobs()) {
      stage = StatisticNames.JOB_STAGE_SAVE_SUCCESS_MARKER;
      report.publish();
    }
    summary.save(success, plan.files());
    LOG.info("Committed {} in {} ms", plan, System.currentTimeMillis() - start);
    return success;
  }

  private void renameFiles() throws IOException {
    RenameFiles rename = new RenameFiles(store, workers, statistics);
    if (config.deleteTargetFiles()) {
      rename.runDeletingTargets(plan, published);
    } else {
      rename.run(plan, published);
    }
    statistics.count(StatisticNames.COMMITTER_FILES_COMMITTED, plan.files().size());
    statistics.count(StatisticNames.COMMITTER_BYTES_COMMITTED, plan.bytes());
    statistics.count(StatisticNames.COMMITTER_TASKS_COMPLETED, plan.tasks());
  }

  private void step(String name, StatisticsRecorder.TimedVoid step) throws IOException {
    workers.checkInterrupted();
    stage = name;
    statistics.timeVoid(name, step);
  }

  /** Takes back what is visible; what cannot be taken back is told with {@code failure}. */
  private void withdraw(Throwable failure) {
    workers.toItsEnd();
    if (plan == null || pastReturn) {
      return;
    }
    List<String> left = new ArrayList<>(report.takeBack());
    try {
      left.addAll(new TakeBack(store, workers).run(plan, published));
    } catch (IOException | RuntimeException e) {
      left.add(plan.table() + " (" + e + ")");
    }
    if (!left.isEmpty()) {
      leftSomethingBehind = true;
      failure.addSuppressed(
          new IOException(
              "The failed job "
                  + job.jobId()
                  + " could not take back what it had published. Delete"
                  + " what is left of it: "
                  + String.join(", ", left)));
    }
  }

  private void saveFailure(Throwable failure) {
    statistics.increment(StatisticNames.COMMITTER_COMMITS_ABORTED);
    summary.save(summary.failure(stage, failure), List.of());
  }
}
