// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import io.manifestcommitter.commit.Audit;
import io.manifestcommitter.commit.CommitJob;
import io.manifestcommitter.commit.CommitWork;
import io.manifestcommitter.commit.JobDescription;
import io.manifestcommitter.commit.RollBackJob;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.FileEntries;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileList;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.manifest.TaskManifest;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.progress.CommitSnapshot;
import io.manifestcommitter.progress.Commits;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.Store.FileTooLongException;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.ByteArrayInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The job's side of the Hadoop protocol: set up, commit, abort, clean up. What it knows of earlier
 * tries it reads from the store, so each of these may run in a committer of its own, on a machine
 * of its own.
 */
public final class HadoopJob {
  private static final Logger LOG = LoggerFactory.getLogger(HadoopJob.class);

  /** The list of some twenty million files. */
  private static final int LIST_LIMIT = 512 << 20;

  /** What the list may take of the heap while it is read. */
  private static final int HEAP_SHARE = 4;

  /** Bytes of the files to delete that stay in memory. */
  private static final int IN_MEMORY = 4 << 20;

  private final Store store;
  private final RequestGate gate;
  private final CommitterConfig config;
  private final JobPaths paths;
  private final String jobIdSource;
  private final String committer;
  private final Runnable progress;

  /**
   * A job.
   *
   * @param jobIdSource where its id comes from
   * @param committer the class that Hadoop called
   * @param progress called while work goes on
   */
  public HadoopJob(
      Store store,
      RequestGate gate,
      CommitterConfig config,
      JobPaths paths,
      String jobIdSource,
      String committer,
      Runnable progress) {
    this.store = store;
    this.gate = gate;
    this.config = config;
    this.paths = paths;
    this.jobIdSource = jobIdSource;
    this.committer = committer;
    this.progress = progress;
  }

  /**
   * Makes the job's directories. An earlier attempt of the job that died in its commit is rolled
   * back first: this one writes everything again.
   *
   * @throws DuplicateJobException if a job of the same id is under way, or was not cleaned up
   */
  public void setUp() throws IOException {
    if (paths.jobAttempt > 1) {
      rollBackEarlierAttempts();
      rollBackCommittedAttempt();
    }
    Audit.job(paths.jobId)
        .during(
            StatisticNames.JOB_STAGE_SETUP,
            () -> {
              store.mkdirs(paths.taskAttemptsDirectory());
              store.mkdirs(paths.manifestDirectory());
              store.list(
                  paths.manifestDirectory(),
                  found -> {
                    throw new DuplicateJobException(paths, found.name());
                  });
              if (config.markSuccessfulJobs) {
                removeReport(JobPaths.SUCCESS_MARKER);
                removeReport(JobPaths.FILE_LIST);
              }
            });
  }

  private void removeReport(String name) throws IOException {
    Path report = new Path(paths.destination, name);
    try {
      store.deleteFile(report);
    } catch (IOException e) {
      if (store.status(report).filter(StoreEntry::isDirectory).isPresent()) {
        throw new IOException(
            report + " is a directory, where the job's report goes: move it away", e);
      }
      throw e;
    }
  }

  /** Commits the job, unless an earlier try did. A failure leaves the job for another try. */
  public void commit() throws IOException {
    StatisticsRecorder statistics = new StatisticsRecorder();
    CommitProgress watched =
        Commits.begin(
            CommitSnapshot.Kind.COMMIT,
            StatisticNames.JOB_STAGE_LOAD_MANIFESTS,
            paths.jobId,
            paths.destination.toString(),
            statistics);
    gate.recordTo(statistics);
    CommitWork work = work(paths, watched, statistics);
    watched.run(
        () ->
            work.workers.shield(
                () -> {
                  try {
                    commit(work, new LoadManifests(work, paths));
                  } catch (IOException | RuntimeException | Error e) {
                    work.failed(e);
                    throw e;
                  }
                }));
  }

  private void commit(CommitWork work, LoadManifests manifests) throws IOException {
    work.enter(StatisticNames.JOB_STAGE_LOAD_MANIFESTS);
    if (manifests.isCommitted()) {
      LOG.info("Job {} into {} is committed already", paths.jobId, paths.destination);
      return;
    }
    try (JobPlan plan = work.time(StatisticNames.JOB_STAGE_LOAD_MANIFESTS, manifests::plan)) {
      CommitJob commit = new CommitJob(work, plan);
      manifests.mark(plan);
      commit.publish();
      if (work.mayBeRepetition(plan) && work.hasOwnReport()) {
        LOG.info("{} is committed already; its cleanup was not finished", plan);
        return;
      }
      commit.complete(Optional.empty(), () -> {});
    }
  }

