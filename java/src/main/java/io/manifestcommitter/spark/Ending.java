// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

/** How the commit of a Spark job ended. */
enum Ending {
  /** The table has the job's data, and its report. */
  COMMITTED,
  /** The table is as it was, and all that the job would publish waits in its staging directory. */
  HELD,
  /** By its identity, another job has the data: the table has it, or it is held. */
  SKIPPED,
  /** The table is as it was. */
  NOTHING_VISIBLE,
  /** Something may be visible, or old data gone: what is in the staging directory is needed. */
  LEFT_BEHIND
}
