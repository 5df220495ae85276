// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.util.functional.CallableRaisingIOE;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All requests of one committer pass here. The gate limits how many are under way at once. That is
 * at first a quarter of what is allowed, more while the store keeps its pace, half as many after a
 * failure. It also limits requests per second: to what the user allows ({@code io.rate}), and from
 * the first refusal (429, 503) on to what the store was seen to serve.
 *
 * <p>A refused request is retried, and slows down all others, for a bounded time ({@code
 * throttle.timeout}). If the store serves nothing in that time, each request from there on has one
 * try, until one is served.
 *
 * <p>Safe for use by many threads. A request must not make another one inside: both would need a
 * place.
 */
public final class RequestGate {
  private static final Logger LOG = LoggerFactory.getLogger(RequestGate.class);

  private static final int FIRST_SHARE = 4;
  private static final double MORE_WITH_EACH = 1.0 / 8;

  /** In milliseconds. */
  private static final long URGENT_PATIENCE = TimeUnit.SECONDS.toMillis(10);

  private static final long SLICE = TimeUnit.SECONDS.toNanos(1);

  /** Refusals that a driver counted were met about this long ago. */
  private static final long HIDDEN_FOR = TimeUnit.MILLISECONDS.toNanos(500);

  private static final int STEADY_FACTOR = 2;
  private static final double WEIGHT = 1.0 / 16;

  private final int mostAtOnce;
  private final long patience;
  private final Runnable progress;
  private final Clock clock;
  private final Turns userTurns;

  /** Between two requests that the user allows, in nanoseconds; 0 for no limit. */
  private final long userInterval;

  private final AdaptiveRate storeRate;
  private volatile StatisticsRecorder statistics = new StatisticsRecorder();

  private int underWay;
  private double atOnce;
  private double usualNanos;
  private boolean told;

  /** Whether the store has served nothing since it refused a request, and since when. */
  private boolean refusing;

  private long refusingSince;

  /**
   * A gate.
   *
   * @param perSecond how many requests a second the user allows; 0 for any number
   * @param mostAtOnce how many may ever be under way at once
   * @param patience how long a request that the store refuses is retried, in milliseconds
   * @param progress called about once a second while a request waits
   */
  public RequestGate(int perSecond, int mostAtOnce, long patience, Runnable progress) {
    this(perSecond, mostAtOnce, patience, progress, Clock.SYSTEM);
  }

  RequestGate(int perSecond, int mostAtOnce, long patience, Runnable progress, Clock clock) {
    this.mostAtOnce = mostAtOnce;
    this.atOnce = Math.max(1, mostAtOnce / FIRST_SHARE);
    this.patience = TimeUnit.MILLISECONDS.toNanos(patience);
    this.progress = Objects.requireNonNull(progress);
    this.clock = Objects.requireNonNull(clock);
    this.userTurns = new Turns(clock.nanos());
    this.userInterval = perSecond == 0 ? 0 : TimeUnit.SECONDS.toNanos(1) / perSecond;
    this.storeRate = new AdaptiveRate(clock.nanos());
  }

  /** A gate for a few requests: without a limit, and a refused one is not retried. */
  public static RequestGate open() {
    return new RequestGate(0, Integer.MAX_VALUE, 0, () -> {});
  }

  /** A gate for few requests that must not wait for any limit; a refused one is retried. */
  public static RequestGate urgent() {
    return new RequestGate(0, Integer.MAX_VALUE, URGENT_PATIENCE, () -> {});
  }

  /**
   * From here on counts the requests by kind, what had to wait for the user's limit, and what the
   * store refused.
   */
  public void recordTo(StatisticsRecorder recorder) {
    statistics = Objects.requireNonNull(recorder);
  }

  /**
   * Makes one request, again while the store refuses it.
   *
   * @param subject names it in an error
   * @param request may be made any number of times
   * @throws StoreRefusedException if the store refused it for too long
   */
  public <T> T pass(RequestKind kind, Object subject, CallableRaisingIOE<T> request)
      throws IOException {
    return repeat(kind, subject, request, true);
  }

