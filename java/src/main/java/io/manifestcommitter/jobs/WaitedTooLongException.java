// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.layout.StagingRoot;
import java.io.IOException;
import java.time.Instant;
import java.util.Optional;

/** A job gives up waiting for another one that replaces the same places. */
public final class WaitedTooLongException extends IOException {
  private static final long serialVersionUID = 1L;

  WaitedTooLongException(
      StagingRoot own, StagingRoot other, Optional<ReplaceNote> note, long waited) {
    super(
        "Job "
            + own.jobId()
            + " waited "
            + waited / 1000
            + " s for job "
            + other.jobId()
            + ", which replaces some of the same places of "
            + own.directory()
            + working(note)
            + " and still lives. Nothing was changed. Run the job again once the other has ended, or"
            + " wait longer ("
            + CommitterConfig.REPLACE_WAIT
            + ")");
  }

  private static String working(Optional<ReplaceNote> note) {
    return note.map(
            told ->
                ", works there on " + told.host() + " since " + Instant.ofEpochMilli(told.since()))
        .orElse("");
  }
}
