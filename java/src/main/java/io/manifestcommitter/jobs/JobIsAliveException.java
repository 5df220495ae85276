// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.layout.StagingRoot;
import java.io.IOException;

/** A job lives, or may live, so it is left alone. */
public final class JobIsAliveException extends IOException {
  private static final long serialVersionUID = 1L;

  JobIsAliveException(StagingRoot root, long timeout) {
    super(
        "The job that writes to "
            + root.root()
            + " shows signs of life: its driver, or another recovery, is at work. Nothing was"
            + " changed. It counts as dead once its heartbeat was seen to stand still for "
            + timeout
            + " s. If you know that it is dead, use --force");
  }
}
