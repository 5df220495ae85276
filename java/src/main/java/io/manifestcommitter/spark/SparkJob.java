package io.manifestcommitter.spark;

import io.manifestcommitter.CommitterConfig;
import io.manifestcommitter.JobPaths;
import io.manifestcommitter.commit.CommitJob;
import io.manifestcommitter.commit.FindDirectories;
import io.manifestcommitter.commit.FindOldData;
import io.manifestcommitter.commit.JobDescription;
import io.manifestcommitter.commit.SaveSummary;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.plan.ExistingDirectories;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.JobPlanner;
import io.manifestcommitter.plan.PlanRejectedException;
import io.manifestcommitter.plan.Target;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver's side of one write: sets the staging tree up, commits or aborts. The Spark protocol's
 * class is the adapter in front of it.
 */
final class SparkJob {
  private static final Logger LOG = LoggerFactory.getLogger(SparkJob.class);

  private final String jobId;
  private final Path table;
  private final StagingRoot staging;
  private final Overwrite overwrite;
  private final Store store;
  private final CommitterConfig config;
  private final LocationMarks marks;

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

  SparkJob(String jobId, Path table, Overwrite overwrite, Store store, CommitterConfig config) {
    this.jobId = jobId;
    this.table = table;
    this.staging = new StagingRoot(table, jobId);
    this.overwrite = overwrite;
    this.store = store;
    this.config = config;
    this.marks = new LocationMarks(store, staging);
  }

  /**
   * Makes the staging tree. If that fails it leaves nothing: Spark aborts no job whose setup
   * failed.
   */
  void setUp() throws IOException {
    Optional<StoreEntry> existing = store.status(table);
    if (existing.isPresent() && !existing.get().isDirectory()) {
      throw new IOException(
          table
              + " is a file, so no table can be written there. It was not touched: remove it or choose"
              + " another path.");
    }
    madeTable = !existing.isPresent();
    if (overwrite.replacesWholeTable(table)) {
      ForeignTable.refuse(store, table);
    }
    try {
      store.mkdirs(staging.output());
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
    CommitJob commit = new CommitJob(description(), store, config, workers, statistics);
    try {
      commit.runOrTakeBack(() -> plan(messages, workers));
      state = State.COMMITTED;
    } catch (IOException | RuntimeException | Error e) {
      if (commit.leftSomethingBehind()) {
        state = State.LEFT_BEHIND;
      }
      throw e;
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
    return new Workers(config.ioThreads(), () -> {});
  }

  /** Seals, proves, plans. Nothing of this is visible to a reader. */
  private JobPlan plan(List<?> messages, Workers workers) throws IOException {
    CommittedFiles committed = new CommittedFiles(jobId, messages);
    JobPlanner planner = new JobPlanner(jobId, new Target(table, staging.root()));
    for (Integer task : committed.tasks()) {
      planner.task(task.toString());
    }
    Map<String, StagingRoot> roots = new LinkedHashMap<>();
    for (String location : committed.files().keySet()) {
      if (location.equals(TaskOutput.TABLE)) {
        roots.put(location, staging);
      } else {
        StagingRoot root = new StagingRoot(new Path(location), jobId);
        CustomLocation.check(root.directory(), table);
        planner.allow(new Target(root.directory(), root.root()));
        roots.put(location, root);
      }
    }
    SealStaging seal = new SealStaging(store);
    List<List<ProveStaged.StagedDirectory>> staged =
        workers.map(
            roots.entrySet(),
            root ->
                stagedDirectories(
                    root.getValue(),
                    seal.run(root.getValue()),
                    committed.files().get(root.getKey())));
    List<ProveStaged.StagedDirectory> directories = new ArrayList<>();
    staged.forEach(directories::addAll);
    new ProveStaged(store, workers, config.missingFiles()).run(directories, planner);

    ExistingDirectories existing = new FindDirectories(store, workers).run(planner.directories());
    if (!existing.files().isEmpty()) {
      throw new PlanRejectedException(
          "Files stand where the job's partitions have to go: "
              + existing.files()
              + ". They are not this job's: move them away.");
    }
    Set<Path> keep =
        config.markSuccessfulJobs()
            ? Set.of(new Path(table, JobPaths.SUCCESS_MARKER), new Path(table, JobPaths.FILE_LIST))
            : Set.of();
    Collection<Path> replaced = overwrite.roots(partitions(committed));
    return planner.plan(existing, new FindOldData(store, workers).run(replaced, keep));
  }

  private static List<ProveStaged.StagedDirectory> stagedDirectories(
      StagingRoot root,
      Path output,
      NavigableMap<String, NavigableMap<String, Integer>> directories) {
    List<ProveStaged.StagedDirectory> staged = new ArrayList<>();
    directories.forEach(
        (directory, names) ->
            staged.add(
                new ProveStaged.StagedDirectory(
                    StorePaths.resolve(output, directory),
                    StorePaths.resolve(root.directory(), directory),
                    names)));
    return staged;
  }

  /** The directories that files were committed for: what a dynamic overwrite replaces. */
  private Collection<Path> partitions(CommittedFiles committed) {
    List<Path> partitions = new ArrayList<>();
    committed
        .files()
        .forEach(
            (location, directories) -> {
              Path root = location.equals(TaskOutput.TABLE) ? table : new Path(location);
              directories.keySet().forEach(d -> partitions.add(StorePaths.resolve(root, d)));
            });
    return partitions;
  }

  /** Removes this job's staging trees, here and at the custom locations that attempts wrote to. */
  private void removeStaging(Workers workers) throws IOException {
    workers.toItsEnd();
    List<StagingRoot> roots = new ArrayList<>();
    for (Path location : workers.shield(marks::read)) {
      roots.add(new StagingRoot(location, jobId));
    }
    // Last, since it holds the marks by which the others are found.
    roots.add(staging);
    removeStaging(roots, workers);
  }

  private void removeStaging(List<StagingRoot> roots, Workers workers) throws IOException {
    if (config.cleanupSkipped() && state == State.COMMITTED) {
      return;
    }
    workers.toItsEnd();
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

  /** What this job was asked to replace; merged, so that no root contains another. */
  static final class Overwrite {
    private final Set<Path> recorded = new TreeSet<>();
    private final boolean dynamic;

    private Overwrite(boolean dynamic) {
      this.dynamic = dynamic;
    }

    /** Replaces just what is recorded. */
    static Overwrite recorded(Collection<Path> paths) {
      Overwrite overwrite = new Overwrite(false);
      overwrite.recorded.addAll(paths);
      return overwrite;
    }

    /** Replaces every partition that the job writes to. */
    static Overwrite dynamic(Collection<Path> paths) {
      Overwrite overwrite = new Overwrite(true);
      overwrite.recorded.addAll(paths);
      return overwrite;
    }

    boolean replacesWholeTable(Path table) {
      return recorded.contains(table);
    }

    Collection<Path> roots(Collection<Path> written) {
      Set<Path> all = new TreeSet<>(recorded);
      if (dynamic) {
        all.addAll(written);
      }
      List<Path> outermost = new ArrayList<>(all);
      outermost.removeIf(
          path -> {
            for (Path above = path.getParent(); above != null; above = above.getParent()) {
              if (all.contains(above)) {
                return true;
              }
            }
            return false;
          });
      return outermost;
    }
  }
}
