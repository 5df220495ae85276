package io.manifestcommitter.spark;

import io.manifestcommitter.CommitterConfig;
import io.manifestcommitter.StagingRoot;
import io.manifestcommitter.commit.Audit;
import io.manifestcommitter.commit.CommitJob;
import io.manifestcommitter.commit.JobDescription;
import io.manifestcommitter.commit.SaveSummary;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.journal.Heartbeat;
import io.manifestcommitter.journal.ReplacingJobs;
import io.manifestcommitter.journal.UnfinishedJobs;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.Store;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver's side of one write: sets the staging tree up, commits or aborts. The Spark protocol's
 * class is the adapter in front of it.
 */
final class SparkJob {
  private static final Logger LOG = LoggerFactory.getLogger(SparkJob.class);

  /** In milliseconds. */
  private static final long LONGEST_PAUSE = 2000;

  private final String jobId;
  private final Path table;
  private final StagingRoot staging;
  private final Overwrite overwrite;
  private final Store store;
  private final RequestGate gate;
  private final CommitterConfig config;
  private final LocationMarks marks;
  private final ReplacingJobs.Pause pause;

  private Heartbeat heartbeat;
  private PlanSparkJob plan;
  private boolean commitTried;
  private boolean madeTable;
  private State state = State.NEW;

  private enum State {
    NEW,
    RUNNING,
    COMMITTED,
    /**
     * Something of a failed commit may still be visible: what is in the staging root helps to sort
     * it out.
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
    this(
        jobId,
        table,
        overwrite,
        store,
        gate,
        config,
        () -> sleep(Math.min(LONGEST_PAUSE, config.heartbeatInterval())));
  }

  /**
   * A write.
   *
   * @param pause between two looks at a job that replaces the same places
   */
  SparkJob(
      String jobId,
      Path table,
      Overwrite overwrite,
      Store store,
      RequestGate gate,
      CommitterConfig config,
      ReplacingJobs.Pause pause) {
    this.jobId = jobId;
    this.table = table;
    this.staging = new StagingRoot(table, jobId);
    this.overwrite = overwrite;
    this.store = store;
    this.gate = gate;
    this.config = config;
    this.marks = new LocationMarks(store, staging);
    this.pause = pause;
  }

  private static void sleep(long millis) throws InterruptedIOException {
    try {
      TimeUnit.MILLISECONDS.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("The commit was interrupted");
    }
  }

