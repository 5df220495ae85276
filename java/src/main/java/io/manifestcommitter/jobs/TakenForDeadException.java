// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.layout.StagingRoot;
import java.io.IOException;

/**
 * Another job went past this one, whose driver had shown no sign of life: what this one knows of
 * the places that it replaces may not hold any more.
 */
public final class TakenForDeadException extends IOException {
  private static final long serialVersionUID = 1L;

  TakenForDeadException(StagingRoot own, long timeout) {
    super(
        own.replaces()
            + " is gone: the driver of job "
            + own.jobId()
            + " gave no sign of life for longer than "
            + timeout / 1000
            + " s (heartbeat.timeout), so another job took it for dead and went on. Nothing visible was"
            + " changed: run the job again");
  }
}
