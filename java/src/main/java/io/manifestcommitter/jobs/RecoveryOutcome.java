// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

/** What became of a job that was recovered. */
public enum RecoveryOutcome {
  /** The table is as it was before the job. */
  ROLLED_BACK,
  /** The table is as the job wanted it. */
  COMPLETED,
  /** There was nothing to do but to clean up. */
  CLEANED_UP
}
