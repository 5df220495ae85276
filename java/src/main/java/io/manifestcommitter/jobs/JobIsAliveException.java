// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.layout.StagingRoot;
import java.io.IOException;

/** A job shows signs of life, so it is left alone. */
public final class JobIsAliveException extends IOException {
  private static final long serialVersionUID = 1L;

  JobIsAliveException(StagingRoot root, long age, long timeout) {
    super(
        "The job that writes to "
            + root.root()
            + " showed a sign of life "
            + age / 1000
            + " s ago: its driver, or another recovery, is at work. Nothing was changed. Wait until"
            + " it has shown none for "
            + timeout / 1000
            + " s. If you know that it is dead, use --force");
  }
}
