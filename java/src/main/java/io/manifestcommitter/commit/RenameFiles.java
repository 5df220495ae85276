package io.manifestcommitter.commit;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Store;
import java.io.IOException;

/**
 * Renames every file of a plan to its destination, in parallel. The step that makes a job visible.
 */
final class RenameFiles {
  private final Store store;
  private final Workers workers;
  private final StatisticsRecorder statistics;

  RenameFiles(Store store, Workers workers, StatisticsRecorder statistics) {
    this.store = store;
    this.workers = workers;
    this.statistics = statistics;
  }

  /**
   * Renames them.
   *
   * @param published learns of each rename before it is asked for, and of its outcome
   * @throws RenameFailedException if one was proven not to be done
   * @throws RenameOutcomeUnknownException if nothing could be proven
   */
  void run(JobPlan plan, Published published) throws IOException {
    workers.forEach(plan.files(), file -> rename(file, published));
  }

  /**
   * As {@link #run}, and a file of an earlier job at a destination gives way while the new one is
   * proven to be there.
   */
  void runDeletingTargets(JobPlan plan, Published published) throws IOException {
    workers.forEach(
        plan.files(),
        file -> {
          if (!plan.missingDirectories().contains(file.destination().getParent())) {
            deleteTarget(file);
          }
          rename(file, published);
        });
  }

  private void deleteTarget(FileEntry file) throws IOException {
    if (store.status(file.destination()).isPresent() && store.status(file.source()).isPresent()) {
      store.deleteFile(file.destination());
    }
  }

  private void rename(FileEntry file, Published published) throws IOException {
    published.begin(file);
    RenameResult result =
        statistics.time(StatisticNames.OP_COMMIT_FILE_RENAME, () -> Attempts.rename(store, file));
    switch (result.outcome()) {
      case RECOVERED:
        statistics.increment(StatisticNames.OP_COMMIT_FILE_RENAME_RECOVERED);
        published.done(file);
        break;
      case RENAMED:
        published.done(file);
        break;
      case FAILED:
        throw new RenameFailedException(file, result);
      case UNKNOWN:
        throw new RenameOutcomeUnknownException(file, result);
    }
  }
}
