// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.layout.StagingRoot;
import java.io.IOException;

/** A job is left alone: it lives, or may live, or one that lives replaces some of its places. */
public final class JobIsAliveException extends IOException {
  private static final long serialVersionUID = 1L;

  private final transient StagingRoot alive;

  private JobIsAliveException(StagingRoot alive, String message) {
    super(message);
    this.alive = alive;
  }

  static JobIsAliveException itself(StagingRoot root, long timeout) {
    return new JobIsAliveException(
        root,
        "The job that writes to "
            + root.root()
            + " shows signs of life: its driver, or another recovery, is at work. Nothing was"
            + " changed. It counts as dead once its heartbeat was seen to stand still for "
            + timeout
            + " s. If you know that it is dead, use --force");
  }

  static JobIsAliveException inPlacesOf(StagingRoot dead, StagingRoot alive) {
    return new JobIsAliveException(
        alive,
        "The job of "
            + dead.root()
            + " cannot be recovered now: job "
            + alive.jobId()
            + " lives and replaces some of the same places ("
            + alive.replaces()
            + "). Nothing was changed. Wait until that has ended");
  }

  /** Whether it is this job that lives. */
  public boolean isOf(StagingRoot job) {
    return alive.root().equals(job.root());
  }
}
