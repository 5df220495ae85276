// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.Audit;
import io.manifestcommitter.commit.CommitWork;
import io.manifestcommitter.commit.JobDescription;
import io.manifestcommitter.commit.SaveSummary;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.LifeSigns;
import io.manifestcommitter.jobs.Pause;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.ReplacingJobs;
import io.manifestcommitter.jobs.SettledJobs;
import io.manifestcommitter.jobs.StagingRoots;
import io.manifestcommitter.jobs.TableFile;
import io.manifestcommitter.jobs.UnfinishedJobs;
import io.manifestcommitter.journal.Heartbeat;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.progress.CommitSnapshot;
import io.manifestcommitter.progress.Commits;
import io.manifestcommitter.spark.CommitSparkJob.Ending;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver's side of one write: sets the staging directory up, commits or aborts. The Spark
 * protocol's class is the adapter in front of it.
 */
final class SparkJob {
  private static final Logger LOG = LoggerFactory.getLogger(SparkJob.class);

  /** The class that Spark called. */
  static final String PROTOCOL = "io.manifestcommitter.spark.ManifestCommitProtocol";

  /** How many other jobs are watched while the tasks run; the rest when the job commits. */
  private static final int MOST_WATCHED = 100;

  private final String jobId;
  private final Path table;
  private final TableFile file;
  private final Overwrite overwrite;
  private final Store store;
  private final RequestGate gate;
  private final CommitterConfig config;
  private final Pause pause;
  private final LongSupplier nanos;
  private final LifeSigns signs;

  /** In the table; while a file stands in its place, beside that. */
  private StagingRoot staging;

  private boolean replacesFile;
  private Heartbeat heartbeat;
  private CommitSparkJob commit;
  private boolean commitTried;
  private boolean madeTable;
  private boolean mayHaveReport;
  private State state = State.NEW;

  /** The messages of attempts that have committed. */
  private final List<Object> committed = new ArrayList<>();

  private enum State {
    NEW,
    RUNNING,
    COMMITTED,
    /**
     * Something of a failed commit may still be visible: what is in the staging directory helps to
     * sort it out.
     */
    LEFT_BEHIND
  }

  SparkJob(
      String jobId,
      Path table,
      Overwrite overwrite,
      Store store,
      RequestGate gate,
      CommitterConfig config) {
    this(jobId, table, overwrite, store, gate, config, Pause.sleeping(config), System::nanoTime);
  }

  /**
   * A write.
   *
   * @param pause between two looks at another job
   * @param nanos this machine's clock, which goes on evenly
   */
  SparkJob(
      String jobId,
      Path table,
      Overwrite overwrite,
      Store store,
      RequestGate gate,
      CommitterConfig config,
      Pause pause,
      LongSupplier nanos) {
    this.jobId = jobId;
    this.table = table;
    this.file = new TableFile(store, table);
    this.staging = new StagingRoot(table, jobId);
    this.overwrite = overwrite;
    this.store = store;
    this.gate = gate;
    this.config = config;
    this.pause = pause;
    this.nanos = nanos;
    this.signs = new LifeSigns(store, config, pause::nanos);
  }

  /**
   * Makes the staging directory. If that fails it leaves nothing: Spark aborts no job whose setup
   * failed.
   */
  void setUp() throws IOException {
    StatisticsRecorder statistics = new StatisticsRecorder();
    CommitProgress progress =
        Commits.begin(
            CommitSnapshot.Kind.SETUP,
            StatisticNames.JOB_STAGE_SETUP,
            jobId,
            table.toString(),
            statistics);
    gate.recordTo(statistics);
    progress.run(() -> setUp(progress));
  }

