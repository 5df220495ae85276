// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * The rate of requests that a store was seen to serve. There is none until the store refuses a
 * request. Then requests go on at a little less than what the store served in the seconds before.
 * With every request that is served the rate grows, slowly up to what was served and then faster,
 * until the store refuses again. So it follows a limit that nobody told us, and one that moves;
 * while no requests are made it stays. Not safe for use by many threads.
 */
final class AdaptiveRate {
  /** What is kept of the rate that the store served. */
  private static final double KEPT = 0.85;

  /** The whole of it is regained in so many seconds of requests. */
  private static final double REGAINED = 2;

  /** From then on the rate doubles in so many seconds of requests. */
  private static final double DOUBLED = 5;

  /** So fast after the first refusal, which may have met a burst of requests after few of them. */
  private static final double DOUBLED_AT_FIRST = 1;

  /** Fewer requests a second tell nothing of a store: it had hardly been asked yet. */
  private static final double LEAST = 5;

  /** A store that was not asked for much in the seconds before may serve more than it did. */
  private static final double LEAST_KEPT = 0.5;

  private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(200);
  private static final int DOUBLINGS_OF_PAUSE = 6;

  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final int SLOTS_OF_A_SECOND = 10;
  private static final long SLOT = SECOND / SLOTS_OF_A_SECOND;

  /** Over so long a time drivers that wait and then answer in bunches do not matter. */
  private static final int SLOTS = 3 * SLOTS_OF_A_SECOND;

  private final int[] served = new int[SLOTS];
  private final long firstSlot;
  private long slot;

  private long refusals;
  private long refusedAt;
  private double servedRate;
  private double limit = Double.POSITIVE_INFINITY;
  private long next;
  private int refusalsInARow;

  AdaptiveRate(long now) {
    this.firstSlot = now / SLOT;
    this.slot = firstSlot;
    this.next = now;
  }

  /** The store served a request. */
  void served(long now) {
    advance(now);
    served[slot(slot)]++;
    refusalsInARow = 0;
    if (!isLimited()) {
      return;
    }
    if (limit < servedRate) {
      limit += (1 - KEPT) / REGAINED;
    } else {
      double doubled = refusals == 1 ? DOUBLED_AT_FIRST : DOUBLED;
      limit *= Math.pow(2, 1 / (doubled * limit));
    }
  }

  /**
   * The store refused a request, or more than one at about the same time: all pause, and go on more
   * slowly.
   *
   * @param since when the refused request was made; one made before the last refusal was known says
   *     nothing new
   */
  void refused(long now, long since) {
    if (slowDown(now, since)) {
      long pause = PAUSE << Math.min(refusalsInARow, DOUBLINGS_OF_PAUSE);
      refusalsInARow++;
      next = Math.max(next, now + pause);
    }
  }

  /**
   * As {@link #refused}, where the driver that made the request pauses by itself.
   *
   * @return whether the refusal was news
   */
  boolean slowDown(long now, long since) {
    if (isLimited() && since - refusedAt < 0) {
      return false;
    }
    advance(now);
    servedRate = Math.max(LEAST, servedInASecond());
    if (isLimited()) {
      servedRate = Math.max(servedRate, LEAST_KEPT * limit);
    }
    limit = KEPT * servedRate;
    refusals++;
    refusedAt = now;
    return true;
  }

  /** Whether the store has refused a request, so that there is a rate. */
  boolean isLimited() {
    return refusals > 0;
  }

  /** Takes the next turn, and says how many nanoseconds it is away. */
  long reserve(long now) {
    if (!isLimited()) {
      return 0;
    }
    if (next - now < 0) {
      next = now;
    }
    long wait = next - now;
    next += (long) (SECOND / limit);
    return wait;
  }

  private double servedInASecond() {
    long slots = Math.max(SLOTS_OF_A_SECOND, Math.min(SLOTS, slot - firstSlot + 1));
    return (double) Arrays.stream(served).sum() * SLOTS_OF_A_SECOND / slots;
  }

  private static int slot(long number) {
    return (int) Math.floorMod(number, (long) SLOTS);
  }

  /** Forgets what was served too long ago. */
  private void advance(long now) {
    long current = now / SLOT;
    long from = Math.max(slot + 1, current - SLOTS + 1);
    for (long passed = from; passed <= current; passed++) {
      served[slot(passed)] = 0;
    }
    slot = current;
  }
}
