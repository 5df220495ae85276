// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.layout.StagingRoot;
import java.io.IOException;

/** A dead job is not recovered now: one that lives replaces some of the same places. */
public final class PlacesInUseException extends IOException {
  private static final long serialVersionUID = 1L;

  PlacesInUseException(StagingRoot dead, StagingRoot alive) {
    super(
        "The job of "
            + dead.root()
            + " cannot be recovered now: job "
            + alive.jobId()
            + " lives and replaces some of the same places ("
            + alive.replaces()
            + "). Nothing was changed. Wait until that has ended");
  }
}
