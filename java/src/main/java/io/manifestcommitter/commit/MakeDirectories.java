package io.manifestcommitter.commit;

import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.Store;
import java.io.IOException;

/**
 * Makes the directories that a plan's files need and that are missing, in parallel; each with its
 * parents in one request.
 */
final class MakeDirectories {
  private final Store store;
  private final Workers workers;

  MakeDirectories(Store store, Workers workers) {
    this.store = store;
    this.workers = workers;
  }

  /** Makes them, after deleting the files that the plan found in their way. */
  void run(JobPlan plan) throws IOException {
    workers.forEach(plan.filesInTheWay(), store::deleteFile);
    workers.forEach(plan.directoriesToMake(), store::mkdirs);
  }
}
