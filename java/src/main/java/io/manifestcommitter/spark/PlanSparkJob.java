package io.manifestcommitter.spark;

import io.manifestcommitter.CommitterConfig;
import io.manifestcommitter.CommitterConfig.ConflictMode;
import io.manifestcommitter.CommitterConfig.DirectoryRename;
import io.manifestcommitter.JobPaths;
import io.manifestcommitter.StagingRoot;
import io.manifestcommitter.commit.FindDirectories;
import io.manifestcommitter.commit.FindOldData;
import io.manifestcommitter.commit.PlanSource;
import io.manifestcommitter.commit.RequireDeletable;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.journal.Heartbeat;
import io.manifestcommitter.journal.LostJournalException;
import io.manifestcommitter.journal.Pause;
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
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the plan of a Spark job from its commit messages: seals the staging trees, proves that
 * every named file is there, finds what stands at the destination. Nothing of this is visible to a
 * reader.
 */
final class PlanSparkJob implements PlanSource {
  private static final Logger LOG = LoggerFactory.getLogger(PlanSparkJob.class);

  private final Heartbeat heartbeat;
  private final String jobId;
  private final StagingRoot staging;
  private final boolean madeTable;
  private final Overwrite overwrite;
  private final List<?> messages;
  private final Store store;
  private final Workers workers;
  private final CommitterConfig config;
  private final ReplacingJobs others;
  private final Pause pause;
  private final List<Path> locations = new ArrayList<>();
  private boolean replaces;
  private Optional<CommitJournal> journal = Optional.empty();

  /**
   * The plan of one job.
   *
   * @param heartbeat the driver's
   * @param staging the job's staging root in the table
   * @param madeTable whether the job made the table's directory
   * @param messages the contents of the commit messages of the attempts that Spark says committed
   * @param store guarded by the heartbeat
   * @param pause between two looks at a job that replaces the same places
   */
  PlanSparkJob(
      Heartbeat heartbeat,
      StagingRoot staging,
      boolean madeTable,
      Overwrite overwrite,
      List<?> messages,
      Store store,
      Workers workers,
      CommitterConfig config,
      Pause pause) {
    this.heartbeat = heartbeat;
    this.jobId = staging.jobId();
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
    if (journal.isPresent() && config.cleanupSkipped()) {
      journal.get().kept();
    } else {
      tookBack();
    }
  }

  /** Notes in the store that nothing is left to do but to clean up. */
  void tookBack() throws IOException {
    if (journal.isPresent()) {
      journal.get().finished();
    }
  }

  /**
   * As long as the journal is this driver's, and not past the point of no return. A driver that was
   * silent takes it anew, by a rename, which only one of two does.
   */
  @Override
  public boolean mayTakeBack() throws IOException {
    if (!journal.isPresent() || !heartbeat.isSilent()) {
      return isHeld();
    }
    heartbeat.resume();
    try {
      journal.get().claim();
      return true;
    } catch (LostJournalException e) {
      LOG.warn("Somebody else took the commit of job {} meanwhile", jobId, e);
      return false;
    }
  }

  /** Whether nobody else has taken the commit. */
  boolean isHeld() throws IOException {
    return !journal.isPresent() || journal.get().isHeld();
  }

  @Override
  public boolean isRecoverable() {
    return true;
  }

  @Override
  public JobPlan plan() throws IOException {
    try (JobPlanner planner =
        new JobPlanner(jobId, new Target(staging.directory(), staging.root()))) {
      return plan(planner);
    }
  }

  /** The custom locations that the plan knows so far, in which the job has staging trees. */
  List<Path> locations() {
    return Collections.unmodifiableList(locations);
  }

  private JobPlan plan(JobPlanner planner) throws IOException {
    Path table = staging.directory();
    CommittedFiles committed = new CommittedFiles(jobId, messages, this::named);
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
    ExistingDirectories found = new FindDirectories(store, workers).run(planner.directories());
    Set<Path> keep =
        config.markSuccessfulJobs()
            ? Set.of(new Path(table, JobPaths.SUCCESS_MARKER), new Path(table, JobPaths.FILE_LIST))
            : Set.of();
    Set<Path> targets = new HashSet<>();
    trees.forEach(tree -> targets.add(tree.root.directory()));
    Collection<Path> conflicts =
        new Conflicts(store, workers, config.conflictMode())
            .replaced(planner.parents(), overwritten, found, targets);
    if (conflicts.contains(table)) {
      TableRoot.list(store, table).requirePlainFiles(store);
    }
    Collection<Path> replaced = Overwrite.outermost(overwritten, conflicts);
    for (Path place : replaced) {
      boolean isLocation = targets.contains(place) || !StorePaths.isSameOrBelow(table, place);
      if (isLocation && !place.equals(table)) {
        CustomLocation.requireNoLink(store, place);
      }
    }
    List<OldDirectory> old = new FindOldData(store, workers, targets).run(replaced, keep);
    ExistingDirectories existing = found.with(old).without(links(old));
    if (!existing.files().isEmpty()) {
      throw new PlanRejectedException(
          "Files stand where the job's partitions have to go: "
              + existing.files()
              + ". They are not this job's: move them away.");
    }
    new RequireDeletable(store, workers).run(old, existing);
    List<Swap> swaps = swaps(trees, planner.directories(), existing, replaced, old);
    removeStrays(strays, swaps);
    return planner.plan(existing, old, swaps);
  }

