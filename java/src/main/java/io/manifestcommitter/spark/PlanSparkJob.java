package io.manifestcommitter.spark;

import io.manifestcommitter.commit.FindDirectories;
import io.manifestcommitter.commit.FindOldData;
import io.manifestcommitter.commit.RequireDeletable;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.plan.ExistingDirectories;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.JobPlanner;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.plan.PlanRejectedException;
import io.manifestcommitter.plan.Swap;
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
import java.util.Set;
import org.apache.hadoop.fs.Path;

/**
 * Makes the plan of a Spark job, once its files are proven: finds what stands at the destination,
 * and decides what is published by directory and what moves aside. Asks the store only to look.
 */
final class PlanSparkJob {
  private final Path table;
  private final Store store;
  private final Workers workers;
  private final CommitterConfig config;

  PlanSparkJob(Path table, Store store, Workers workers, CommitterConfig config) {
    this.table = table;
    this.store = store;
    this.workers = workers;
    this.config = config;
  }

  /**
   * Makes the plan. The caller closes it. One request for each directory that gets files, or for
   * the one above many of them, and a listing of each directory that is replaced; on HDFS one more
   * for each of those whose permission does not clearly let this user delete.
   *
   * @param trees sealed
   * @param overwritten what the job was asked to overwrite
   * @param planner has the files
   * @throws PlanRejectedException if something is in the way, or may not be replaced
   */
  JobPlan run(List<StagedTree> trees, Collection<Path> overwritten, JobPlanner planner)
      throws IOException {
    ExistingDirectories found = new FindDirectories(store, workers).run(planner.directories());
    Set<Path> targets = new HashSet<>();
    trees.forEach(tree -> targets.add(tree.target()));
    Collection<Path> conflicts =
        new Conflicts(store, workers, config.conflictMode())
            .replaced(planner.parents(), overwritten, found, targets);
    if (conflicts.contains(table)) {
      TableRoot.list(store, table).requirePlainFiles(store);
    }
    Collection<Path> replaced = Overwrite.outermost(overwritten, conflicts);
    requireNoLinks(replaced, targets);
    List<OldDirectory> old = new FindOldData(store, workers, targets).run(replaced, keptFiles());
    ExistingDirectories existing = found.with(old).without(links(old));
    if (!existing.files().isEmpty()) {
      throw new PlanRejectedException(
          "Files stand where the job's partitions have to go: "
              + existing.files()
              + ". They are not this job's: move them away.");
    }
    new RequireDeletable(store, workers).run(old, existing);
    return planner.plan(
        existing, old, swaps(trees, planner.directories(), existing, replaced, old));
  }

  /** At custom locations that are replaced, or lie in a place that is. */
  private void requireNoLinks(Collection<Path> replaced, Set<Path> targets) throws IOException {
    Set<Path> places = new HashSet<>(replaced);
    Set<Path> locations = new HashSet<>(targets);
    locations.addAll(places);
    locations.removeIf(
        place ->
            place.equals(table)
                || !StorePaths.isSameOrBelowOne(places, place)
                || (!targets.contains(place) && StorePaths.isBelow(table, place)));
    workers.forEach(locations, location -> CustomLocation.requireNoLink(store, location));
  }

  /** The last job's report is no old data where this one's takes its place. */
  private Set<Path> keptFiles() {
    return config.markSuccessfulJobs()
        ? Set.of(new Path(table, JobPaths.SUCCESS_MARKER), new Path(table, JobPaths.FILE_LIST))
        : Set.of();
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
              PlanSwaps plan =
                  new PlanSwaps(store, tree.root(), tree.output(), existing, directories);
              Set<Path> destinations = tree.destinations(planned);
              List<Path> within = byTarget.get(tree.target());
              return tree.isByDirectory()
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

  /** The replaced places of each target: those in it, and in no other target below it. */
  private static Map<Path, List<Path>> byTarget(Collection<Path> replaced, List<StagedTree> trees) {
    Map<Path, List<Path>> byTarget = new HashMap<>();
    trees.forEach(tree -> byTarget.put(tree.target(), new ArrayList<>()));
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
}
