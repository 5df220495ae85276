// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.util.function.LongSupplier;

/**
 * A token bucket for the requests of a whole account: it holds a tenth of a second's worth, at
 * least one. A refused request takes no token.
 */
final class RateLimit {
  private static final double NANOS = 1e9;

  private final double perSecond;
  private final int status;
  private final LongSupplier clock;
  private final double capacity;
  private double tokens;
  private long last;

  /**
   * A full bucket.
   *
   * @param status what refused requests are answered with
   * @param clock nanoseconds
   */
  RateLimit(int perSecond, int status, LongSupplier clock) {
    if (perSecond < 1) {
      throw new IllegalArgumentException("Not a request rate: " + perSecond + " per second");
    }
    this.perSecond = perSecond;
    this.status = status;
    this.clock = clock;
    this.capacity = Math.max(1, perSecond / 10.0);
    this.tokens = capacity;
    this.last = clock.getAsLong();
  }

  int status() {
    return status;
  }

  /** Takes a token; false where there is none. */
  synchronized boolean admit() {
    long now = clock.getAsLong();
    tokens = Math.min(capacity, tokens + (now - last) / NANOS * perSecond);
    last = now;
    if (tokens < 1) {
      return false;
    }
    tokens--;
    return true;
  }
}
