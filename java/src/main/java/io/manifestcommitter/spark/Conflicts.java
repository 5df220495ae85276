// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.config.CommitterConfig.ConflictMode;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.plan.JobPlan.ExistingDirectories;
import io.manifestcommitter.plan.JobPlan.PlanRejectedException;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StorePaths;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.fs.Path;

/**
 * Applies the conflict mode to the partitions that a job writes to and that are there already. The
 * modes are those of Hadoop's partitioned staging committer for S3.
 */
final class Conflicts {
  private static final int NAMED = 20;

  private final Store store;
  private final Workers workers;
  private final ConflictMode mode;

  Conflicts(Store store, Workers workers, ConflictMode mode) {
    this.store = store;
    this.workers = workers;
    this.mode = mode;
  }

  /**
   * The partitions that this job replaces besides those that it was asked to overwrite.
   *
   * @param written the directories that get files
   * @param overwritten what it was asked to overwrite
   * @param targets the table and custom locations
   * @throws PlanRejectedException if one is there and that is a failure; it names them
   */
  Collection<Path> replaced(
      Collection<Path> written,
      Collection<Path> overwritten,
      ExistingDirectories existing,
      Set<Path> targets)
      throws IOException {
    if (mode == ConflictMode.APPEND) {
      return List.of();
    }
    Set<Path> asked = new HashSet<>(overwritten);
    Set<Path> there = new TreeSet<>();
    List<Path> ofTargets = new ArrayList<>();
    for (Path directory : written) {
      if (StorePaths.isSameOrBelowOne(asked, directory)) {
        continue;
      }
      if (targets.contains(directory)) {
        ofTargets.add(directory);
      } else if (existing.directories().contains(directory)) {
        there.add(directory);
      }
    }
    List<Boolean> showFiles = workers.map(ofTargets, this::showsFiles);
    for (int i = 0; i < ofTargets.size(); i++) {
      if (showFiles.get(i)) {
        there.add(ofTargets.get(i));
      }
    }
    if (mode == ConflictMode.FAIL && !there.isEmpty()) {
      throw new PlanRejectedException(
          there.size()
              + " partitions that the job writes to are there already, and "
              + CommitterConfig.CONFLICT_MODE
              + " is fail: "
              + first(there)
              + ".");
    }
    return there;
  }

  /** The directory of a table or location is made by the job: it is there if it shows a file. */
  private boolean showsFiles(Path directory) throws IOException {
    boolean[] files = {false};
    List<String> partitions = new ArrayList<>();
    try {
      store.list(
          directory,
          entry -> {
            boolean isVisible = !StagingRoot.isHidden(entry.name());
            files[0] |= isVisible && !entry.isDirectory();
            if (isVisible && entry.isDirectory()) {
              partitions.add(entry.name());
            }
          });
    } catch (FileNotFoundException e) {
      return false;
    }
    if (mode == ConflictMode.REPLACE && files[0] && !partitions.isEmpty()) {
      throw new PlanRejectedException(
          "The job writes files into "
              + directory
              + " itself, which has partitions ("
              + partitions.get(0)
              + "), and "
              + CommitterConfig.CONFLICT_MODE
              + " is replace: what that would replace is not clear. Overwrite the table, or write into"
              + " partitions.");
    }
    return files[0];
  }

  private static String first(Collection<Path> paths) {
    List<String> names = new ArrayList<>();
    paths.stream().limit(NAMED).forEach(path -> names.add(path.toString()));
    return String.join(", ", names) + (paths.size() > NAMED ? ", ..." : "");
  }
}