  /**
   * Makes the staging tree. If that fails it leaves nothing: Spark aborts no job whose setup
   * failed.
   */
  void setUp() throws IOException {
    TableRoot existing = TableRoot.list(store, table);
    if (overwrite.replacesWholeTable(table)) {
      existing.requirePlainFiles(store);
    }
    if (existing.kind() == TableRoot.Kind.FILE) {
      throw new IOException(
          table
              + " is a file, so no table can be written there. It was not touched: remove it or choose"
              + " another path.");
    }
    if (config.markSuccessfulJobs()) {
      existing.requirePlaceForReport();
    }
    if (settleOthers(existing)) {
      existing = TableRoot.list(store, table);
    }
    madeTable = existing.kind() == TableRoot.Kind.NOTHING;
    try {
      store.mkdirs(staging.output());
      heartbeat = Heartbeat.start(store, staging.root(), config.heartbeatInterval());
    } catch (IOException | RuntimeException e) {
      try {
        removeStaging(List.of(staging), workers());
      } catch (IOException | RuntimeException suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
    state = State.RUNNING;
  }

  /**
   * Half of the data of a driver that died may be visible in the table.
   *
   * @return whether something was changed
   */
  private boolean settleOthers(TableRoot root) throws IOException {
    List<StagingRoot> others = new ArrayList<>(root.stagingRoots());
    others.removeIf(other -> other.root().equals(staging.root()));
    return new UnfinishedJobs(store, config).settle(others);
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
    Workers workers = workers();
    StatisticsRecorder statistics = new StatisticsRecorder();
    gate.recordTo(statistics);
    CommitJob commit = new CommitJob(description(), store, config, workers, statistics);
    try {
      // Again: one that died just before setup showed signs of life then.
      settleOthers(TableRoot.list(store, table));
      plan =
          new PlanSparkJob(
              jobId, staging, madeTable, overwrite, messages, store, workers, config, pause);
      commit.runOrTakeBack(plan);
      state = State.COMMITTED;
    } catch (IOException | RuntimeException | Error e) {
      if (commit.leftSomethingBehind()) {
        state = State.LEFT_BEHIND;
      }
      throw e;
    } finally {
      stopHeartbeat();
    }
    try {
      removeStaging(workers);
    } catch (IOException | RuntimeException e) {
      // The table is right and the report is there: failing now would make a scheduler write it
      // twice.
      LOG.warn(
          "Job {} is committed, but its staging directory {} could not be removed: delete it",
          jobId,
          staging.root(),
          e);
    }
  }

  /**
   * Removes the staging tree and a table directory that only this job made. Never throws: Spark
   * would lose the cause.
   */
  void abort() {
    stopHeartbeat();
    switch (state) {
      case COMMITTED:
        LOG.warn("Job {} is committed: what failed after its commit does not undo it", jobId);
        return;
      case LEFT_BEHIND:
        LOG.error("Job {} could not be taken back: {} is kept", jobId, staging.root());
        return;
      case NEW:
        return;
      case RUNNING:
        try {
          if (!commitTried) {
            saveAborted();
          }
          removeStaging(workers());
        } catch (IOException | RuntimeException e) {
          LOG.warn(
              "Job {} is aborted, but {} could not be removed: delete it",
              jobId,
              staging.root(),
              e);
        }
    }
  }

  /** Before cleanup: a beat would make the staging root again. */
  private void stopHeartbeat() {
    if (heartbeat != null) {
      heartbeat.close();
      heartbeat = null;
    }
  }

  /** The commit saves the report of a job that it fails; this is for one that never came so far. */
  private void saveAborted() throws IOException {
    workers()
        .<Void>shield(
            () -> {
              new SaveSummary(store, description(), config, new StatisticsRecorder()).saveAborted();
              return null;
            });
  }

  private JobDescription description() {
    return new JobDescription(
        jobId,
        "FileCommitProtocol.jobId",
        ManifestCommitProtocol.class.getName(),
        table,
        staging.attempt());
  }

  private Workers workers() {
    return new Workers(config.ioThreads(), () -> {}, Audit.job(jobId));
  }

  /** Removes this job's staging trees, here and at the custom locations that attempts wrote to. */
  private void removeStaging(Workers workers) throws IOException {
    workers.toItsEnd();
    List<StagingRoot> roots = new ArrayList<>();
    for (Path location : workers.shield(marks::read)) {
      roots.add(new StagingRoot(location, jobId));
    }
    if (!roots.isEmpty() && plan != null && state != State.COMMITTED) {
      // Recovery takes locations without these roots for somebody else's.
      workers.<Void>shield(
          () -> {
            plan.end();
            return null;
          });
    }
    // Last, since it holds the marks by which the others are found.
    roots.add(staging);
    removeStaging(roots, workers);
  }

  private void removeStaging(List<StagingRoot> roots, Workers workers) throws IOException {
    workers.toItsEnd();
    if (config.cleanupSkipped() && state == State.COMMITTED) {
      workers.<Void>shield(
          () -> {
            new ReplacingJobs(store, config, staging).leave();
            return null;
          });
      return;
    }
    workers.<Void>shield(
        () -> {
          for (StagingRoot root : roots) {
            store.deleteTree(root.root());
          }
          if (madeTable && state != State.COMMITTED) {
            store.deleteEmptyDirectory(table);
          }
          return null;
        });
  }
}
