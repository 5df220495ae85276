// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.layout.StagingRoot;
import java.io.IOException;

/**
 * A commit has ended, and what is left of it could not be removed. The table is right; nobody needs
 * what is left.
 */
public final class LeftoverException extends IOException {
  private static final long serialVersionUID = 1L;

  private final RecoveryOutcome outcome;

  LeftoverException(StagingRoot root, RecoveryOutcome outcome, IOException cause) {
    super(
        "The commit of job "
            + root.jobId()
            + " into "
            + root.directory()
            + " has ended, but what it left in "
            + root.root()
            + " could not be removed: "
            + cause.getMessage()
            + ". Nobody needs it, and no job waits for it. A user with the right to delete it can"
            + " remove it with 'manifest-committer clean "
            + root.directory()
            + "' or by hand",
        cause);
    this.outcome = outcome;
  }

  /** What became of the job before that. */
  public RecoveryOutcome outcome() {
    return outcome;
  }
}
