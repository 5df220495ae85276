// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.Retries;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A job commit as it goes forward. Each protocol tells its own story by these steps: plan, {@link
 * #publish}, and {@link #complete} or {@link #report}.
 */
public final class CommitJob {
  private static final Logger LOG = LoggerFactory.getLogger(CommitJob.class);

  private final CommitWork work;
  private final SwapDirectories swaps;
  private final long start = System.currentTimeMillis();

  private JobPlan plan;
  private boolean pastReturn;
  private boolean isResumed;

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
   * Commits. An interrupt, or a cancel, is a failure like any other: it is handled to its end.
   *
   * @param afterFailure what is done about it, before the report of the failure is saved
   */
  public void run(Story story, Consumer<Throwable> afterFailure) throws IOException {
    work.workers.<Void>shield(
        () -> {
          try {
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

  /**
   * Takes the plan, which is closed at the end. Nothing has changed then that a reader sees.
   *
   * @param planning makes it
   */
  public JobPlan plan(StatisticsRecorder.Timed<JobPlan> planning) throws IOException {
    plan = planning.run();
    LOG.info("Committing {}", plan);
    work.workers.checkInterrupted();
    return plan;
  }

  /** The files that this commit writes to the job's own directory. */
  public List<Path> files() {
    return work.config.markSuccessfulJobs() ? work.report.files() : List.of();
  }

  /**
   * Does, before the first change that a reader sees, what needs the plan and nothing else, all of
   * it at once: makes the directories that old data moves to, writes the list of files, and looks
   * for the last job's report. One request for each tree from which old data moves aside, one or
   * two for the list, two for the last report if there may be one, and {@code more}.
   *
   * @param mayHaveReport whether there may be one
   * @param more what is done beside it
   */
  public void prepare(boolean mayHaveReport, Retries.Request more) throws IOException {
    boolean marks = work.config.markSuccessfulJobs();
    List<Retries.Request> all = new ArrayList<>();
    all.add(more);
    if (!plan.swaps().isEmpty()) {
      all.add(() -> swaps.makeAsides(plan));
    }
    if (marks) {
      all.add(this::writeList);
    }
    if (marks && (mayHaveReport || !plan.replaced().isEmpty())) {
      all.add(() -> work.report.findLast(work.workers));
    }
    work.workers.beside(all.toArray(new Retries.Request[0]));
  }

  private void writeList() throws IOException {
    work.report.writeList(plan, work.workers.telling(plan.files()));
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

  /**
   * Tells from the store what an earlier try, which was cut short, had published of the plan, and
   * removes a part of its report.
   */
  public void resume() throws IOException {
    PlaceSurvey places = work.survey(plan);
    places.requireNotOverwritten();
    places.resume(work.swapped);
    isResumed = true;
  }

  /**
   * Makes the new data visible at its place, and moves the old aside where it gives way; the last
   * job's report, too. One request for each directory or file that moves in either direction, and
   * for each directory that is made for files.
   */
  public void publish() throws IOException {
    work.workers.beside(this::publishData, () -> work.report.moveLastAside(work.workers));
  }

  private void publishData() throws IOException {
    if (!plan.swaps().isEmpty()) {
      work.step(StatisticNames.JOB_STAGE_RENAME_DIRECTORIES, () -> swaps.run(plan));
    }
    publishFiles();
    work.statistics.count(StatisticNames.COMMITTER_FILES_COMMITTED, plan.files().count());
    work.statistics.count(StatisticNames.COMMITTER_BYTES_COMMITTED, plan.bytes());
    work.statistics.count(StatisticNames.COMMITTER_TASKS_COMPLETED, plan.tasks());
  }

  /** What does not come with a whole directory. */
  private void publishFiles() throws IOException {
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
   * Brings a commit that has a journal, and has published its data, to its end: past the point of
   * no return, where it replaces something, it removes the old data. One request for each directory
   * that was published whole, and for each that is aside; one for each of the point of no return,
   * the report and the list of files, and one or two to write the report; where old data is still
   * at its place, a listing of each directory and a deletion of each file, and of each directory
   * that is empty then.
   *
   * @param beside what is done while the report becomes visible
   */
  public void complete(CommitJournal journal, Retries.Request beside) throws IOException {
    ReleaseAsides asides = new ReleaseAsides(work.store, work.workers, plan, work.swapped);
    boolean isHeldLater = !plan.replaced().isEmpty();
    SuccessReport success =
        proveAndReport(asides::find, isHeldLater ? () -> {} : journal::requireHeld, isHeldLater);
    if (!plan.replaced().isEmpty()) {
      journal.pointOfNoReturn();
      pastReturn = true;
      work.step(StatisticNames.JOB_STAGE_REMOVE_OLD_DATA, () -> work.removeOldData(plan, asides));
    }
    work.workers.beside(this::publishReport, beside);
    journal.end();
    pastReturn = true;
    committed(success);
  }

  /** Ends a commit that replaces nothing and can be repeated from wherever it is cut short. */
  public void report() throws IOException {
    SuccessReport success = proveAndReport(() -> {}, () -> {}, /* isHeldLater= */ false);
    publishReport();
    committed(success);
  }

  /**
   * Proves that all is published, and brings the report to where one request publishes it.
   *
   * @param look at what else there is to see, beside that
   * @param requireHeld makes sure that nobody took the commit from this driver
   * @param isHeldLater whether that shows later
   */
  private SuccessReport proveAndReport(
      Retries.Request look, Retries.Request requireHeld, boolean isHeldLater) throws IOException {
    // An upload that was completed before may be answered as if it was now.
    boolean validates =
        work.config.validateOutput()
            || (isResumed && work.store.traits(plan.table()).completesUploads());
    if (validates) {
      prove();
      work.step(
          StatisticNames.JOB_STAGE_OPTIONAL_VALIDATE_OUTPUT,
          () -> new ValidateOutput(work.store, work.workers).run(plan));
    }
    work.statistics.increment(StatisticNames.COMMITTER_COMMIT_JOB);
    work.statistics.sample(StatisticNames.COMMITTER_COMMIT_JOB, System.currentTimeMillis() - start);
    SuccessReport success = work.summary.success(plan);
    work.step(
        StatisticNames.JOB_STAGE_SAVE_SUCCESS_MARKER,
        () -> {
          Retries.Request none = () -> {};
          boolean marks = work.config.markSuccessfulJobs();
          boolean hasList = work.report.hasList();
          // Somebody may have taken the commit from this driver, and deleted its staging directory.
          // A report that is made here makes that directory again. The list, which was written
          // before anything was visible, is gone then, and the commit fails.
          boolean showsByList =
              !isHeldLater && !work.store.traits(plan.table()).createsBeforeContent();
          boolean[] isShown = {isHeldLater};
          work.workers.beside(
              validates ? none : this::prove,
              look,
              marks ? () -> isShown[0] |= work.report.write(success) : none,
              marks && !hasList ? this::writeList : none,
              marks && hasList && !showsByList ? work.report::publishList : none);
          if (marks && (!hasList || showsByList)) {
            work.report.publishList();
          } else if (marks && !isShown[0]) {
            requireHeld.run();
          }
        });
    work.workers.forwardToItsEnd();
    return success;
  }

  /** Where a directory was not published as a whole after all, its files are. */
  private void prove() throws IOException {
    if (swaps.prove(plan)) {
      publishFiles();
    }
  }

  private void publishReport() throws IOException {
    if (work.config.markSuccessfulJobs()) {
      work.enter(StatisticNames.JOB_STAGE_SAVE_SUCCESS_MARKER);
      work.report.publish(() -> work.report.writeList(plan, plan.files()));
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
  }
}
