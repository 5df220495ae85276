package io.manifestcommitter.commit;

import io.manifestcommitter.plan.JobPlan;
import java.io.IOException;

/** What a job's tasks committed, as a plan: the step in which the two protocols differ. */
public interface PlanSource {
  /**
   * Whether an earlier try committed the job already, so that nothing is left to do but to clean
   * up.
   */
  boolean isCommitted() throws IOException;

  /**
   * Loads and checks everything. The caller closes the plan.
   *
   * @throws io.manifestcommitter.plan.PlanRejectedException if what the tasks committed contradicts
   *     itself
   * @throws io.manifestcommitter.manifest.CorruptManifestException if a task's result cannot be
   *     read
   */
  JobPlan plan() throws IOException;

  /** Notes in the store that changes begin now. Called between the plan and its first change. */
  void begin(JobPlan plan) throws IOException;
}
