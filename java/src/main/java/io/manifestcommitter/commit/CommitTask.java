package io.manifestcommitter.commit;

import io.manifestcommitter.JobPaths;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.manifest.TaskManifest;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Store;
import java.io.IOException;
import org.apache.hadoop.fs.Path;

/**
 * The story of a task commit in the Hadoop protocol: scan what the attempt wrote, save the list
 * under a temporary name, rename it to the task's name. The last attempt to do so is the task's
 * (the paper, section XIV: refusing a second attempt made jobs fail that could have gone on).
 */
public final class CommitTask {
  private final Store store;
  private final JobPaths paths;
  private final StatisticsRecorder statistics = new StatisticsRecorder();

  /** A task commit below {@code paths}. */
  public CommitTask(Store store, JobPaths paths) {
    this.store = store;
    this.paths = paths;
  }

  /**
   * Commits a task attempt.
   *
   * @param job the job's id and the number of its attempt
   * @return what was committed
   */
  public TaskManifest run(TaskAttempt job) throws IOException {
    Path attemptDirectory = paths.taskAttemptDirectory(job.taskAttemptId());
    ScanTaskDirectory.Scan scan =
        statistics.time(
            StatisticNames.TASK_STAGE_SCAN_DIRECTORY,
            () -> new ScanTaskDirectory(store).run(attemptDirectory, paths.destination()));
    statistics.count(StatisticNames.COMMITTER_TASK_FILE_COUNT, scan.files().size());
    statistics.count(StatisticNames.COMMITTER_TASK_DIRECTORY_COUNT, scan.directories().size());
    statistics.count(
        StatisticNames.COMMITTER_TASK_FILE_SIZE,
        scan.files().stream().mapToLong(FileEntry::size).sum());
    TaskManifest manifest =
        TaskManifest.builder()
            .job(job.jobId(), job.jobAttempt())
            .task(job.taskId(), job.taskAttemptId())
            .taskAttemptDirectory(attemptDirectory)
            .files(scan.files())
            .directories(scan.directories())
            .statistics(statistics.snapshot())
            .build();
    save(manifest);
    return manifest;
  }

  private void save(TaskManifest manifest) throws IOException {
    Path temporary = paths.temporaryManifest(manifest.taskAttemptId());
    Path target = paths.manifest(manifest.taskId());
    byte[] json = manifest.toJson();
    store.write(temporary, out -> out.write(json));
    store.deleteFile(target);
    RenameResult result = store.renameFile(new FileEntry(temporary, target, json.length, null, 0));
    if (!result.isDone()) {
      throw new IOException(
          "Could not commit task " + manifest.taskId() + ": " + result.explanation(),
          result.cause().orElse(null));
    }
  }
}
