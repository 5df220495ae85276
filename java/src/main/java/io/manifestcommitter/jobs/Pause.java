// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.progress.CommitProgress.Waiting;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;

/** What a job does between two looks at another one. */
@FunctionalInterface
public interface Pause {
  /**
   * Waits a while; fails if the job is to wait no more.
   *
   * @param forWhat for which job it waits, and why
   */
  void pause(Waiting forWhat) throws IOException;

  /** This machine's clock, which goes on evenly, by which waits are measured. */
  default long nanos() {
    return System.nanoTime();
  }

  /** Sleeps, for as long as there may be between two looks at a heartbeat. */
  static Pause sleeping(CommitterConfig config) {
    return waiting -> {
      try {
        TimeUnit.MILLISECONDS.sleep(Math.min(2000, config.heartbeatInterval()));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("Interrupted while " + waiting);
      }
    };
  }

  /** As this, and tells somebody, once, that it waits. */
  default Pause telling(Runnable told) {
    boolean[] isTold = {false};
    return waiting -> {
      if (!isTold[0]) {
        isTold[0] = true;
        told.run();
      }
      pause(waiting);
    };
  }
}
