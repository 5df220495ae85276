package io.manifestcommitter.commit;

import io.manifestcommitter.JobPaths;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.DirectoryEntry;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.TaskManifest;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.JobPlanner;
import io.manifestcommitter.plan.Target;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Loads and checks the manifests of all committed tasks, in parallel, and plans what they name. One
 * that cannot be trusted fails the job before anything is visible.
 */
public final class LoadManifests implements PlanSource {
  private final Store store;
  private final Workers workers;
  private final JobPaths paths;
  private final String jobId;

  /** The manifests of {@code jobId} below {@code paths}. */
  public LoadManifests(Store store, Workers workers, JobPaths paths, String jobId) {
    this.store = store;
    this.workers = workers;
    this.paths = paths;
    this.jobId = jobId;
  }

  @Override
  public JobPlan plan() throws IOException {
    List<StoreEntry> files = new ArrayList<>();
    try {
      store.list(
          paths.manifestDirectory(),
          entry -> {
            if (!entry.isDirectory() && entry.name().endsWith(JobPaths.MANIFEST_SUFFIX)) {
              files.add(entry);
            }
          });
    } catch (FileNotFoundException e) {
      throw new IOException(
          "The directory of manifests "
              + paths.manifestDirectory()
              + " is gone: another job or a cleaner deleted it, or this job is committed already."
              + " Nothing was published.",
          e);
    }
    JobPlanner planner =
        new JobPlanner(jobId, new Target(paths.destination(), paths.jobDirectory()));
    for (TaskManifest manifest : workers.map(files, this::load)) {
      planner.task(manifest.taskId());
      for (DirectoryEntry directory : manifest.directories()) {
        planner.directory(directory.path());
      }
      for (FileEntry file : manifest.files()) {
        planner.publish(file);
      }
    }
    return planner.plan(new FindDirectories(store, workers).run(planner.directories()), List.of());
  }

  private TaskManifest load(StoreEntry file) throws IOException {
    TaskManifest manifest =
        TaskManifest.parse(store.read(file.path(), TaskManifest.MAX_BYTES), file.path().toString());
    if (!manifest.jobId().equals(jobId)
        || !file.name().equals(manifest.taskId() + JobPaths.MANIFEST_SUFFIX)) {
      throw new CorruptManifestException(
          "The manifest "
              + file.path()
              + " says that it belongs to task "
              + manifest.taskId()
              + " of job "
              + manifest.jobId()
              + ", not to this place. Nothing was published; run job "
              + jobId
              + " again.");
    }
    return manifest;
  }
}
