// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.faults;

/** What follows on a job commit of the Hadoop protocol that failed. */
enum Repair {
  /** The job commit is repeated, by a committer of its own. */
  COMMIT_AGAIN,
  /** The job is aborted, and run again under another id. */
  ABORT
}