  /**
   * Rolls back what a commit that failed made visible; one that came to its end stays. MapReduce
   * aborts before it sets up the next attempt, so those before it are rolled back here, too: the
   * cleanup that follows would delete all that tells of them.
   */
  public void rollBack() throws IOException {
    rollBackEarlierAttempts();
    rollBack(paths, /* keepsCommitted= */ true);
  }

  /** Rolls back what was published by its manifests; nothing if no commit had begun. */
  private void rollBack(JobPaths attempt, boolean keepsCommitted) throws IOException {
    CommitWork work = work(attempt);
    LoadManifests manifests = new LoadManifests(work, attempt);
    work.workers.shield(
        () -> {
          work.enter(StatisticNames.JOB_STAGE_ABORT);
          work.workers.toItsEnd();
          Optional<JobPlan> begun = manifests.planToRollBack();
          if (!begun.isPresent()) {
            return;
          }
          try (JobPlan plan = begun.get()) {
            if (keepsCommitted && work.hasOwnReport()) {
              LOG.warn("{} is committed: an abort after that does not undo it", plan);
              return;
            }
            LOG.info("Rolling back {}", plan);
            new RollBackJob(work, plan).fromStore("Job " + paths.jobId + " was aborted");
          }
          manifests.rolledBack();
        });
  }

  /** Saves the report of a job that is aborted and was never asked to commit. */
  public void saveAborted() {
    work(paths).summary.saveAborted("The log of its driver or application master says why");
  }

  /** Removes what the job has in the store besides its output. */
  public void cleanUp() throws IOException {
    Workers workers = workers(CommitProgress.unwatched());
    workers.shield(
        () -> {
          workers.toItsEnd();
          saveManifests(workers);
          if (!config.cleanupSkipped) {
            workers.step(StatisticNames.JOB_STAGE_CLEANUP);
            deleteDirectories(workers);
          }
        });
  }

  /**
   * Keeps the manifests for somebody to look at, where a directory for them is set ("Manifest
   * Committer Protocol", "Job Commit"). What goes wrong is logged: the job's outcome does not hang
   * on it. They are copied and not renamed, so that the directory may be on any filesystem.
   */
  private void saveManifests(Workers workers) {
    if (!config.diagnosticsManifestDirectory.isPresent()) {
      return;
    }
    Path directory = new Path(config.diagnosticsManifestDirectory.get(), paths.jobId);
    try {
      List<StoreEntry> manifests = new ArrayList<>();
      store.list(paths.manifestDirectory(), manifests::add);
      store.mkdirs(directory);
      workers.forEach(
          manifests,
          manifest -> {
            byte[] json = store.read(manifest.path(), TaskManifest.MAX_BYTES);
            store.write(new Path(directory, manifest.name()), out -> out.write(json));
          });
    } catch (FileNotFoundException e) {
      LOG.debug("Job {} has no manifests", paths.jobId, e);
    } catch (IOException | RuntimeException e) {
      LOG.warn("The manifests of job {} could not be saved in {}", paths.jobId, directory, e);
    }
  }

  /**
   * Deletes the job's directory; a failure counts unless it is to be ignored. {@code _temporary}
   * itself goes only if no other job is in it.
   */
  private void deleteDirectories(Workers workers) throws IOException {
    try {
      Retries.few(() -> deleteJobDirectory(workers));
      Retries.few(() -> store.deleteEmptyDirectory(paths.temporaryDirectory()));
    } catch (IOException e) {
      if (!config.cleanupFailuresIgnored) {
        throw e;
      }
      LOG.warn("The cleanup of job {} failed: delete {}", paths.jobId, paths.jobDirectory, e);
    }
  }

  /**
   * Where deleting a tree costs a request a file, the task attempts go first, in parallel ("The
   * Manifest Committer for Azure and Google Cloud Storage", "Cleanup").
   */
  private void deleteJobDirectory(Workers workers) throws IOException {
    if (config.parallelDelete && config.parallelDeleteBaseFirst) {
      try {
        store.deleteTree(paths.jobDirectory);
        return;
      } catch (IOException e) {
        LOG.info("{} has to be deleted in parts", paths.jobDirectory, e);
      }
    }
    if (config.parallelDelete) {
      try {
        List<StoreEntry> attempts = new ArrayList<>();
        store.list(paths.taskAttemptsDirectory(), attempts::add);
        workers.forEach(attempts, attempt -> store.deleteTree(attempt.path()));
      } catch (FileNotFoundException e) {
        // No task ran.
      } catch (IOException e) {
        // What failed here, the deletion of the job's directory tries again.
        LOG.debug("Parallel deletion below {} failed", paths.taskAttemptsDirectory(), e);
      }
    }
    store.deleteTree(paths.jobDirectory);
  }

