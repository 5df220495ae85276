package io.manifestcommitter.spark;

import io.manifestcommitter.CommitterConfig;
import io.manifestcommitter.JobPaths;
import io.manifestcommitter.commit.FindDirectories;
import io.manifestcommitter.commit.FindOldData;
import io.manifestcommitter.commit.PlanSource;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.plan.ExistingDirectories;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.JobPlanner;
import io.manifestcommitter.plan.PlanRejectedException;
import io.manifestcommitter.plan.Target;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import org.apache.hadoop.fs.Path;

/**
 * Makes the plan of a Spark job from its commit messages: seals the staging trees, proves that
 * every named file is there, finds what stands at the destination. Nothing of this is visible to a
 * reader.
 */
final class PlanSparkJob implements PlanSource {
  private final String jobId;
  private final StagingRoot staging;
  private final Overwrite overwrite;
  private final List<?> messages;
  private final Store store;
  private final Workers workers;
  private final CommitterConfig config;

  /**
   * The plan of one job.
   *
   * @param staging the job's staging root in the table
   * @param messages the contents of the commit messages of the attempts that Spark says committed
   */
  PlanSparkJob(
      String jobId,
      StagingRoot staging,
      Overwrite overwrite,
      List<?> messages,
      Store store,
      Workers workers,
      CommitterConfig config) {
    this.jobId = jobId;
    this.staging = staging;
    this.overwrite = overwrite;
    this.messages = messages;
    this.store = store;
    this.workers = workers;
    this.config = config;
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
  public void begin(JobPlan plan) {}

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
    Collection<Path> replaced = overwrite.roots(planner.parents());
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
}
