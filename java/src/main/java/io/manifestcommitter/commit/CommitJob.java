// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.commit.Workers.Result;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.Swaps.Swap;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.InvocationRaisingIOE;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A job commit from its plan on, as it goes forward: {@link #prepare}, where there is a journal,
 * {@link #publish} and {@link #complete}.
 */
public final class CommitJob {
  private static final Logger LOG = LoggerFactory.getLogger(CommitJob.class);

  private final CommitWork work;
  private final JobPlan plan;
  private final SwapDirectories swaps;
  private final PublishFiles files;
  private boolean isResumed;

  /** The commit of a job, of which nothing has changed that a reader sees. */
  public CommitJob(CommitWork work, JobPlan plan) {
    this.work = work;
    this.plan = plan;
    this.swaps = new SwapDirectories(work, plan);
    this.files = new PublishFiles(work, plan);
    LOG.info("Committing {}", plan);
  }

  /** The files that a commit writes to the job's own directory. */
  public static List<Path> files(CommitWork work) {
    return work.config.markSuccessfulJobs ? work.report.files() : List.of();
  }

  /**
   * Tells from the store what an earlier try, which was cut short, had published of the plan, and
   * removes a part of its report.
   */
  public void resume() throws IOException {
    PlaceSurvey places = PlaceSurvey.of(work, plan);
    places.requireNotOverwritten();
    places.resume(work.published);
    isResumed = true;
  }

  /**
   * Does, before the first change that a reader sees, what needs the plan and nothing else. It
   * makes the directories that old data moves to, writes the list of files, and looks for the last
   * job's report, all at once. One request for each tree from which old data moves aside, one or
   * two for the list, two for the last report if there may be one, and {@code more}.
   *
   * @param mayHaveReport whether there may be one
   * @param more what is done beside it
   */
  public void prepare(boolean mayHaveReport, InvocationRaisingIOE more) throws IOException {
    boolean marks = work.config.markSuccessfulJobs;
    boolean looks = marks && (mayHaveReport || !plan.replaced.isEmpty());
    work.workers.beside(
        more,
        swaps::makeAsides,
        marks ? this::writeList : () -> {},
        looks ? () -> work.report.findLast(work.workers) : () -> {});
  }

  /**
   * Makes the new data visible at its place, and moves the old aside where it gives way; the last
   * job's report, too. One request for each directory or file that moves in either direction, and
   * for each directory that is made for files.
   */
  public void publish() throws IOException {
    work.workers.beside(this::publishData, () -> work.report.moveLastAside(work.workers));
  }

  /**
   * Completes a commit that has published its data. Where it replaces something, it passes the
   * point of no return, and then removes the old data.
   *
   * <p>A job with an identity passes that point, too, and then notes the identity.
   *
   * <p>One request for each directory that was published whole, and for each that is aside. One for
   * each of the point of no return, the report and the list of files; one or two to write the
   * report. Where old data is still at its place, a listing of each directory and a deletion of
   * each file, and of each directory that is empty then.
   *
   * @param journal empty for a commit that replaces nothing, and can be repeated from wherever it
   *     is cut short
   * @param beside what is done while the report becomes visible
   */
  public void complete(Optional<CommitJournal> journal, InvocationRaisingIOE beside)
      throws IOException {
    ReleaseAsides asides = new ReleaseAsides(work, plan);
    boolean isProven = validate();
    SuccessReport success = work.success(plan);
    work.step(
        StatisticNames.JOB_STAGE_SAVE_SUCCESS_MARKER,
        () ->
            work.workers.beside(
                isProven ? () -> {} : this::prove,
                asides::find,
                () -> prepareReport(success, journal)));
    work.workers.forwardToItsEnd();
    if (plan.notesPointOfNoReturn()) {
      journal.get().pointOfNoReturn();
      work.step(
          StatisticNames.JOB_STAGE_REMOVE_OLD_DATA,
          () -> new RemoveOldData(work, plan).runAndNote(asides));
    }
    work.workers.beside(this::publishReport, beside);
    if (journal.isPresent()) {
      journal.get().end();
    }
    work.save(success, plan);
    LOG.info("Committed {} in {} ms", plan, work.workers.commit.millis());
  }

  private void writeList() throws IOException {
    work.report.writeList(plan, work.workers.telling(plan.files));
  }

  private void publishData() throws IOException {
    if (!plan.swaps.all.isEmpty()) {
      work.step(StatisticNames.JOB_STAGE_RENAME_DIRECTORIES, swaps::run);
    }
    publishFiles();
    work.count(plan);
  }

  /** What does not come with a whole directory. */
  private void publishFiles() throws IOException {
    work.step(StatisticNames.JOB_STAGE_CREATE_TARGET_DIRS, files::makeDirectories);
    work.step(StatisticNames.JOB_STAGE_RENAME_FILES, files::rename);
  }

  /** Where a directory was not published as a whole after all, its files are. */
  private void prove() throws IOException {
    if (swaps.prove()) {
      publishFiles();
    }
  }

  /**
   * Looks at each published file, if the settings ask for that, or if an earlier try published
   * some. The store may answer the completion of an upload as if it happened now, although the
   * earlier try did it.
   *
   * @return whether that was done
   */
  private boolean validate() throws IOException {
    boolean validates =
        work.config.validateOutput
            || (isResumed && work.store.traits(plan.table).completesUploads());
    if (validates) {
      prove();
      work.step(StatisticNames.JOB_STAGE_OPTIONAL_VALIDATE_OUTPUT, files::validate);
    }
    return validates;
  }

  /**
   * Brings the report to where one request publishes it, and the list of files to its place.
   *
   * <p>Another process may have taken the commit from this driver, and deleted its staging
   * directory. Writing the report makes that directory again. An overwrite, or a job with an
   * identity, notices the loss at its point of no return. Another append notices it by a file of
   * its own that is gone. Where files are made before their content, that is its report. Elsewhere
   * it is its list of files, which is published after the report was written.
   *
   * @throws io.manifestcommitter.journal.LostJournalException if so; or another failure
   */
  private void prepareReport(SuccessReport success, Optional<CommitJournal> journal)
      throws IOException {
    if (!work.config.markSuccessfulJobs) {
      return;
    }
    Result<Boolean> isFilled = new Result<>(() -> work.report.write(success));
    if (!journal.isPresent()) {
      work.workers.beside(isFilled, this::writeList);
      work.report.publishList();
    } else if (plan.notesPointOfNoReturn()
        || work.store.traits(plan.table).createsBeforeContent()) {
      work.workers.beside(isFilled, work.report::publishList);
      if (!plan.notesPointOfNoReturn() && !isFilled.get()) {
        journal.get().requireHeld();
      }
    } else {
      isFilled.apply();
      work.report.publishList();
    }
  }

  private void publishReport() throws IOException {
    if (work.config.markSuccessfulJobs) {
      work.enter(StatisticNames.JOB_STAGE_SAVE_SUCCESS_MARKER);
      work.report.publish(plan);
    }
  }

  /**
   * Completes a commit that is past its point of no return, as the store shows it: removes what is
   * left of the old data, and makes the report visible. May be repeated from wherever it ended,
   * anywhere.
   */
  public static void completeFromStore(CommitWork work, JobPlan plan) throws IOException {
    work.workers.shield(
        () -> {
          work.enter(StatisticNames.JOB_STAGE_REMOVE_OLD_DATA);
          work.workers.toItsEnd();
          Set<Path> there =
              new FindEntries(work.store, work.workers).run(plan.swaps.asides()).keySet();
          for (Swap swap : plan.swaps.all) {
            if (swap.aside.filter(there::contains).isPresent()) {
              work.published.aside.add(swap);
            }
          }
          try {
            ReleaseAsides moved = new ReleaseAsides(work, plan);
            moved.find();
            new RemoveOldData(work, plan).runAndNote(moved);
            work.report.publishPrepared(plan);
          } catch (IOException e) {
            work.advise(e, "is not complete");
            throw e;
          }
        });
  }
}
