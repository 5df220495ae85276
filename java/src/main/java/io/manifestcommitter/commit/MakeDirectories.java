// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/**
 * Makes the directories that a plan's files need and that are missing, in parallel; each with its
 * parents in one request.
 */
final class MakeDirectories {
  private final Store store;
  private final Workers workers;
  private final ReplacedFiles replaced;

  MakeDirectories(Store store, Workers workers, ReplacedFiles replaced) {
    this.store = store;
    this.workers = workers;
    this.replaced = replaced;
  }

  /**
   * Makes them; the files that the plan found in their way give way first.
   *
   * @param failed the swaps whose directories have to be made, too
   */
  void run(JobPlan plan, BitSet failed) throws IOException {
    workers.forEach(plan.filesInTheWay(), this::moveAside);
    List<Path> directories = new ArrayList<>(plan.directoriesToMake(failed));
    directories.removeIf(directory -> store.traits(directory).completesUploads());
    workers.forEach(directories, store::mkdirs);
  }

  private void moveAside(Path file) throws IOException {
    Optional<StoreEntry> found = store.status(file);
    if (found.isPresent() && !found.get().isDirectory()) {
      replaced.moveAside(found.get());
    }
  }
}
