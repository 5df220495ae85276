// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.ReplacingJobs;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.journal.CommitLedger;
import io.manifestcommitter.journal.Heartbeat;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.spark.TableRoot.JobStaging;
import io.manifestcommitter.spark.TableRoot.TableFile;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.watch.SparkWatch;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes what a job has in the store besides its output, after its commit or without one. What
 * fails here is logged. After a commit the table is right and the report is there, so a failure
 * would make a scheduler write the table twice. After an abort Spark would lose the cause.
 */
final class CleanUpSparkJob {
  private static final Logger LOG = LoggerFactory.getLogger(CleanUpSparkJob.class);

  private final WriteRequest write;
  private final JobStaging staging;
  private final StagingRoot root;
  private final TableFile file;
  private final Store store;
  private final Workers workers;

  CleanUpSparkJob(WriteRequest write, JobStaging staging, TableFile file, Workers workers) {
    this.write = write;
    this.staging = staging;
    this.root = staging.root;
    this.file = file;
    this.store = write.store;
    this.workers = workers;
  }

  /** After a commit that succeeded. */
  void afterCommit(CommitSparkJob commit) {
    try {
      workers.step(StatisticNames.JOB_STAGE_CLEANUP);
      workers.toItsEnd();
      workers.shield(() -> removeAll(Optional.of(commit)));
    } catch (IOException | RuntimeException | Error e) {
      LOG.warn(
          "Job {} is committed, but its staging directory {} could not be removed. Nobody needs it,"
              + " and no job waits for it: 'manifest-committer clean' removes it",
          root.jobId(),
          root.root(),
          e);
      stopHeartbeat();
      commit.journal().ifPresent(this::tryToEnd);
      giveUp(Optional.of(commit));
    } finally {
      stopHeartbeat();
    }
  }

  /**
   * After a job that failed, or was skipped, and left nothing visible: also a table directory that
   * only it made.
   *
   * @param commit if the job came so far
   * @param commitTried whether a commit saved the report of the failure
   * @param committed the messages of attempts that have committed
   */
  void afterAbort(Optional<CommitSparkJob> commit, boolean commitTried, List<?> committed) {
    // Spark knows the thread that ran the job.
    Optional<String> failure =
        commitTried || !write.config.summaryReportDirectory.isPresent()
            ? Optional.empty()
            : SparkWatch.failure(write.begun);
    try {
      workers.toItsEnd();
      workers.shield(
          () -> {
            if (!commitTried) {
              write.saveAborted(
                  write.description(root, staging.isNewTable(), Map.of()),
                  failure
                      .map(line -> "A job of Spark failed meanwhile: " + line)
                      .orElse("A task failed, or it was cancelled: the driver's log says why"));
            }
            abortUploads(committed);
            removeAll(commit);
          });
    } catch (IOException | RuntimeException | Error e) {
      LOG.warn(
          "Job {} is aborted, but {} could not be removed: delete it",
          root.jobId(),
          root.root(),
          e);
      giveUp(commit);
    }
  }

  /**
   * Aborts the uploads of attempts that committed. One request for each. An upload that remains is
   * invisible, and costs what its bytes cost until a lifecycle rule of the bucket or a cleaner
   * removes it.
   */
  private void abortUploads(List<?> messages) throws IOException {
    List<FileEntry> uploads = new ArrayList<>();
    for (Object message : messages) {
      try {
        new CommittedFiles(root.jobId(), List.of(message), UnaryOperator.identity())
            .forEachUpload(root.directory(), (number, upload) -> uploads.add(upload));
      } catch (IOException | RuntimeException e) {
        LOG.warn("What an attempt of job {} uploaded is not known", root.jobId(), e);
      }
    }
    workers.forEach(uploads, upload -> Retries.few(() -> store.abortUpload(upload)));
  }

  /** Where what is left is of a commit that could not be rolled back, for a log. */
  String whatIsKept() {
    try {
      return store.status(root.attempt()).isPresent()
          ? ": " + root.root() + " is kept. " + Recovery.advice(root)
          : " by its driver, and "
              + root.root()
              + " is gone: a recovery has ended the commit. Look whether the table's _SUCCESS names"
              + " this job before it is run again";
    } catch (IOException | RuntimeException e) {
      return ", and " + root.root() + " cannot be looked at: " + e;
    }
  }

