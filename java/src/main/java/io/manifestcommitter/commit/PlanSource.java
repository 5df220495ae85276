package io.manifestcommitter.commit;

import io.manifestcommitter.plan.JobPlan;
import java.io.IOException;

/**
 * Makes the plan of a job from what its tasks committed: the step in which the two protocols
 * differ.
 */
@FunctionalInterface
public interface PlanSource {
  /**
   * Loads and checks everything.
   *
   * @throws io.manifestcommitter.plan.PlanRejectedException if what the tasks committed contradicts
   *     itself
   * @throws io.manifestcommitter.manifest.CorruptManifestException if a task's result cannot be
   *     read
   */
  JobPlan plan() throws IOException;
}
