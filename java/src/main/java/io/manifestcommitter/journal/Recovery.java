package io.manifestcommitter.journal;

import io.manifestcommitter.CommitterConfig;
import io.manifestcommitter.StagingRoot;
import io.manifestcommitter.commit.Audit;
import io.manifestcommitter.commit.CommitJob;
import io.manifestcommitter.commit.JobDescription;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.journal.CommitJournal.State;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.Target;
import io.manifestcommitter.store.Store;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finishes, or takes back, what a driver left that died in a job commit of the Spark protocol; from
 * the store alone, on any machine. May be repeated, and may itself die at any moment.
 *
 * <p>Before the commit's mark (its point of no return) the default is to take back: the driver
 * never said that the job succeeded, so somebody will run it again. Past the mark both directions
 * end at the new table.
 */
public final class Recovery {
  private static final Logger LOG = LoggerFactory.getLogger(Recovery.class);

  private final Store store;
  private final CommitterConfig config;
  private final boolean force;

  /** What became of a job. */
  public enum Outcome {
    /** The table is as it was before the job. */
    TAKEN_BACK,
    /** The table is as the job wanted it. */
    FINISHED,
    /** There was nothing to do but to clean up. */
    CLEANED_UP
  }

  /**
   * A recovery.
   *
   * @param force also of a job whose driver shows signs of life
   */
  public Recovery(Store store, CommitterConfig config, boolean force) {
    this.store = store;
    this.config = config;
    this.force = force;
  }

  /**
   * The jobs that began to commit into a table and did not end.
   *
   * @param table qualified
   */
  public List<StagingRoot> find(Path table) throws IOException {
    List<StagingRoot> roots = new ArrayList<>();
    try {
      store.list(
          table,
          entry -> {
            Optional<String> job = StagingRoot.jobOf(entry.name());
            if (entry.isDirectory() && job.isPresent()) {
              roots.add(new StagingRoot(table, job.get()));
            }
          });
    } catch (FileNotFoundException e) {
      throw new IOException("There is no table at " + table, e);
    }
    List<StagingRoot> unfinished = new ArrayList<>();
    for (StagingRoot root : roots) {
      if (CommitJournal.find(store, root.attempt()).isPresent()) {
        unfinished.add(root);
      }
    }
    return unfinished;
  }

  /**
   * Recovers one job.
   *
   * @param root one that {@link #find} found
   * @throws JobIsAliveException if its driver shows signs of life, and that is not to be ignored
   * @throws LostJournalException if somebody else does the same
   * @throws IOException also if another job changed a place in between: it names that, and touched
   *     nothing there
   */
  public Outcome run(StagingRoot root) throws IOException {
    CommitJournal journal =
        CommitJournal.find(store, root.attempt())
            .orElseThrow(() -> new IOException(root.root() + " has no unfinished commit any more"));
    if (!force) {
      requireDead(root);
    }
    journal.claim();
    Heartbeat heartbeat = Heartbeat.start(store, root.root(), config.heartbeatInterval());
    Outcome outcome;
    try {
      LOG.info("Recovering {}", journal);
      outcome = recover(root, journal);
    } finally {
      heartbeat.close();
    }
    // After the last heartbeat, which would make it again.
    store.deleteTree(root.root());
    return outcome;
  }

  private Outcome recover(StagingRoot root, CommitJournal journal) throws IOException {
    State state = journal.state();
    String jobId = StagingRoot.jobOf(root.root().getName()).get();
    try (JobPlan plan = plan(root, journal, jobId)) {
      CommitJob commit =
          new CommitJob(
              new JobDescription(
                  jobId, "journal", Recovery.class.getName(), root.directory(), root.attempt()),
              store,
              config,
              new Workers(config.ioThreads(), () -> {}, Audit.job(jobId)),
              new StatisticsRecorder());
      if (state == State.PLANNED) {
        commit.rollBack(plan);
      } else if (state == State.COMMITTED) {
        commit.rollForward(plan);
      }
      journal.finished();
      for (Target target : plan.targets()) {
        if (!target.staging().equals(root.root())) {
          store.deleteTree(target.staging());
        }
      }
    }
    switch (state) {
      case PLANNED:
        return Outcome.TAKEN_BACK;
      case COMMITTED:
        return Outcome.FINISHED;
      default:
        return Outcome.CLEANED_UP;
    }
  }

  private static JobPlan plan(StagingRoot root, CommitJournal journal, String jobId)
      throws IOException {
    try {
      return journal.plan(jobId, new Target(root.directory(), root.root()));
    } catch (CorruptManifestException e) {
      throw new CorruptManifestException(
          e.getMessage()
              + ". Nothing was changed. What the job made visible has to be told by hand: its files"
              + " have '"
              + jobId
              + "' in their names, what it moved aside is in "
              + root.old(),
          e);
    }
  }

  private void requireDead(StagingRoot root) throws IOException {
    Optional<Long> age = Heartbeat.age(store, root.root());
    if (age.isPresent() && age.get() < config.heartbeatTimeout()) {
      throw new JobIsAliveException(root, age.get(), config.heartbeatTimeout());
    }
  }
}
