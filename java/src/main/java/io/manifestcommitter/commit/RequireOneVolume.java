// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.plan.JobPlan.ExistingDirectories;
import io.manifestcommitter.plan.JobPlan.PlanRejectedException;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.fs.Path;

/**
 * Requires that what is staged in a table, or at a custom location, can be renamed to where it
 * goes. On a local disk a mount, or a symbolic link, may lead to another volume, and a rename
 * between two volumes would be a copy.
 */
public final class RequireOneVolume {
  private final Store store;

  /** A step on {@code store}. */
  public RequireOneVolume(Store store) {
    this.store = store;
  }

  /**
   * Looks at all directories. One request for each target on a local disk, none elsewhere.
   *
   * @param targets the table and the custom locations: each has a staging directory of its own
   * @param parents the directories that get files
   * @param existing what is there of them
   * @throws PlanRejectedException if one is on another volume; it says what to do
   */
  public void run(Set<Path> targets, Set<Path> parents, ExistingDirectories existing)
      throws IOException {
    Map<Path, StoreEntry> known = new HashMap<>();
    for (Path target : targets) {
      if (store.traits(target).hasLinks()) {
        store.status(target).ifPresent(entry -> known.put(target, entry));
      }
    }
    for (Path parent : known.isEmpty() ? Set.<Path>of() : parents) {
      Path target = parent;
      while (target != null && !targets.contains(target)) {
        target = target.getParent();
      }
      if (known.containsKey(target)) {
        requireSame(known.get(target), existing.entry(parent));
      }
    }
  }

  private static void requireSame(StoreEntry target, Optional<StoreEntry> directory)
      throws PlanRejectedException {
    if (directory.isPresent() && !directory.get().rights().isOnSameVolumeAs(target.rights())) {
      throw new PlanRejectedException(
          directory.get().path()
              + " is on another volume than "
              + target.path()
              + ", where the job's files are, and a rename between them would be a copy. Nothing was"
              + " changed. Register the directory on that volume as the partition's location, or"
              + " write a table of its own there.");
    }
  }
}
