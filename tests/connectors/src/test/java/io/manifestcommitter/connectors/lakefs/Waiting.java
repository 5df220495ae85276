// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors.lakefs;

import io.manifestcommitter.emulator.FaultRule;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;

/** Waits for what other threads do. */
final class Waiting {
  private static final Duration LOOKS = Duration.ofMillis(5);
  private static final Duration LONG = Duration.ofMinutes(1);

  private Waiting() {}

  /**
   * Waits until a request is held, or a job has ended without it.
   *
   * @return whether the request is held
   * @throws TimeoutException when neither comes
   */
  static boolean until(FaultRule held, Future<?> job)
      throws InterruptedException, TimeoutException {
    long until = System.nanoTime() + LONG.toNanos();
    while (System.nanoTime() < until) {
      try {
        held.awaitHeld(1, LOOKS);
        return true;
      } catch (TimeoutException e) {
        if (job.isDone()) {
          return false;
        }
      }
    }
    throw new TimeoutException("Neither " + held + " nor the end of the job comes");
  }

  /** Waits for the end of a job: its failure, or an empty text. */
  static String ended(Future<?> run) throws InterruptedException {
    try {
      run.get();
      return "";
    } catch (ExecutionException e) {
      return e.getCause().toString();
    }
  }
}
