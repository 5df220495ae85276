// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.FindEntries;
import io.manifestcommitter.commit.FindOldData;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.commit.Workers.Result;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.config.CommitterConfig.ConflictMode;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.JobPlan.ExistingDirectories;
import io.manifestcommitter.plan.JobPlan.PlanRejectedException;
import io.manifestcommitter.plan.JobPlan.Target;
import io.manifestcommitter.plan.JobPlanner;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.plan.Swaps.Swap;
import io.manifestcommitter.spark.PlanSwaps.ReplacedDirectories;
import io.manifestcommitter.spark.WriteRequest.Overwrite;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;

/**
 * Makes the plan of a Spark job, once its files are proven: finds what stands at the destination,
 * and decides what is published by directory and what moves aside. Asks the store only to look.
 */
final class PlanSparkJob {
  /** Partitions that an error names. */
  private static final int NAMED = 20;

  private final Path table;
  private final Store store;
  private final Workers workers;
  private final CommitterConfig config;
  private Optional<ExistingDirectories> seen = Optional.empty();
  private volatile boolean looksAgain;

  PlanSparkJob(Path table, Store store, Workers workers, CommitterConfig config) {
    this.table = table;
    this.store = store;
    this.workers = workers;
    this.config = config;
  }

  /** Begins the plan with what is known without a look into the store. The caller closes it. */
  static JobPlanner begin(
      CommittedFiles committed, StagingRoot root, boolean madeTable, CommitterConfig config)
      throws IOException {
    JobPlanner planner = new JobPlanner(root.jobId(), new Target(root.directory(), root.root()));
    if (madeTable) {
      planner.makesTable();
    }
    if (config.markSuccessfulJobs) {
      planner.marksSuccess();
    }
    planner.commitId(config.commitId);
    for (Integer task : committed.tasks()) {
      planner.task(task.toString());
    }
    return planner;
  }

  /**
   * Looks which directories are there, before it is known whether all of them get files. Only for a
   * job that replaces nothing: others look once their places are locked.
   */
  void lookAhead(Set<Path> directories) throws IOException {
    seen = Optional.of(new FindEntries(store, workers).directories(directories));
  }

  /** What {@link #lookAhead} sees, or saw, may have changed. */
  void lookAgain() {
    looksAgain = true;
  }

  /**
   * Makes the plan. The caller closes it. One request for each directory that gets files, or for
   * the one above many of them, and a listing of each directory that is replaced. On HDFS one more
   * for each replaced directory whose permission does not clearly let this user delete.
   *
   * @param trees sealed
   * @param overwritten what the job was asked to overwrite
   * @param planner has the files
   * @throws PlanRejectedException if something is in the way, or may not be replaced
   */
  JobPlan run(List<StagedTree> trees, Collection<Path> overwritten, JobPlanner planner)
      throws IOException {
    Set<Path> targets = new HashSet<>();
    trees.forEach(tree -> targets.add(tree.root.directory()));
    Result<ExistingDirectories> found =
        new Result<>(
            () ->
                seen.isPresent() && !looksAgain
                    ? seen.get()
                    : new FindEntries(store, workers).directories(planner.directories()));
    Collection<Path> replaced = overwritten;
    if (config.conflictMode != ConflictMode.APPEND) {
      found.apply();
      Collection<Path> conflicts =
          conflicts(planner.parents(), overwritten, found.get().directories, targets);
      if (conflicts.contains(table)) {
        TableRoot.list(store, table).requirePlainFiles(store);
      }
      replaced = Overwrite.outermost(overwritten, conflicts);
    }
    Map<Path, List<Path>> byTarget = byTarget(replaced, trees);
    Set<Path> holders = new HashSet<>(byTarget.keySet());
    holders.removeIf(target -> byTarget.get(target).isEmpty() || !store.traits(target).hasZones());
    Map<Path, StoreEntry> replacedTargets = new ConcurrentHashMap<>();
    Collection<Path> places = replaced;
    Result<List<OldDirectory>> old =
        new Result<>(
            () -> new FindOldData(store, workers, table).run(places, config.markSuccessfulJobs));
    // Where what is replaced is known before, none waits for another.
    workers.beside(
        found.find().isPresent() ? () -> {} : found,
        old,
        () ->
            workers.forEach(
                holders,
                target ->
                    store.status(target).ifPresent(entry -> replacedTargets.put(target, entry))));
    ExistingDirectories existing = found.get().with(old.get(), replacedTargets);
    if (!existing.files.isEmpty()) {
      throw new PlanRejectedException(
          "Files stand where the job's partitions have to go: "
              + existing.files
              + ". They are not this job's: move them away.");
    }
    new FindEntries(store, workers).requireOneVolume(targets, planner.parents(), existing);
    new FindOldData(store, workers, table).requireDeletable(old.get(), existing);
    JobPlan plan =
        planner.plan(
            existing,
            old.get(),
            swaps(trees, planner.directories(), existing, byTarget, old.get()));
    boolean isElsewhere = !old.get().isEmpty() && targets.size() > 1;
    if (config.keepReplaced > 0 && (isElsewhere || !plan.replacedInPlace().isEmpty())) {
      plan.close();
      throw new PlanRejectedException(
          "What the job replaces cannot be kept ("
              + CommitterConfig.KEEP_REPLACED
              + "): "
              + (isElsewhere
                  ? "it has partitions outside of the table"
                  : "here it does not move aside, but is deleted where it is: in "
                      + plan.replacedInPlace().stream().limit(NAMED).collect(Collectors.toList()))
              + ". Leave the option out.");
    }
    return plan;
  }