  /** As {@link #pass}, for requests that take long by themselves. */
  public <T> T passLong(RequestKind kind, Object subject, CallableRaisingIOE<T> request)
      throws IOException {
    return repeat(kind, subject, request, false);
  }

  /**
   * The store's driver met refusals that no request showed, because it makes refused requests again
   * by itself.
   *
   * @param refusals how many since it was last asked
   */
  void hidden(long refusals) {
    if (refusals > 0) {
      statistics.count(StatisticNames.STORE_IO_THROTTLED, refusals);
      synchronized (this) {
        long now = clock.nanos();
        storeRate.slowDown(now, now - HIDDEN_FOR);
        tell();
      }
    }
  }

  private <T> T repeat(
      RequestKind kind, Object subject, CallableRaisingIOE<T> request, boolean isShort)
      throws IOException {
    long first = clock.nanos();
    while (true) {
      enter();
      statistics.increment(kind.statistic);
      long begun = clock.nanos();
      try {
        T answer = request.apply();
        served(begun, isShort);
        return answer;
      } catch (IOException e) {
        if (!DriverCall.isRefusal(e)) {
          failed(e);
          throw e;
        }
        statistics.increment(StatisticNames.STORE_IO_THROTTLED);
        long refusedFor = refused(begun, first);
        if (refusedFor >= patience) {
          throw givenUp(kind.of(subject), refusedFor, e);
        }
        LOG.debug("The store refused {}; it is retried", kind.of(subject), e);
      } finally {
        leave();
      }
    }
  }

  private IOException givenUp(String what, long nanos, IOException cause) {
    return patience == 0
        ? cause
        : new StoreRefusedException(
            "The store refused "
                + what
                + " for "
                + TimeUnit.NANOSECONDS.toSeconds(nanos)
                + " s: it serves fewer requests than its users make ("
                + cause
                + "). Run fewer jobs at once on this account, raise its limit, or set a longer"
                + " mapreduce.manifest.committer.throttle.timeout",
            cause);
  }

  private void enter() throws InterruptedIOException {
    long byUser;
    long byStore;
    try {
      synchronized (this) {
        while (underWay >= allowedAtOnce()) {
          TimeUnit.NANOSECONDS.timedWait(this, SLICE);
          progress.run();
        }
        underWay++;
        long now = clock.nanos();
        byUser = userInterval == 0 ? 0 : userTurns.take(now, userInterval);
        byStore = isExhausted(now) ? 0 : Math.min(patience, storeRate.reserve(now));
      }
    } catch (InterruptedException e) {
      throw interrupted();
    }
    try {
      sleep(Math.max(byUser, byStore));
    } catch (InterruptedException e) {
      leave();
      throw interrupted();
    }
    if (byUser > 0) {
      statistics.increment(StatisticNames.STORE_IO_RATE_LIMITED);
      statistics.sample(
          StatisticNames.STORE_IO_RATE_LIMITED, TimeUnit.NANOSECONDS.toMillis(byUser));
    }
  }

  /** Where there is a rate it rules: requests that wait inside their driver hold their places. */
  private int allowedAtOnce() {
    return storeRate.isLimited() ? mostAtOnce : (int) atOnce;
  }

  private static InterruptedIOException interrupted() {
    Thread.currentThread().interrupt();
    return new InterruptedIOException("Interrupted while waiting for the limit on requests");
  }

  private void sleep(long nanos) throws InterruptedException {
    for (long left = nanos; left > 0; left -= SLICE) {
      clock.sleep(Math.min(left, SLICE));
      progress.run();
    }
  }

  private synchronized void leave() {
    underWay--;
    notifyAll();
  }

  private synchronized void served(long begun, boolean isShort) {
    long now = clock.nanos();
    storeRate.served(now);
    refusing = false;
    if (isShort) {
      learn((double) (now - begun));
    }
  }

  private synchronized void failed(IOException e) {
    if (!(e instanceof FileNotFoundException || e instanceof FileAlreadyExistsException)) {
      atOnce = Math.max(1, atOnce / 2);
    }
  }