  /**
   * Removes the heartbeat of a job that goes no further, so that a recovery need not watch it. If
   * another process took the journal, the heartbeat is that process's, until it ends.
   */
  void giveUp(Optional<CommitSparkJob> commit) {
    workers.toItsEnd();
    try {
      workers.shield(
          () -> {
            Optional<CommitJournal> journal = commit.flatMap(CommitSparkJob::journal);
            if (!journal.isPresent() || journal.get().isHeld()) {
              Heartbeat.remove(store, root.root());
            } else if (!store.status(root.attempt()).isPresent()) {
              Heartbeat.remove(store, root.root());
              store.deleteEmptyDirectory(root.root());
            }
          });
    } catch (IOException | RuntimeException | Error e) {
      LOG.warn(
          "The heartbeat in {} could not be removed: for a while job {} seems to live",
          root.root(),
          root.jobId(),
          e);
    }
  }

  /** Before anything is removed: a beat would make the staging directory again. */
  private void stopHeartbeat() {
    if (staging.heartbeat != null) {
      staging.heartbeat.close();
    }
  }

  /**
   * Removes this job's staging directories, here and at the custom locations that attempts wrote
   * to. One request for each, where a directory is deleted by one. One more for the marks of
   * locations, if the commit did not look for them, and one for the end of the journal, if its name
   * has to say that.
   */
  private void removeAll(Optional<CommitSparkJob> commit) throws IOException {
    Optional<CommitJournal> journal = commit.flatMap(CommitSparkJob::journal);
    boolean isCommitted = commit.isPresent() && commit.get().ending() == Ending.COMMITTED;
    List<StagingRoot> atLocations = new ArrayList<>();
    for (Path location : locations(commit)) {
      atLocations.add(new StagingRoot(location, root.jobId()));
    }
    // Recovery takes locations without these directories for somebody else's.
    if (journal.isPresent()
        && (isCommitted ? journal.get().isStillToEnd() : !atLocations.isEmpty())) {
      Retries.few(journal.get()::ended);
    }
    boolean isKept = journal.filter(it -> it.state() == CommitJournal.State.KEPT).isPresent();
    if (isCommitted && (isKept || write.config.cleanupSkipped)) {
      Retries.few(new ReplacingJobs(store, write.config, write.signs, root)::leave);
      if (staging.replacesFile) {
        Retries.few(file::delete);
      }
    } else {
      remove(isCommitted, atLocations);
    }
    if (isCommitted && write.config.commitId.isPresent()) {
      new CommitLedger(store, write.table)
          .prune(write.config.commitIdCount, write.config.commitIdAge);
    }
  }

  /** The custom locations where the job has staging directories. */
  private Collection<Path> locations(Optional<CommitSparkJob> commit) throws IOException {
    List<Path> known = commit.map(CommitSparkJob::locations).orElse(List.of());
    LocationMarks marks = commit.map(CommitSparkJob::marks).orElse(new LocationMarks(store, root));
    return marks.seen().isPresent()
        ? marks.seen().get()
        : Retries.fewFor(() -> marks.find(known, workers));
  }

  /** Where the staging directory stays, its journal has to say that nothing is left to do. */
  private void tryToEnd(CommitJournal journal) {
    try {
      workers.shield(() -> Retries.few(journal::ended));
    } catch (IOException | RuntimeException | Error e) {
      LOG.warn(
          "The journal in {} does not say that job {} has ended: the next job there completes it",
          root.root(),
          root.jobId(),
          e);
    }
  }

  /** Removes what is left of a job whose setup failed. */
  void remove() throws IOException {
    workers.toItsEnd();
    workers.shield(() -> remove(/* isCommitted= */ false, List.of()));
  }

  /** The table's comes last, since it holds the marks by which the others are found. */
  private void remove(boolean isCommitted, List<StagingRoot> atLocations) throws IOException {
    workers.forEach(atLocations, location -> Retries.few(() -> store.deleteTree(location.root())));
    stopHeartbeat();
    Retries.few(() -> store.deleteTree(root.root()));
    if (staging.replacesFile) {
      Retries.few(isCommitted ? file::delete : file::putBack);
    } else if (staging.madeTable && !isCommitted) {
      Retries.few(() -> store.deleteEmptyDirectory(write.table));
    }
  }
}