  /** The location under the name by which its store is called here; opens its store. */
  private String named(String location) {
    Path named = store.named(new Path(location));
    store.traits(named);
    return named.toString();
  }

  private List<Swap> swaps(
      List<StagedTree> trees,
      Set<Path> planned,
      ExistingDirectories existing,
      Collection<Path> replaced,
      Collection<OldDirectory> old)
      throws IOException {
    Map<Path, List<Path>> byTarget = byTarget(replaced, trees);
    ReplacedDirectories directories = new ReplacedDirectories(old);
    List<Swap> swaps = new ArrayList<>();
    workers
        .map(
            trees,
            tree -> {
              PlanSwaps plan = new PlanSwaps(store, tree.root, tree.output, existing, directories);
              Set<Path> destinations = tree.destinations(planned);
              List<Path> within = byTarget.get(tree.root.directory());
              return tree.byDirectory
                  ? plan.run(destinations, within)
                  : plan.runLinks(destinations, within);
            })
        .forEach(swaps::addAll);
    return swaps;
  }

  private static Set<Path> links(Collection<OldDirectory> old) {
    Set<Path> links = new HashSet<>();
    for (OldDirectory directory : old) {
      for (StoreEntry file : directory.files()) {
        if (file.isLink()) {
          links.add(file.path());
        }
      }
    }
    return links;
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
    List<Path> toMake = new ArrayList<>();
    // Also without a file: an overwrite may leave the table empty.
    roots.put(TaskOutput.TABLE, staging);
    for (String location : committed.directories().keySet()) {
      if (!location.equals(TaskOutput.TABLE)) {
        StagingRoot root = new StagingRoot(new Path(location), jobId);
        CustomLocation.check(root.directory(), staging.directory());
        planner.allow(new Target(root.directory(), root.root()));
        locations.add(root.directory());
        roots.put(location, root);
        if (!store.traits(root.root()).hasAtomicDirectoryRename()) {
          // Else it may be gone, on an object store, with the last file that is renamed from it.
          toMake.add(root.root());
        }
      }
    }
    workers.forEach(toMake, store::mkdirs);
    List<Path> withoutFile = new ArrayList<>(overwrite.roots(Set.of()));
    withoutFile.removeIf(
        replaced ->
            StorePaths.isSameOrBelow(staging.directory(), replaced)
                || roots.containsKey(replaced.toString()));
    addWithoutFile(withoutFile, planner);
    return roots;
  }

  /** Locations that are replaced and get no file: the journal names what goes there. */
  private void addWithoutFile(List<Path> replaced, JobPlanner planner) throws IOException {
    LocationMarks marks = new LocationMarks(store, staging);
    List<Optional<StoreEntry>> found = workers.map(replaced, store::status);
    List<Target> targets = new ArrayList<>();
    for (int i = 0; i < found.size(); i++) {
      if (found.get(i).isPresent()) {
        Path location = replaced.get(i);
        targets.add(new Target(location, new StagingRoot(location, jobId).root()));
        planner.allow(targets.get(targets.size() - 1));
        locations.add(location);
      }
    }
    workers.forEach(
        targets,
        target -> {
          // Without it no recovery believes that the location is the job's.
          marks.write(target.directory());
          store.mkdirs(target.staging());
        });
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

  /** The replaced places of each target: those in it, and in no other target below it. */
  private static Map<Path, List<Path>> byTarget(Collection<Path> replaced, List<StagedTree> trees) {
    Map<Path, List<Path>> byTarget = new HashMap<>();
    trees.forEach(tree -> byTarget.put(tree.root.directory(), new ArrayList<>()));
    for (Path place : replaced) {
      Path above = place;
      while (above != null && !byTarget.containsKey(above)) {
        above = above.getParent();
      }
      if (above != null) {
        byTarget.get(above).add(place);
      }
    }
    return byTarget;
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
