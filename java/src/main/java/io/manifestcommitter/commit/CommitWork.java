// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileList;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.JobPlan.Target;
import io.manifestcommitter.progress.CommitProgress.Waiting;
import io.manifestcommitter.progress.CommitSnapshot;
import io.manifestcommitter.store.Store;
import java.io.IOException;
import java.io.OutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.CallableRaisingIOE;
import org.apache.hadoop.util.functional.InvocationRaisingIOE;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One try at the commit of one job: what its stories ({@link CommitJob} forward, {@link
 * RollBackJob} back, {@link CommitJob#completeFromStore} past the point of no return) work with,
 * and what was done so far.
 */
public final class CommitWork {
  private static final Logger LOG = LoggerFactory.getLogger(CommitWork.class);

  /** The reports of the job, however it ends. */
  public final SaveSummary summary;

  final JobDescription job;
  public final Store store;
  public final Workers workers;
  public final StatisticsRecorder statistics;
  final CommitterConfig config;
  final PublishReport report;
  final ReplacedFiles replaced;
  final Published published = new Published();

  private String stage = StatisticNames.JOB_STAGE_PLAN;

  /** A try of {@code job}. */
  public CommitWork(
      JobDescription job,
      Store store,
      CommitterConfig config,
      Workers workers,
      StatisticsRecorder statistics) {
    this.job = job;
    this.store = store;
    this.config = config;
    this.workers = workers;
    this.statistics = statistics;
    this.report = new PublishReport(store, job);
    this.summary = new SaveSummary(store, job, config, statistics, workers.commit);
    this.replaced = new ReplacedFiles(store, job.workDirectory);
  }

  /**
   * Whether an earlier try of an append with a journal, which may have run anywhere, published its
   * report. An append is known to be complete by its report; an overwrite passes its point of no
   * return before. Another job, also one of another committer, may have replaced the report since.
   * So it counts as published once it is gone from where it was prepared.
   */
  public boolean hasReported(JobPlan plan) throws IOException {
    return plan.marksSuccess && !plan.notesPointOfNoReturn() && report.hasLeft();
  }

  /** Whether the table's report is this job's: it is the last thing that a commit makes. */
  public boolean hasOwnReport() throws IOException {
    return report.isPublished();
  }

  /** What a step is called in the log, the report and the store's own log from here on. */
  public void enter(String name) {
    stage = name;
    workers.step(name);
  }

  /** As {@link #time}, of a step without a result. */
  public void step(String name, InvocationRaisingIOE step) throws IOException {
    time(name, resultless(step));
  }

  private static CallableRaisingIOE<Boolean> resultless(InvocationRaisingIOE action) {
    return () -> {
      action.apply();
      return true;
    };
  }

  /**
   * Runs a step under its name, and measures it.
   *
   * @param name as in {@link io.manifestcommitter.manifest.StatisticNames}
   */
  public <T> T time(String name, CallableRaisingIOE<T> step) throws IOException {
    workers.checkInterrupted();
    enter(name);
    return beside(name, step);
  }

  /** As {@link #time}, for a step beside the one that the commit is said to be in. */
  public <T> T beside(String name, CallableRaisingIOE<T> step) throws IOException {
    return statistics.time(name, step, workers.commit.begins(name));
  }

  /** Shows until {@link #goesOn} that the commit waits for another job, and measures the wait. */
  public void waits(Waiting forWhat, InvocationRaisingIOE pause) throws IOException {
    workers.commit.waits(forWhat);
    statistics.time(StatisticNames.JOB_WAIT, resultless(pause));
  }

  public void goesOn() {
    workers.commit.goesOn();
  }

  /**
   * Tells, with the failure of a commit that was not rolled back, what a user does about it.
   *
   * @param what became of it, as the end of a sentence
   */
  public void advise(Throwable failure, String what) {
    failure.addSuppressed(
        new IOException(
            "The commit of job "
                + job.jobId
                + " into "
                + job.table
                + " "
                + what
                + ". "
                + job.advice));
  }

  /**
   * Waits until what the commit of a plan asked of the store is not under way any more: what is
   * seen at its places then stays.
   *
   * @param ofAnybody as {@link Store#awaitRenames}
   */
  public void awaitRenames(JobPlan plan, boolean ofAnybody) throws IOException {
    for (Target target : plan.targets) {
      store.awaitRenames(target.directory, ofAnybody);
    }
  }

  /** The report of a job whose files are published, or as good as that; measures the commit. */
  public SuccessReport success(JobPlan plan) {
    statistics.increment(StatisticNames.COMMITTER_COMMIT_JOB);
    statistics.sample(StatisticNames.COMMITTER_COMMIT_JOB, workers.commit.millis());
    return summary.success(plan);
  }

  public void count(JobPlan plan) {
    statistics.count(StatisticNames.COMMITTER_FILES_COMMITTED, plan.files.size());
    statistics.count(StatisticNames.COMMITTER_BYTES_COMMITTED, plan.files.bytes());
    statistics.count(StatisticNames.COMMITTER_TASKS_COMPLETED, plan.tasks);
  }

  public void list(JobPlan plan, OutputStream out) throws IOException {
    Iterable<FileEntry> files = workers.telling(plan.files);
    FileList.write(out, plan.jobId, plan.table, plan.files.size(), files);
  }

  /** Saves the report of a job that committed to the directory for reports, if there is one. */
  public void save(SuccessReport success, JobPlan plan) {
    summary.save(success, out -> list(plan, out));
  }

  /** Makes a file that is written later. If that fails, it is made when it is written. */
  public void createAhead(Path file) {
    try {
      store.create(file);
    } catch (IOException e) {
      LOG.debug("{} is made later", file, e);
    }
  }

  /**
   * Whether this try may have found all of a plan published by an earlier one: a rename turned out
   * to be done, or there was none to do.
   */
  public boolean mayBeRepetition(JobPlan plan) {
    return published.hasRecovered || plan.files.size() == 0;
  }

  /** Ends a try that published nothing, since the table has the same from another job. */
  public void skipped(String other) {
    workers.toItsEnd();
    workers.commit.end(CommitSnapshot.State.SKIPPED);
    summary.saveUnpublished("skipped", StatisticNames.JOB_STAGE_LOCK_PLACES, "committed.by", other);
  }

  /**
   * Ends a try that leaves all that it would publish where it is staged, or one that finds such a
   * job of its identity.
   *
   * @param by the job that is held
   */
  public void held(String by) {
    workers.toItsEnd();
    workers.commit.end(CommitSnapshot.State.HELD);
    summary.saveUnpublished("held", StatisticNames.JOB_STAGE_WRITE_JOURNAL, "held.by", by);
  }

  /**
   * Ends a try that failed, once what it did is rolled back: an interrupt, or a cancel, is a
   * failure like any other. Its report is saved, in the directory for reports if there is one.
   */
  public void failed(Throwable failure) {
    workers.toItsEnd();
    statistics.increment(StatisticNames.COMMITTER_COMMITS_ABORTED);
    summary.saveFailed(stage, workers.failedItem(), failure);
  }
}