  /** More at once while a short request takes about the usual time. */
  private void learn(double nanos) {
    if (usualNanos == 0) {
      usualNanos = nanos;
    }
    if (nanos <= STEADY_FACTOR * usualNanos) {
      atOnce = Math.min(mostAtOnce, atOnce + MORE_WITH_EACH);
    }
    usualNanos += WEIGHT * (nanos - usualNanos);
  }

  /**
   * Slows down.
   *
   * @param begun when the refused request was made
   * @param first when it was made for the first time
   * @return for how many nanoseconds that request has been refused by now, or all of them,
   *     whichever is longer
   */
  private synchronized long refused(long begun, long first) {
    long now = clock.nanos();
    storeRate.refused(now, begun);
    if (!refusing) {
      refusing = true;
      refusingSince = begun;
    }
    tell();
    return now - Math.min(first, refusingSince);
  }

  /**
   * Whether the store has refused everything for so long that nothing is waited for any more: each
   * request that still has to be tried gets one try.
   */
  private boolean isExhausted(long now) {
    return refusing && now - refusingSince >= patience;
  }

  private void tell() {
    notifyAll();
    if (!told) {
      told = true;
      LOG.info("The store asks for fewer requests; from here on their rate follows its answers");
    }
  }

  /** The turns of requests, spread evenly over time. Not safe for use by many threads. */
  private static final class Turns {
    private long next;

    Turns(long now) {
      this.next = now;
    }

    /** Takes the next turn, and says how many nanoseconds it is away. */
    long take(long now, long interval) {
      if (next - now < 0) {
        next = now;
      }
      long wait = next - now;
      next += interval;
      return wait;
    }

    void pauseUntil(long time) {
      next = Math.max(next, time);
    }
  }

  /** Time, as a test may want to make it. */
  interface Clock {
    /** The machine's. */
    Clock SYSTEM = new Clock() {};

    /** Nanoseconds since some moment. */
    default long nanos() {
      return System.nanoTime();
    }

    /** Waits. */
    default void sleep(long nanos) throws InterruptedException {
      TimeUnit.NANOSECONDS.sleep(nanos);
    }
  }

  /**
   * A store refused a request for longer than the committer was to wait. Nothing was done by it.
   */
  static final class StoreRefusedException extends IOException {
    private static final long serialVersionUID = 1L;

    StoreRefusedException(String message, IOException cause) {
      super(message, cause);
    }
  }

  /**
   * The rate of requests that a store was seen to serve. There is none until the store refuses a
   * request. Then requests go on at a little less than what the store served in the seconds before.
   * With every request that is served the rate grows, slowly up to what was served and then faster,
   * until the store refuses again. So it follows a limit that nobody told us, and one that moves;
   * while no requests are made it stays. Not safe for use by many threads.
   */
  private static final class AdaptiveRate {
    /** What is kept of the rate that the store served. */
    private static final double KEPT = 0.85;

    /** The whole of it is regained in so many seconds of requests. */
    private static final double REGAINED = 2;

    /** From then on the rate doubles in so many seconds of requests. */
    private static final double DOUBLED = 5;

    /**
     * So fast after the first refusal, which may have met a burst of requests after few of them.
     */
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
    private final Turns turns;
    private int refusalsInARow;

    AdaptiveRate(long now) {
      this.firstSlot = now / SLOT;
      this.slot = firstSlot;
      this.turns = new Turns(now);
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
     * The store refused a request, or more than one at about the same time: all pause, and go on
     * more slowly.
     *
     * @param since when the refused request was made; one made before the last refusal was known
     *     says nothing new
     */
    void refused(long now, long since) {
      if (slowDown(now, since)) {
        long pause = PAUSE << Math.min(refusalsInARow, DOUBLINGS_OF_PAUSE);
        refusalsInARow++;
        turns.pauseUntil(now + pause);
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
      return isLimited() ? turns.take(now, (long) (SECOND / limit)) : 0;
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
}
