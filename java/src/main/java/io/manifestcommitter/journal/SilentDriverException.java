// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.journal;

import java.io.IOException;
import org.apache.hadoop.fs.Path;

/** A driver stops, since its own heartbeat is so old that others may take its job for dead. */
public final class SilentDriverException extends IOException {
  private static final long serialVersionUID = 1L;

  SilentDriverException(Path heartbeat, long silence, long timeout) {
    super(
        "This driver could not refresh its heartbeat "
            + heartbeat
            + " for "
            + silence / 1000
            + " s: the process stood still, or the store did not answer. After "
            + timeout / 1000
            + " s (mapreduce.manifest.committer.heartbeat.timeout) others may take the job for dead"
            + " and recover its commit, so the driver stopped before its next change. Run the job"
            + " again");
  }
}
