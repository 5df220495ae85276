// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.journal.Heartbeat;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.Target;
import io.manifestcommitter.store.Store;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The staging directories that a job has outside its table, at custom locations of partitions. A
 * journal that names a location proves nothing about it: whoever may write to one table could name
 * another one. The job's staging directory there proves that somebody who may write there meant it.
 */
final class LocationRoots {
  private LocationRoots() {}

  /**
   * Requires that all of a plan's locations are the job's. One request for each, in parallel.
   *
   * @param root the job's staging directory in the table
   * @param origin in which the plan was
   * @param mayBeGone whether the roots may be gone, since the commit has ended
   * @throws CorruptManifestException if one is not; it names it
   */
  static void require(
      Store store,
      Workers workers,
      JobPlan plan,
      StagingRoot root,
      Object origin,
      boolean mayBeGone)
      throws IOException {
    List<Target> locations = new ArrayList<>(plan.targets());
    locations.removeIf(target -> target.staging().equals(root.root()));
    workers.forEach(locations, target -> requireStaging(store, target, origin, mayBeGone));
  }

  /** One request. */
  private static void requireStaging(Store store, Target target, Object origin, boolean mayBeGone)
      throws IOException {
    boolean[] isTable = {false};
    try {
      store.list(target.staging(), entry -> isTable[0] |= Heartbeat.isHeartbeat(entry.name()));
    } catch (FileNotFoundException e) {
      if (mayBeGone) {
        return;
      }
      throw new CorruptManifestException(
          origin
              + " names the location "
              + target.directory()
              + ", where the job has no staging directory "
              + target.staging().getName()
              + ". Nothing was changed: if the job did write there, make that directory, and"
              + " recover the table again",
          e);
    }
    if (isTable[0]) {
      throw new CorruptManifestException(
          origin
              + " names the location "
              + target.directory()
              + ", which is the table of a job, by the heartbeat in "
              + target.staging()
              + ". Nothing was changed: recover that table instead");
    }
  }
}