  private List<Swap> swaps(
      List<StagedTree> trees,
      Set<Path> planned,
      ExistingDirectories existing,
      Map<Path, List<Path>> byTarget,
      Collection<OldDirectory> old)
      throws IOException {
    ReplacedDirectories directories = new ReplacedDirectories(old);
    List<Swap> swaps = new ArrayList<>();
    workers
        .map(
            trees,
            tree ->
                tree.isByDirectory
                    ? new PlanSwaps(store, tree.root, tree.output, existing, directories)
                        .run(tree.destinations(planned), byTarget.get(tree.root.directory()))
                    : List.<Swap>of())
        .forEach(swaps::addAll);
    return swaps;
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

  /**
   * The partitions that are there already and that this job replaces, besides those that it was
   * asked to overwrite. The conflict modes are those of Hadoop's partitioned staging committer.
   *
   * @param written the directories that get files
   * @param overwritten what it was asked to overwrite
   * @param targets the table and custom locations
   * @throws PlanRejectedException if one is there and that is a failure; it names them
   */
  private Collection<Path> conflicts(
      Collection<Path> written, Collection<Path> overwritten, Set<Path> existing, Set<Path> targets)
      throws IOException {
    Set<Path> asked = new HashSet<>(overwritten);
    Set<Path> there = new ConcurrentSkipListSet<>();
    List<Path> ofTargets = new ArrayList<>();
    for (Path directory : written) {
      if (StorePaths.isSameOrBelowOne(asked, directory)) {
        continue;
      }
      if (targets.contains(directory)) {
        ofTargets.add(directory);
      } else if (existing.contains(directory)) {
        there.add(directory);
      }
    }
    workers.forEach(
        ofTargets,
        target -> {
          if (showsFiles(target)) {
            there.add(target);
          }
        });
    if (config.conflictMode == ConflictMode.FAIL && !there.isEmpty()) {
      throw conflict(there);
    }
    return there;
  }

  /** The failure of a job that may not write to partitions that are there. */
  static PlanRejectedException conflict(Collection<Path> there) {
    return new PlanRejectedException(
        there.size()
            + " partitions that the job writes to are there already, and "
            + CommitterConfig.CONFLICT_MODE
            + " is fail: "
            + there.stream().limit(NAMED).map(Path::toString).collect(Collectors.joining(", "))
            + (there.size() > NAMED ? ", ..." : "")
            + ".");
  }

  /** The directory of a table or location is made by the job: it is there if it shows a file. */
  private boolean showsFiles(Path directory) throws IOException {
    boolean[] files = {false};
    List<String> partitions = new ArrayList<>();
    boolean isThere =
        store.listIfThere(
            directory,
            entry -> {
              boolean isVisible = !StagingRoot.isHidden(entry.name());
              files[0] |= isVisible && !entry.isDirectory();
              if (isVisible && entry.isDirectory()) {
                partitions.add(entry.name());
              }
            });
    if (!isThere) {
      return false;
    }
    if (config.conflictMode == ConflictMode.REPLACE && files[0] && !partitions.isEmpty()) {
      throw unclear(directory, partitions.get(0));
    }
    return files[0];
  }

  /** The failure of a job that would replace files beside partitions. */
  static PlanRejectedException unclear(Path directory, String partition) {
    return new PlanRejectedException(
        "The job writes files into "
            + directory
            + " itself, which has partitions ("
            + partition
            + "), and "
            + CommitterConfig.CONFLICT_MODE
            + " is replace: what that would replace is not clear. Overwrite the table, or write into"
            + " partitions.");
  }
}
