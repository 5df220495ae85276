// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.util.concurrent.TimeUnit;

/**
 * Spreads requests evenly over time, so that a limit is not met in bursts ({@code io.rate}). Not
 * safe for use by many threads.
 */
final class EvenRate {
  private final long interval;
  private long next;

  /**
   * A limit.
   *
   * @param perSecond how many requests a second are let through; 0 for any number
   */
  EvenRate(int perSecond, long now) {
    this.interval = perSecond == 0 ? 0 : TimeUnit.SECONDS.toNanos(1) / perSecond;
    this.next = now;
  }

  /** Takes the next turn, and says how many nanoseconds it is away. */
  long reserve(long now) {
    if (interval == 0) {
      return 0;
    }
    if (next - now < 0) {
      next = now;
    }
    long wait = next - now;
    next += interval;
    return wait;
  }
}