  private void setUp(CommitProgress progress) throws IOException {
    TableRoot existing = TableRoot.list(store, table);
    if (overwrite.replacesWholeTable(table)) {
      existing.requirePlainFiles(store);
    }
    if (existing.kind() == TableRoot.Kind.FILE) {
      stageBesideFile();
    }
    for (Path replaced : overwrite.roots(List.of())) {
      if (!StorePaths.isSameOrBelow(table, replaced)) {
        CustomLocation.requireNoLink(store, replaced);
      }
    }
    if (config.markSuccessfulJobs()) {
      existing.requirePlaceForReport(store);
    }
    List<StagingRoot> others = new ArrayList<>(existing.stagingRoots());
    others.removeIf(
        other ->
            other.root().equals(staging.root()) || StagingRoots.removeEmpty(store, other.root()));
    SettledJobs settled = settleOthers(others, progress);
    settled.requireNoneAt(overwrite.roots(List.of()));
    if (settled.hasRecovered()) {
      existing = TableRoot.list(store, table);
    }
    progress.passCancel();
    madeTable = existing.kind() == TableRoot.Kind.NOTHING;
    mayHaveReport = existing.hasReport();
    boolean isBare = existing.isBare();
    boolean[] isFileParked = {false};
    try {
      workers().beside(() -> makeOutput(), () -> isFileParked[0] = isBare && file.isParked());
      // Not before: on HDFS the permission of a directory that a file makes is another one.
      heartbeat = Heartbeat.begin(store, staging.root(), config, nanos);
      if (config.ioThreads() == 1) {
        heartbeat.await();
      }
      if (!others.isEmpty()) {
        List<StagingRoot> watched = others.subList(0, Math.min(MOST_WATCHED, others.size()));
        heartbeat.watch(() -> signs.lookAt(watched), config.heartbeatInterval());
      }
      if (isFileParked[0] && file.settle()) {
        madeTable = false;
      }
    } catch (IOException | RuntimeException | Error e) {
      try {
        removeStaging(List.of(), workers());
      } catch (IOException | RuntimeException | Error suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
    state = State.RUNNING;
  }

  /** Where output is uploaded there is nothing to stage. */
  private void makeOutput() throws IOException {
    if (!store.traits(table).completesUploads()) {
      store.mkdirs(staging.output());
    }
  }

  private void stageBesideFile() throws IOException {
    if (!overwrite.replacesWholeTable(table)) {
      throw new IOException(
          table
              + " is a file: only an overwrite can write a table there. It was not touched:"
              + " remove it or choose another path.");
    }
    if (store.traits(table).completesUploads()) {
      throw new IOException(
          table
              + " is a file, and in this store it cannot be moved aside until the job has its data."
              + " It was not touched: remove it, or choose another path.");
    }
    file.requireReplaceable();
    staging = new StagingRoot(file.beside(), jobId);
    replacesFile = true;
  }

  /** The table, or where the job stages as long as a file stands in its place. */
  Path stagedIn() {
    return staging.directory();
  }

  /** Whether there was no table before; known from {@link #setUp} on. */
  boolean madeTable() {
    return madeTable;
  }

  /**
   * Half of the data of a driver that died may be visible in the table. Whether others died, too,
   * is watched from here on, and settled when the job commits.
   */
  private SettledJobs settleOthers(List<StagingRoot> others, CommitProgress progress)
      throws IOException {
    try {
      return new UnfinishedJobs(
              store,
              config,
              signs,
              waiting -> {
                progress.waits(waiting);
                progress.requireNotCancelled();
                pause.pause(waiting);
                progress.requireNotCancelled();
              })
          .settleKnown(others);
    } finally {
      progress.goesOn();
    }
  }

  /** Whether attempts upload what they write to the table. */
  boolean isUploaded() {
    return store.traits(table).completesUploads();
  }

  /**
   * Notes that Spark says an attempt has committed: what it uploaded is given up if the job is
   * aborted.
   *
   * @param message its commit message
   */
  void taskCommitted(Object message) {
    if (isUploaded()) {
      committed.add(message);
    }
  }

  /**
   * Publishes what the messages name, or nothing.
   *
   * @param messages the commit messages of the attempts that Spark says committed
   */
  void commit(List<?> messages) throws IOException {
    commitTried = true;
    if (state != State.RUNNING) {
      throw new IllegalStateException("Job " + jobId + " cannot be committed: it is " + state);
    }
    // Not every writer has told of each before.
    committed.clear();
    messages.forEach(this::taskCommitted);
    StatisticsRecorder statistics = new StatisticsRecorder();
    CommitProgress progress =
        Commits.begin(
            CommitSnapshot.Kind.COMMIT,
            StatisticNames.JOB_STAGE_SEAL_OUTPUT,
            jobId,
            table.toString(),
            statistics);
    gate.recordTo(statistics);
    progress.run(() -> commit(messages, workers(progress), statistics));
  }

  private void commit(List<?> messages, Workers workers, StatisticsRecorder statistics)
      throws IOException {
    if (replacesFile) {
      heartbeat.await();
      replaceFile(workers);
    }
    Store guarded = heartbeat.guard(store);
    try {
      commit =
          new CommitSparkJob(
              new CommitWork(description(), guarded, config, workers, statistics),
              staging,
              madeTable,
              mayHaveReport,
              overwrite,
              guarded,
              workers,
              config,
              heartbeat,
              signs,
              pause);
      commit.run(messages);
    } finally {
      endOfCommit(workers);
    }
    try {
      workers.step(StatisticNames.JOB_STAGE_CLEANUP);
      removeStaging(workers);
    } catch (IOException | RuntimeException | Error e) {
      // The table is right and the report is there: failing now would make a scheduler write it
      // twice.
      LOG.warn(
          "Job {} is committed, but its staging directory {} could not be removed. Nobody needs it,"
              + " and no job waits for it: 'manifest-committer clean' removes it",
          jobId,
          staging.root(),
          e);
      stopHeartbeat();
      tryToEnd(workers);
      giveUp(workers);
    } finally {
      stopHeartbeat();
    }
  }

  private void endOfCommit(Workers workers) {
    Ending ending = commit == null ? Ending.NOTHING_VISIBLE : commit.ending();
    switch (ending) {
      case COMMITTED:
        state = State.COMMITTED;
        break;
      case LEFT_BEHIND:
        state = State.LEFT_BEHIND;
        stopHeartbeat();
        giveUp(workers);
        break;
      default:
        stopHeartbeat();
    }
  }

  /** From here on the job is one that overwrites a directory. */
  private void replaceFile(Workers workers) throws IOException {
    stopHeartbeat();
    file.replace(jobId, workers);
    staging = new StagingRoot(table, jobId);
    heartbeat = Heartbeat.start(store, staging.root(), config, nanos);
  }

  /**
   * Removes the staging directory and a table directory that only this job made. Never throws:
   * Spark would lose the cause.
   */
  void abort() {
    stopHeartbeat();
    switch (state) {
      case COMMITTED:
        LOG.warn("Job {} is committed: what failed after its commit does not undo it", jobId);
        return;
      case LEFT_BEHIND:
        LOG.error("Job {} could not be rolled back{}", jobId, whatIsKept());
        return;
      case NEW:
        return;
      case RUNNING:
        try {
          if (!commitTried) {
            saveAborted();
          }
          new AbortUploads(staging, store, workers()).run(committed);
          removeStaging(workers());
        } catch (IOException | RuntimeException | Error e) {
          LOG.warn(
              "Job {} is aborted, but {} could not be removed: delete it",
              jobId,
              staging.root(),
              e);
          giveUp(workers());
        }
    }
  }

  private String whatIsKept() {
    try {
      return store.status(staging.attempt()).isPresent()
          ? ": " + staging.root() + " is kept. " + Recovery.advice(staging)
          : " by its driver, and "
              + staging.root()
              + " is gone: a recovery has ended the commit. Look whether the table's _SUCCESS names"
              + " this job before it is run again";
    } catch (IOException | RuntimeException e) {
      return ", and " + staging.root() + " cannot be looked at: " + e;
    }
  }

  /** Before cleanup: a beat would make the staging directory again. */
  private void stopHeartbeat() {
    if (heartbeat != null) {
      heartbeat.close();
      heartbeat = null;
    }
  }

  /** Whoever goes on with what is left need not wait until the last beat is stale. */
  private void giveUp(Workers workers) {
    workers.toItsEnd();
    try {
      workers.<Void>shield(
          () -> {
            // If another process took the journal, the heartbeat is that process's, until it ends.
            if (commit == null || commit.isHeld()) {
              Heartbeat.remove(store, staging.root());
            } else if (!store.status(staging.attempt()).isPresent()) {
              Heartbeat.remove(store, staging.root());
              store.deleteEmptyDirectory(staging.root());
            }
            return null;
          });
    } catch (IOException | RuntimeException | Error e) {
      LOG.warn(
          "The heartbeat in {} could not be removed: for a while job {} seems to live",
          staging.root(),
          jobId,
          e);
    }
  }

  /** The commit saves the report of a job that it fails; this is for one that never came so far. */
  private void saveAborted() throws IOException {
    workers()
        .<Void>shield(
            () -> {
              new SaveSummary(
                      store,
                      description(),
                      config,
                      new StatisticsRecorder(),
                      CommitProgress.unwatched())
                  .saveAborted();
              return null;
            });
  }

  private JobDescription description() {
    Map<String, String> facts = Application.facts();
    facts.put("write", overwrite.kind(table, config.conflictMode()));
    return new JobDescription(
            jobId,
            "FileCommitProtocol.jobId",
            PROTOCOL,
            table,
            staging.old(),
            Recovery.advice(staging))
        .with(facts);
  }

  private Workers workers() {
    return workers(CommitProgress.unwatched());
  }

  private Workers workers(CommitProgress progress) {
    return new Workers(config.ioThreads(), () -> {}, Audit.job(jobId), progress);
  }

  /**
   * Removes this job's staging directories, here and at the custom locations that attempts wrote
   * to. One request for each, where a directory is deleted by one; one more for the marks of
   * locations, if the commit did not look for them, and one for the journal's end, if its name has
   * to say that.
   */
  private void removeStaging(Workers workers) throws IOException {
    workers.toItsEnd();
    Collection<Path> known = commit == null ? List.of() : commit.locations();
    List<StagingRoot> atLocations = new ArrayList<>();
    workers.<Void>shield(
        () -> {
          Set<Path> written = new TreeSet<>();
          if (commit != null && commit.marked().isPresent()) {
            written.addAll(commit.marked().get());
          } else {
            LocationMarks marks = new LocationMarks(store, staging);
            Retries.few(() -> written.addAll(marks.find(known, workers)));
          }
          written.forEach(location -> atLocations.add(new StagingRoot(location, jobId)));
          return null;
        });
    // Recovery takes locations without these roots for somebody else's.
    boolean isRolledBack = state != State.COMMITTED && !atLocations.isEmpty();
    if (commit != null && (isRolledBack || (state == State.COMMITTED && commit.isStillToEnd()))) {
      end(workers);
    }
    removeStaging(atLocations, workers);
  }

  private void end(Workers workers) throws IOException {
    workers.<Void>shield(
        () -> {
          Retries.few(commit::end);
          return null;
        });
  }

  /** Where the staging directory stays, its journal has to say that nothing is left to do. */
  private void tryToEnd(Workers workers) {
    try {
      end(workers);
    } catch (IOException | RuntimeException | Error e) {
      LOG.warn(
          "The journal in {} does not say that job {} has ended: the next job there completes it",
          staging.root(),
          jobId,
          e);
    }
  }

  /** The table's comes last, since it holds the marks by which the others are found. */
  private void removeStaging(List<StagingRoot> atLocations, Workers workers) throws IOException {
    workers.toItsEnd();
    if (config.cleanupSkipped() && state == State.COMMITTED) {
      workers.<Void>shield(
          () -> {
            Retries.few(new ReplacingJobs(store, config, signs, staging)::leave);
            return null;
          });
      return;
    }
    workers.<Void>shield(
        () -> {
          workers.forEach(atLocations, root -> Retries.few(() -> store.deleteTree(root.root())));
          stopHeartbeat();
          Retries.few(() -> store.deleteTree(staging.root()));
          if (replacesFile) {
            if (state != State.COMMITTED && staging.directory().equals(table)) {
              Retries.few(file::rollBack);
            }
            Retries.few(() -> file.removeStaging(jobId));
          }
          if (madeTable && state != State.COMMITTED) {
            Retries.few(() -> store.deleteEmptyDirectory(table));
          }
          return null;
        });
  }
}
