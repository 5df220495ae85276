package io.manifestcommitter.commit;

import io.manifestcommitter.CommitterConfig;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.plan.PlanRejectedException;
import io.manifestcommitter.plan.Swap;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The story of a job commit: load and check everything, make directories, rename, report. One
 * instance commits one job once.
 */
public final class CommitJob {
  private static final Logger LOG = LoggerFactory.getLogger(CommitJob.class);

  /** The steps that Hadoop's committer does not have, named in its manner. */
  private static final String RENAME_DIRECTORIES = "job_stage_rename_directories";

  private static final String REMOVE_OLD_DATA = "job_stage_remove_old_data";

  private final JobDescription job;
  private final Store store;
  private final CommitterConfig config;
  private final Workers workers;
  private final StatisticsRecorder statistics;
  private final Published published = new Published();
  private final Swapped swapped = new Swapped();
  private final PublishReport report;
  private final SaveSummary summary;
  private final ReplacedFiles replaced;

  private String stage;
  private JobPlan plan;
  private boolean isResumed;
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
    this.replaced = new ReplacedFiles(store, job.workDirectory());
  }

  /** Commits the job, or leaves it half done for another try, or for {@link #takeBack}. */
  public void run(PlanSource source) throws IOException {
    run(source, failure -> {});
  }

  /**
   * Commits the job; if that fails, takes back what it made visible, so that the table is as it
   * was. An interrupt is a failure like any other: it is handled to its end.
   */
  public void runOrTakeBack(PlanSource source) throws IOException {
    run(source, failure -> withdraw(source, failure));
  }

  /**
   * Removes what an earlier commit of the job made visible, as far as the store lets it; nothing if
   * none had begun. That commit may have run anywhere: all that is needed is in the store.
   */
  public void takeBack(LoadManifests manifests) throws IOException {
    takeBack(manifests, () -> false);
  }

  /** As {@link #takeBack}, but a commit that came to its end stays. */
  public void takeBackUnlessCommitted(LoadManifests manifests) throws IOException {
    takeBack(manifests, manifests::hasOwnReport);
  }

  private void takeBack(LoadManifests manifests, Callable<Boolean> isCommitted) throws IOException {
    workers.<Void>shield(
        () -> {
          enter(StatisticNames.JOB_STAGE_ABORT);
          workers.toItsEnd();
          Optional<JobPlan> begun = planToTakeBack(manifests);
          if (!begun.isPresent()) {
            return null;
          }
          plan = begun.get();
          try (JobPlan closed = plan) {
            if (isCommitted.call()) {
              LOG.warn("{} is committed: an abort after that does not undo it", closed);
              return null;
            }
            LOG.info("Taking back {}", closed);
            IOException reason = new IOException("Job " + job.jobId() + " was aborted");
            withdrawFromStore(reason);
          }
          manifests.tookBack();
          return null;
        });
  }

  private Optional<JobPlan> planToTakeBack(LoadManifests manifests) throws IOException {
    try {
      return manifests.planToTakeBack();
    } catch (CorruptManifestException | PlanRejectedException e) {
      throw new IOException(
          "What job "
              + job.jobId()
              + " published cannot be taken back, since what it was to publish cannot be read any"
              + " more. Nothing was deleted: look for its files in "
              + job.table()
              + ", then delete "
              + job.workDirectory(),
          e);
    }
  }

  /** Whether an earlier commit, which may have run anywhere, published its report. */
  public boolean hasReported() throws IOException {
    return report.isPublished();
  }

  /**
   * Takes back what an earlier commit, which may have run anywhere, did of a plan. May be repeated
   * from wherever it ended.
   *
   * @throws PlaceChangedException if another job overwrote a place since; it changed nothing then
   * @throws IOException if something could not be taken back; it names that
   */
  public void rollBack(JobPlan begun) throws IOException {
    workers.<Void>shield(
        () -> {
          enter(StatisticNames.JOB_STAGE_ABORT);
          workers.toItsEnd();
          plan = begun;
          new NestedDirectories(store, plan).takeOutAll(workers);
          new OverwrittenSince(store, workers).requireNone(plan);
          withdrawFromStore(new IOException("The commit was not taken back completely"));
          return null;
        });
  }

  /**
   * Finishes a commit of a plan that is past its point of no return: removes what is left of the
   * old data, and makes the report visible. May be repeated from wherever it ended.
   */
  public void rollForward(JobPlan begun) throws IOException {
    workers.<Void>shield(
        () -> {
          enter(REMOVE_OLD_DATA);
          workers.toItsEnd();
          plan = begun;
          findAsides();
          try {
            removeOldData();
            report.publishPrepared();
          } catch (IOException e) {
            advise(e, "is not finished");
            throw e;
          }
          return null;
        });
  }

  private void findAsides() throws IOException {
    Set<Path> there = new FindEntries(store, workers).run(plan.swaps().asides()).keySet();
    List<Swap> swaps = plan.swaps().all();
    for (int number = 0; number < swaps.size(); number++) {
      if (swaps.get(number).aside().filter(there::contains).isPresent()) {
        swapped.aside(number);
      }
    }
  }

  /**
   * Goes on with a commit of a plan that was cut short before its point of no return; what is done
   * is told from the store. If it fails, it may be repeated, or taken back.
   *
   * @param source has the plan
   * @throws PlaceChangedException if another job changed a place since; it changed nothing then
   */
  public void resume(PlanSource source) throws IOException {
    isResumed = true;
    run(source, failure -> {});
  }

  /**
   * Whether a failed commit could not take back all it made visible: what is left in the staging
   * tree is then needed.
   */
  public boolean leftSomethingBehind() {
    return leftSomethingBehind;
  }

  private void run(PlanSource source, Consumer<Throwable> afterFailure) throws IOException {
    workers.<Void>shield(
        () -> {
          try {
            commit(source);
          } catch (IOException | RuntimeException | Error e) {
            afterFailure.accept(e);
            saveFailure(e);
            throw e;
          } finally {
            if (plan != null) {
              plan.close();
            }
          }
          return null;
        });
  }

  private void commit(PlanSource source) throws IOException {
    long start = System.currentTimeMillis();
    enter(StatisticNames.JOB_STAGE_LOAD_MANIFESTS);
    if (source.isCommitted()) {
      LOG.info("Job {} into {} is committed already", job.jobId(), job.table());
      return;
    }
    plan = statistics.time(stage, source::plan);
    LOG.info("Committing {}", plan);
    workers.checkInterrupted();
    SwapDirectories swaps = new SwapDirectories(store, workers, swapped);
    swaps.makeAsides(plan);
    source.begin(plan);

    if (isResumed) {
      new NestedDirectories(store, plan).takeOutAll(workers);
      new OverwrittenSince(store, workers).requireNone(plan);
      new ResumeSwaps(store, workers, swapped).run(plan);
    }
    if (!plan.swaps().isEmpty()) {
      step(RENAME_DIRECTORIES, () -> swaps.run(plan));
    }
    step(
        StatisticNames.JOB_STAGE_CREATE_TARGET_DIRS,
        () -> new MakeDirectories(store, workers, replaced).run(plan, swapped.failed()));
    step(StatisticNames.JOB_STAGE_RENAME_FILES, this::renameFiles);
    if ((published.hasRecovered() || plan.files().count() == 0) && source.isCommittedAfterAll()) {
      LOG.info("{} is committed already; its cleanup was not finished", plan);
      return;
    }
    if (config.validateOutput()) {
      step(
          StatisticNames.JOB_STAGE_OPTIONAL_VALIDATE_OUTPUT,
          () -> new ValidateOutput(store, workers).run(plan));
    }
    statistics.increment(StatisticNames.COMMITTER_COMMIT_JOB);
    statistics.sample(StatisticNames.COMMITTER_COMMIT_JOB, System.currentTimeMillis() - start);
    SuccessReport success = summary.success(plan);
    if (config.markSuccessfulJobs()) {
      step(
          StatisticNames.JOB_STAGE_SAVE_SUCCESS_MARKER,
          () -> {
            report.write(plan, workers.telling(plan.files()), success);
            // Writing makes a staging directory again that somebody deleted.
            source.requireHeld();
            report.prepare(plan);
          });
    }
    workers.checkInterrupted();
    workers.toItsEnd();
    if (!plan.replaced().isEmpty()) {
      source.pointOfNoReturn();
      pastReturn = true;
      step(REMOVE_OLD_DATA, this::removeOldData);
    }
    if (config.markSuccessfulJobs()) {
      enter(StatisticNames.JOB_STAGE_SAVE_SUCCESS_MARKER);
      report.publish();
    }
    source.end();
    pastReturn = true;
    summary.save(success, plan.files().count(), workers.telling(plan.files()));
    LOG.info("Committed {} in {} ms", plan, System.currentTimeMillis() - start);
  }

  private void removeOldData() throws IOException {
    List<OldDirectory> inPlace = new ArrayList<>();
    for (OldDirectory old : plan.replaced()) {
      if (!isAside(old.path())) {
        List<StoreEntry> files = new ArrayList<>(old.files());
        files.removeIf(file -> isAside(file.path()) || plan.takes(file.path()));
        inPlace.add(new OldDirectory(old.path(), files));
      }
    }
    new RemoveOldData(store, workers).run(plan, inPlace);
    new ReleaseAsides(store, workers).run(plan, swapped);
  }

  private boolean isAside(Path old) {
    return swapped.isAside(plan.swaps(), old);
  }

  private void renameFiles() throws IOException {
    RenameFiles rename = new RenameFiles(store, workers, statistics, published, swapped, replaced);
    if (config.deleteTargetFiles()) {
      rename.runReplacing(plan);
    } else {
      rename.run(plan);
    }
    statistics.count(StatisticNames.COMMITTER_FILES_COMMITTED, plan.files().count());
    statistics.count(StatisticNames.COMMITTER_BYTES_COMMITTED, plan.bytes());
    statistics.count(StatisticNames.COMMITTER_TASKS_COMPLETED, plan.tasks());
  }

  private void step(String name, StatisticsRecorder.TimedVoid step) throws IOException {
    workers.checkInterrupted();
    enter(name);
    statistics.timeVoid(name, step);
  }

  private void enter(String name) {
    stage = name;
    workers.step(name);
  }

  private void withdraw(PlanSource source, Throwable failure) {
    workers.toItsEnd();
    if (plan == null || (pastReturn && !source.isRecoverable())) {
      return;
    }
    try {
      if (pastReturn || !source.mayTakeBack()) {
        leftSomethingBehind = true;
        advise(failure, "is not finished and was not taken back");
        return;
      }
    } catch (IOException | RuntimeException e) {
      failure.addSuppressed(e);
      leftSomethingBehind = true;
      advise(failure, "could not be taken back");
      return;
    }
    withdraw(failure, (takeBack, all) -> takeBack.run(all, published, swapped));
  }

  /** Throws {@code reason} if something is left. */
  private void withdrawFromStore(IOException reason) throws IOException {
    withdraw(reason, TakeBack::runFromStore);
    if (leftSomethingBehind) {
      throw reason;
    }
  }

  private void advise(Throwable failure, String what) {
    failure.addSuppressed(
        new IOException(
            "The commit of job "
                + job.jobId()
                + " into "
                + job.table()
                + " "
                + what
                + ". "
                + job.advice()));
  }

  /** Takes back what is visible; what cannot be taken back is told with {@code failure}. */
  private void withdraw(Throwable failure, Way way) {
    List<String> left = new ArrayList<>(report.withdraw());
    try {
      left.addAll(way.run(new TakeBack(store, workers, statistics, replaced), plan));
    } catch (IOException | RuntimeException e) {
      left.add("any file of this job in " + plan.table() + " (" + e + ")");
    }
    left.addAll(report.bringBackLast());
    if (!left.isEmpty()) {
      leftSomethingBehind = true;
      failure.addSuppressed(
          new IOException(
              "The failed job "
                  + job.jobId()
                  + " could not take back what it had published. "
                  + job.advice()
                  + ". What is left: "
                  + String.join(", ", left)));
    }
  }

  private void saveFailure(Throwable failure) {
    statistics.increment(StatisticNames.COMMITTER_COMMITS_ABORTED);
    summary.save(summary.failure(stage, workers.failedItem(), failure), 0, List.of());
  }

  /** One way to take back. */
  private interface Way {
    List<String> run(TakeBack takeBack, JobPlan plan) throws IOException;
  }
}