  /** MapReduce numbers the attempts of a job from 1; each has directories of its own. */
  private void rollBackEarlierAttempts() throws IOException {
    if (paths.jobAttempt <= 1) {
      return;
    }
    List<JobPaths> earlier = new ArrayList<>();
    store.listIfThere(
        paths.jobDirectory,
        entry ->
            JobPaths.attemptOf(entry.name())
                .filter(number -> number < paths.jobAttempt)
                .ifPresent(
                    number -> earlier.add(new JobPaths(paths.destination, paths.jobId, number))));
    for (JobPaths attempt : earlier) {
      LOG.info("Rolling back what attempt {} of job {} did", attempt.jobAttempt, paths.jobId);
      rollBack(attempt, /* keepsCommitted= */ false);
      store.deleteTree(attempt.jobAttemptDirectory);
    }
  }

  /**
   * An earlier attempt may have come to its end and cleaned up, unheard by MapReduce. What it
   * published is known from the complete list beside its report. Every file that is still the one
   * that was published is deleted.
   *
   * @throws IOException also if the list is not the job's, cannot be read, or names what is not in
   *     its output: then nothing was deleted
   */
  private void rollBackCommittedAttempt() throws IOException {
    CommitWork work = work(paths);
    work.workers.shield(
        () -> {
          work.enter(StatisticNames.JOB_STAGE_ABORT);
          if (!work.hasOwnReport()) {
            return;
          }
          LOG.info("Rolling back what an earlier attempt of job {} committed", paths.jobId);
          try (FileEntries files = publishedBefore()) {
            work.workers.forEach(files, file -> Retries.few(() -> deleteIfSame(file)));
          }
        });
  }

  private void deleteIfSame(FileEntry published) throws IOException {
    Optional<StoreEntry> visible = store.status(published.destination());
    if (visible.isPresent() && visible.get().isSameFileAs(published)) {
      store.deleteFile(published.destination());
    }
  }

  /** Reads the list to its end, so that a damaged one deletes nothing. */
  private FileEntries publishedBefore() throws IOException {
    Path list = new Path(paths.destination, JobPaths.FILE_LIST);
    int limit = (int) Math.min(LIST_LIMIT, Runtime.getRuntime().maxMemory() / HEAP_SHARE);
    try (FileList files =
            FileList.read(new ByteArrayInputStream(store.read(list, limit)), list.toString());
        FileEntries.Builder found = FileEntries.builder(IN_MEMORY)) {
      if (!files.jobId.equals(paths.jobId)) {
        throw new IOException(whatToDo() + ": " + list + " is of job " + files.jobId);
      }
      for (Optional<FileList.Entry> next = files.next(); next.isPresent(); next = files.next()) {
        FileList.Entry file = next.get();
        requireOutput(list, file.location);
        found.add(new FileEntry(file.location, file.location, file.size, file.etag, 0));
      }
      return found.build();
    } catch (FileNotFoundException e) {
      throw new IOException(whatToDo(), e);
    } catch (FileTooLongException e) {
      throw new IOException(whatToDo() + ": " + e.getMessage(), e);
    }
  }

  /** A job of this protocol publishes below its destination, and to no staging directory there. */
  private void requireOutput(Path list, Path published) throws IOException {
    if (!StorePaths.isBelow(paths.destination, published)
        || StagingRoot.leadsIntoStaging(StorePaths.relative(paths.destination, published))) {
      throw new IOException(
          whatToDo() + ": " + list + " names " + published + ", which is not of its output");
    }
  }

  private String whatToDo() {
    return "An earlier attempt of job "
        + paths.jobId
        + " committed its output, and it is not known which files those are: delete its output"
        + " from "
        + paths.destination
        + " and run the job again";
  }

  private CommitWork work(JobPaths attempt) {
    return work(attempt, CommitProgress.unwatched(), new StatisticsRecorder());
  }

  private CommitWork work(JobPaths attempt, CommitProgress commit, StatisticsRecorder statistics) {
    JobDescription job =
        new JobDescription(
            attempt.jobId,
            jobIdSource,
            committer,
            attempt.destination,
            attempt.jobAttemptDirectory,
            "Look at what is left. Delete the files that are of this job, and empty directories."
                + " Move the files in "
                + JobDescription.replacedFiles(attempt.jobAttemptDirectory)
                + " to their places, if there are any",
            Map.of());
    return new CommitWork(job, store, config, workers(commit), statistics);
  }

  private Workers workers(CommitProgress commit) {
    return new Workers(config.ioThreads, progress, Audit.job(paths.jobId), commit);
  }

  /**
   * There are manifests of another job under this job's id. What is there is not this job's to use,
   * nor to remove.
   */
  public static final class DuplicateJobException extends IOException {
    private static final long serialVersionUID = 1L;

    private DuplicateJobException(JobPaths paths, String manifest) {
      super(
          "There is a "
              + manifest
              + " in "
              + paths.manifestDirectory()
              + " before job "
              + paths.jobId
              + " has begun: another job has the same id, or an earlier one was not cleaned up."
              + " If no such job runs, delete "
              + paths.jobDirectory);
    }
  }
}
