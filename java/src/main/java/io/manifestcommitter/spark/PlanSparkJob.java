package io.manifestcommitter.spark;

import io.manifestcommitter.CommitterConfig;
import io.manifestcommitter.CommitterConfig.ConflictMode;
import io.manifestcommitter.CommitterConfig.DirectoryRename;
import io.manifestcommitter.JobPaths;
import io.manifestcommitter.StagingRoot;
import io.manifestcommitter.commit.FindDirectories;
import io.manifestcommitter.commit.FindOldData;
import io.manifestcommitter.commit.PlanSource;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.journal.ReplacingJobs;
import io.manifestcommitter.plan.ExistingDirectories;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.JobPlanner;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.plan.PlanRejectedException;
import io.manifestcommitter.plan.Swap;
import io.manifestcommitter.plan.Target;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.fs.Path;

/**
 * Makes the plan of a Spark job from its commit messages: seals the staging trees, proves that
 * every named file is there, finds what stands at the destination. Nothing of this is visible to a
 * reader.
 */
final class PlanSparkJob implements PlanSource {
  private final String jobId;
  private final StagingRoot staging;
  private final boolean madeTable;
  private final Overwrite overwrite;
  private final List<?> messages;
  private final Store store;
  private final Workers workers;
  private final CommitterConfig config;
  private final ReplacingJobs others;
  private final ReplacingJobs.Pause pause;
  private boolean replaces;
  private Optional<CommitJournal> journal = Optional.empty();

  /**
   * The plan of one job.
   *
   * @param staging the job's staging root in the table
   * @param madeTable whether the job made the table's directory
   * @param messages the contents of the commit messages of the attempts that Spark says committed
   * @param pause between two looks at a job that replaces the same places
   */
  PlanSparkJob(
      String jobId,
      StagingRoot staging,
      boolean madeTable,
      Overwrite overwrite,
      List<?> messages,
      Store store,
      Workers workers,
      CommitterConfig config,
      ReplacingJobs.Pause pause) {
    this.jobId = jobId;
    this.staging = staging;
    this.madeTable = madeTable;
    this.overwrite = overwrite;
    this.messages = messages;
    this.store = store;
    this.workers = workers;
    this.config = config;
    this.others = new ReplacingJobs(store, config, staging);
    this.pause = pause;
  }

  /** Never: Spark commits a job once. */
  @Override
  public boolean isCommitted() {
    return false;
  }

  @Override
  public boolean isCommittedAfterAll() {
    return false;
  }

  @Override
  public void begin(JobPlan plan) throws IOException {
    journal = Optional.of(CommitJournal.write(store, staging.attempt(), plan));
    if (replaces) {
      others.requireNotTakenForDead();
    }
  }

  @Override
  public void requireHeld() throws IOException {
    if (journal.isPresent()) {
      journal.get().requireHeld();
    }
  }

  @Override
  public void pointOfNoReturn() throws IOException {
    if (journal.isPresent()) {
      journal.get().committed();
    }
  }

  @Override
  public void end() throws IOException {
    if (journal.isPresent()) {
      journal.get().finished();
    }
  }

  /** As long as the journal is this driver's, and not past the point of no return. */
  @Override
  public boolean mayTakeBack() throws IOException {
    return !journal.isPresent() || journal.get().isHeld();
  }

  @Override
  public Optional<String> repair() {
    return Optional.of(
        "What is needed for that is kept in "
            + staging.root()
            + ": run 'manifest-committer recover "
            + staging.directory()
            + "', or io.manifestcommitter.cli.Recover, once the store is well");
  }

  @Override
  public JobPlan plan() throws IOException {
    try (JobPlanner planner =
        new JobPlanner(jobId, new Target(staging.directory(), staging.root()))) {
      return plan(planner);
    }
  }

  private JobPlan plan(JobPlanner planner) throws IOException {
    Path table = staging.directory();
    CommittedFiles committed = new CommittedFiles(jobId, messages);
    if (madeTable) {
      planner.makesTable();
    }
    for (Integer task : committed.tasks()) {
      planner.task(task.toString());
    }
    List<StagedTree> trees =
        workers.map(
            roots(committed, planner).entrySet(),
            root -> staged(root.getValue(), committed.directories().get(root.getKey())));
    List<StagedDirectory> listed = new ArrayList<>();
    trees.forEach(tree -> listed.addAll(tree.toList()));
    List<StoreEntry> strays =
        new ProveStaged(store, workers, config.missingFiles()).run(listed, committed, planner);

    Collection<Path> overwritten = overwrite.roots(planner.parents());
    enter(overwritten, planner);
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
    Set<Path> targets = new HashSet<>();
    trees.forEach(tree -> targets.add(tree.root.directory()));
    Collection<Path> conflicts =
        new Conflicts(store, config.conflictMode())
            .replaced(planner.parents(), overwritten, existing, targets);
    if (conflicts.contains(table)) {
      TableRoot.list(store, table).requirePlainFiles(store);
    }
    Collection<Path> replaced = Overwrite.outermost(overwritten, conflicts);
    List<OldDirectory> old = new FindOldData(store, workers).run(replaced, keep);
    List<Swap> swaps = new ArrayList<>();
    for (StagedTree tree : trees) {
      if (tree.byDirectory) {
        swaps.addAll(
            new PlanSwaps(store, tree.root, tree.output, existing, old)
                .run(tree.destinations(planner.directories()), within(tree.root, replaced, trees)));
      }
    }
    removeStrays(strays, swaps);
    return planner.plan(existing, old, swaps);
  }

