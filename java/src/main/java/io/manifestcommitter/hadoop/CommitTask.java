// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import io.manifestcommitter.commit.Audit;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.TaskManifest;
import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The story of a task commit in the Hadoop protocol: list what the attempt wrote, save the list
 * under a temporary name, rename it to the task's name. The last attempt that does is the task's
 * ("A Zero-Rename Committer", section XIV: refusing a second attempt made jobs fail that could have
 * gone on). Nothing at the destination is looked at ("Manifest Committer Protocol", "Task Commit").
 *
 * <p>One request for each directory of the attempt, and two for the manifest.
 */
public final class CommitTask {
  private static final Logger LOG = LoggerFactory.getLogger(CommitTask.class);

  /** Every further try waits this much longer than the one before it, as in Hadoop's committer. */
  private static final long PAUSE_MILLIS = 500;

  private final Store store;
  private final CommitterConfig config;
  private final JobPaths paths;
  private final Runnable progress;
  private final Pause pause;
  private final List<StoreEntry> files = new ArrayList<>();
  private final List<TaskManifest.Directory> directories = new ArrayList<>();

  /**
   * A task commit below {@code paths}.
   *
   * @param progress called while the commit makes progress
   */
  public CommitTask(Store store, CommitterConfig config, JobPaths paths, Runnable progress) {
    this(store, config, paths, progress, TimeUnit.MILLISECONDS::sleep);
  }

  CommitTask(Store store, CommitterConfig config, JobPaths paths, Runnable progress, Pause pause) {
    this.store = store;
    this.config = config;
    this.paths = paths;
    this.progress = progress;
    this.pause = pause;
  }

  /**
   * Commits a task attempt.
   *
   * @param taskId the task
   * @param taskAttemptId the attempt, which wrote to its directory below {@code paths}
   * @return what was committed
   */
  public TaskManifest run(String taskId, String taskAttemptId) throws IOException {
    Path attemptDirectory = paths.taskAttemptDirectory(taskAttemptId);
    Workers workers =
        new Workers(
            config.ioThreads,
            progress,
            Audit.task(paths.jobId, taskAttemptId),
            CommitProgress.unwatched());
    scan(attemptDirectory, attemptDirectory, 1);
    List<FileEntry> committed = new ArrayList<>();
    for (StoreEntry file : identified(workers)) {
      committed.add(file.movedTo(target(attemptDirectory, file)));
    }
    TaskManifest manifest =
        new TaskManifest(
            paths.jobId,
            paths.jobAttempt,
            taskId,
            taskAttemptId,
            attemptDirectory,
            committed,
            directories,
            Map.of(),
            new IOStatisticsSnapshot());
    save(manifest);
    return manifest;
  }

  private void scan(Path attemptDirectory, Path directory, int depth) throws IOException {
    List<StoreEntry> below = new ArrayList<>();
    store.list(
        directory,
        entry -> {
          progress.run();
          (entry.isDirectory() ? below : files).add(entry);
        });
    for (StoreEntry entry : below) {
      directories.add(new TaskManifest.Directory(target(attemptDirectory, entry), depth));
      scan(attemptDirectory, entry.path(), depth + 1);
    }
  }

  /** The files, where a listing does not show what identifies them, and the store can tell. */
  private List<StoreEntry> identified(Workers workers) throws IOException {
    return files.isEmpty() || !store.traits(files.get(0).path()).identityCostsRequest()
        ? files
        : workers.map(files, store::identified);
  }

  private Path target(Path attemptDirectory, StoreEntry entry) {
    return StorePaths.resolve(
        paths.destination, StorePaths.relative(attemptDirectory, entry.path()));
  }

  /** Saves the manifest, with growing pauses between the tries. */
  private void save(TaskManifest manifest) throws IOException {
    byte[] json = manifest.toJson();
    Retries.times(
        config.manifestSaveAttempts,
        (time, failure) -> {
          LOG.warn("Saving the {} failed, try {}: {}", manifest, time, failure.toString());
          try {
            pause.sleep(time * PAUSE_MILLIS);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("The task commit was interrupted");
          }
        },
        () -> {
          progress.run();
          FileEntry written =
              Store.writeNew(
                  store,
                  paths.temporaryManifest(manifest.taskAttemptId),
                  paths.manifest(manifest.taskId),
                  out -> out.write(json));
          // Where another attempt of the task was committed, this one takes its place.
          Retries.renameOver(store, written).orThrow("Could not commit task " + manifest.taskId);
        });
  }

  @FunctionalInterface
  interface Pause {
    /** Waits so many milliseconds. */
    void sleep(long millis) throws InterruptedException;
  }
}
