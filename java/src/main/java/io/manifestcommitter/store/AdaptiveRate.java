package io.manifestcommitter.store;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * The rate of requests that a store was seen to serve. There is none until the store refuses a
 * request. Then all requests pause, and go on at a little less than what the store served in the
 * second before; they regain that rate, and go beyond it ever faster until the store refuses again.
 * So the rate follows a limit that nobody told us, and one that moves. Not safe for use by many
 * threads.
 */
final class AdaptiveRate {
  /** What is kept of the rate that the store served. */
  private static final double KEPT = 0.85;

  /** The whole of it is regained in this time. */
  private static final double REGAINED = TimeUnit.SECONDS.toNanos(2);

  /** From then on the rate doubles in this time. */
  private static final double DOUBLED = TimeUnit.SECONDS.toNanos(5);

  /** Fewer requests a second tell nothing of a store: it had hardly been asked yet. */
  private static final double LEAST = 10;

  /** So from there the rate doubles in this time. */
  private static final double DOUBLED_FROM_LEAST = TimeUnit.SECONDS.toNanos(1);

  private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(200);
  private static final int DOUBLINGS_OF_PAUSE = 6;

  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final int SLOTS = 10;
  private static final long SLOT = SECOND / SLOTS;

  private final int[] served = new int[SLOTS];
  private long slot;

  private boolean limited;
  private long refusedAt;
  private double servedRate;
  private long next;
  private int refusalsInARow;

  AdaptiveRate(long now) {
    this.slot = now / SLOT;
    this.next = now;
  }

  /** The store served a request. */
  void served(long now) {
    advance(now);
    served[(int) Math.floorMod(slot, (long) SLOTS)]++;
    refusalsInARow = 0;
  }

  /**
   * The store refused a request, or more than one at about the same time.
   *
   * @param since when the refused request was made; one made before the last refusal was known says
   *     nothing new
   * @return whether it was news
   */
  boolean refused(long now, long since) {
    if (limited && since - refusedAt < 0) {
      return false;
    }
    advance(now);
    servedRate = Math.max(LEAST, Arrays.stream(served).sum());
    limited = true;
    refusedAt = now;
    long pause = PAUSE << Math.min(refusalsInARow, DOUBLINGS_OF_PAUSE);
    refusalsInARow++;
    next = Math.max(next, now + pause);
    return true;
  }

  /** Requests a second that are let through now; infinite before the first refusal. */
  double limit(long now) {
    if (!limited) {
      return Double.POSITIVE_INFINITY;
    }
    double since = now - refusedAt;
    if (since < REGAINED) {
      return servedRate * (KEPT + (1 - KEPT) * since / REGAINED);
    }
    double doubled = servedRate > LEAST ? DOUBLED : DOUBLED_FROM_LEAST;
    return servedRate * Math.pow(2, (since - REGAINED) / doubled);
  }

  /** Takes the next turn, and says how many nanoseconds it is away. */
  long reserve(long now) {
    if (!limited) {
      return 0;
    }
    if (next - now < 0) {
      next = now;
    }
    long wait = next - now;
    next += (long) (SECOND / limit(now));
    return wait;
  }

  /** Forgets what was served more than a second ago. */
  private void advance(long now) {
    long current = now / SLOT;
    if (current - slot >= SLOTS) {
      Arrays.fill(served, 0);
    } else {
      for (long passed = slot + 1; passed <= current; passed++) {
        served[(int) Math.floorMod(passed, (long) SLOTS)] = 0;
      }
    }
    slot = current;
  }
}