  /** Before anybody looks at the places: of two jobs that replace them, one comes first. */
  private void enter(Collection<Path> overwritten, JobPlanner planner) throws IOException {
    Collection<Path> places =
        config.conflictMode() == ConflictMode.REPLACE
            ? Overwrite.outermost(overwritten, planner.parents())
            : overwritten;
    replaces = !places.isEmpty();
    if (replaces) {
      others.enter(
          places,
          () -> {
            workers.checkInterrupted();
            pause.pause();
            workers.checkInterrupted();
          });
    }
  }

  /** The staging trees that committed attempts wrote to, by location. */
  private Map<String, StagingRoot> roots(CommittedFiles committed, JobPlanner planner)
      throws IOException {
    Map<String, StagingRoot> roots = new LinkedHashMap<>();
    // Also without a file: an overwrite may leave the table empty.
    roots.put(TaskOutput.TABLE, staging);
    for (String location : committed.directories().keySet()) {
      if (!location.equals(TaskOutput.TABLE)) {
        StagingRoot root = new StagingRoot(new Path(location), jobId);
        CustomLocation.check(root.directory(), staging.directory());
        planner.allow(new Target(root.directory(), root.root()));
        roots.put(location, root);
        if (!store.traits(root.root()).hasAtomicDirectoryRename()) {
          // Else it may be gone, on an object store, with the last file that is renamed from it.
          store.mkdirs(root.root());
        }
      }
    }
    // A location that is replaced and gets no file: the journal names what goes there.
    for (Path replaced : overwrite.roots(Set.of())) {
      if (!StorePaths.isSameOrBelow(staging.directory(), replaced)
          && !roots.containsKey(replaced.toString())
          && store.status(replaced).isPresent()) {
        Target target = new Target(replaced, new StagingRoot(replaced, jobId).root());
        planner.allow(target);
        // Without it no recovery believes that the location is the job's.
        new LocationMarks(store, staging).write(replaced);
        store.mkdirs(target.staging());
      }
    }
    return roots;
  }

  private StagedTree staged(
      StagingRoot root, NavigableMap<String, CommittedFiles.Directory> directories)
      throws IOException {
    return new StagedTree(
        root,
        new SealStaging(store).run(root),
        config.directoryRename() == DirectoryRename.AUTO
            && store.traits(root.root()).hasAtomicDirectoryRename(),
        directories == null ? new TreeMap<>() : directories);
  }

  /** The replaced places that belong to a tree and to none below it. */
  private static List<Path> within(
      StagingRoot root, Collection<Path> replaced, List<StagedTree> trees) {
    List<Path> within = new ArrayList<>();
    for (Path place : replaced) {
      boolean here = StorePaths.isSameOrBelow(root.directory(), place);
      for (StagedTree other : trees) {
        here &=
            !(StorePaths.isBelow(root.directory(), other.root.directory())
                && StorePaths.isSameOrBelow(other.root.directory(), place));
      }
      if (here) {
        within.add(place);
      }
    }
    return within;
  }

  /** Deletes what nobody named from the directories that are published as they are. */
  private void removeStrays(List<StoreEntry> strays, List<Swap> swaps) throws IOException {
    Set<Path> staged = new HashSet<>();
    swaps.forEach(swap -> swap.staged().ifPresent(staged::add));
    List<StoreEntry> visible = new ArrayList<>();
    for (StoreEntry stray : strays) {
      for (Path path = stray.path(); path != null; path = path.getParent()) {
        if (staged.contains(path)) {
          visible.add(stray);
          break;
        }
      }
    }
    workers.forEach(
        visible,
        stray -> {
          if (stray.isDirectory()) {
            store.deleteTree(stray.path());
          } else {
            store.deleteFile(stray.path());
          }
        });
  }

  /** The output of the job below one target. */
  private static final class StagedTree {
    private final StagingRoot root;
    private final Path output;
    private final boolean byDirectory;
    private final List<StagedDirectory> directories;

    StagedTree(
        StagingRoot root,
        Path output,
        boolean byDirectory,
        NavigableMap<String, CommittedFiles.Directory> directories) {
      this.root = root;
      this.output = output;
      this.byDirectory = byDirectory;
      this.directories = StagedDirectory.tree(output, root.directory(), directories);
    }

    /** The directories to list: all of a tree whose directories may be published as they are. */
    List<StagedDirectory> toList() {
      List<StagedDirectory> listed = new ArrayList<>(directories);
      listed.removeIf(directory -> !byDirectory && !directory.hasFiles());
      return listed;
    }

    /** Those of the plan's directories that come from here. */
    Set<Path> destinations(Set<Path> planned) {
      Set<Path> destinations = new HashSet<>();
      directories.forEach(directory -> destinations.add(directory.destination()));
      destinations.retainAll(planned);
      return destinations;
    }
  }
}
