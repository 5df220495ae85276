// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.journal;

import java.io.IOException;
import org.apache.hadoop.fs.Path;

/**
 * Somebody else completes or rolls back a commit by now, or it has come to its end, or its staging
 * directory was deleted: whoever had it before has to stop.
 */
public final class LostJournalException extends IOException {
  private static final long serialVersionUID = 1L;

  public LostJournalException(Path journal) {
    super(
        journal
            + " is gone: a recovery has taken the commit over, or it has ended, or somebody deleted"
            + " the staging directory. Nothing more was changed here. Look at what the recovery"
            + " reports, and at what else writes to the table");
  }
}
