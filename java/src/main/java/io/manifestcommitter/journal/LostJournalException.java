// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.journal;

import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;

/**
 * Somebody else completes or rolls back a commit by now, or it has come to its end, or its staging
 * directory was deleted: whoever had it before has to stop.
 */
public final class LostJournalException extends IOException {
  private static final long serialVersionUID = 1L;

  /** A commit that has ended, or was deleted with its staging directory. */
  public LostJournalException(Path journal) {
    this(journal, List.of());
  }

  /**
   * A lost commit.
   *
   * @param instead the journals that are there instead
   */
  LostJournalException(Path journal, List<StoreEntry> instead) {
    super(
        journal
            + " is gone: "
            + (instead.isEmpty()
                ? "a recovery has ended the commit, or somebody deleted the staging directory"
                : "there is "
                    + instead.stream().map(StoreEntry::name).collect(Collectors.joining(", "))
                    + " instead. A recovery has taken the commit over, or it is past its point of"
                    + " no return")
            + ". This process changes nothing more. Look at the table's _SUCCESS: if it names this"
            + " job, the job is complete. Otherwise a recovery has rolled it back, or will");
  }
}
