// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.progress;

import java.util.Objects;

/** For which other job a job waits, and why. */
public final class Waiting {
  private final String jobId;
  private final String why;

  /**
   * A wait.
   *
   * @param jobId the other job
   * @param why a phrase that follows the job's id, such as {@code which replaces p=3}
   */
  public Waiting(String jobId, String why) {
    this.jobId = Objects.requireNonNull(jobId);
    this.why = Objects.requireNonNull(why);
  }

  /** The other job. */
  public String jobId() {
    return jobId;
  }

  /** Why, as a phrase that follows the job's id. */
  public String why() {
    return why;
  }

  @Override
  public String toString() {
    return "waiting for job " + jobId + ", " + why;
  }
}
