package io.manifestcommitter.commit;

import io.manifestcommitter.plan.JobPlan;
import java.io.IOException;

/** What a job's tasks committed, as a plan: the step in which the two protocols differ. */
public interface PlanSource {
  /**
   * Whether an earlier try committed the job already, so that nothing is left to do but to clean
   * up. Asked first; answered without a request where there is no sign of an earlier try.
   */
  boolean isCommitted() throws IOException;

  /**
   * The same, asked where the plan's files turned out to be published, or there are none: the last
   * sign of an earlier try may have gone in its cleanup. Makes a request.
   */
  boolean isCommittedAfterAll() throws IOException;

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

  /**
   * Requires that nobody took the commit over, or away, in between. Called before the report of the
   * last job gives way to this one's.
   */
  void requireHeld() throws IOException;

  /**
   * Notes in the store that the new data is complete at its place, and that the old goes from here
   * on: the commit is not taken back any more. If this fails, nobody here may say whether it was
   * noted.
   */
  void pointOfNoReturn() throws IOException;

  /** Notes in the store that nothing is left to do. */
  void end() throws IOException;

  /**
   * Whether a commit that failed may be taken back by this process: not if somebody else has taken
   * it over, or if it may be past the point of no return.
   */
  boolean mayTakeBack() throws IOException;

  /**
   * Whether all that a commit needs, to be completed or rolled back, is in the store, so that
   * somebody else can do it.
   */
  boolean isRecoverable();
}
