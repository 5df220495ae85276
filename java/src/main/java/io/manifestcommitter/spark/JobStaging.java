// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.journal.Heartbeat;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.Store;

/** What setting a job up gives: where it stages, and what it found in the table. */
final class JobStaging {
  /** In the table. */
  final StagingRoot root;

  /** Null if setting the job up failed before it began. */
  final Heartbeat heartbeat;

  /** Whether a file stood in the table's place. */
  final boolean replacesFile;

  /** Whether there was no table before. */
  final boolean madeTable;

  /** Whether the last job's report may be in the table. */
  final boolean mayHaveReport;

  JobStaging(
      StagingRoot root,
      Heartbeat heartbeat,
      boolean replacesFile,
      boolean madeTable,
      boolean mayHaveReport) {
    this.root = root;
    this.heartbeat = heartbeat;
    this.replacesFile = replacesFile;
    this.madeTable = madeTable;
    this.mayHaveReport = mayHaveReport;
  }

  /**
   * How the staging directory is removed after a commit. It goes at once where one request deletes
   * all of it, and something else than the journal's last name shows that the commit has ended.
   * That is the point of no return, or the report, which has left the staging directory.
   *
   * @param hasLocations whether the job has staging directories at custom locations, too
   */
  CommitJournal.Cleanup cleanup(
      JobPlan plan, boolean hasLocations, CommitterConfig config, Store store) {
    if (config.cleanupSkipped()) {
      return CommitJournal.Cleanup.SKIPPED;
    }
    boolean showsItsEnd = !plan.replaced().isEmpty() || plan.marksSuccess();
    return showsItsEnd && !hasLocations && store.traits(root.root()).hasAtomicDirectoryDeletion()
        ? CommitJournal.Cleanup.AT_ONCE
        : CommitJournal.Cleanup.ONE_BY_ONE;
  }
}
