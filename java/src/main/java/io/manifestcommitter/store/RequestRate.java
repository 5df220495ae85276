package io.manifestcommitter.store;

import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import java.io.InterruptedIOException;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * Spreads the requests of one committer evenly over time, so that a store's limit on requests is
 * not met in bursts ({@code io.rate}). Safe for use by many threads.
 */
public final class RequestRate {
  private final long interval;
  private final Clock clock;
  private long next;
  private volatile StatisticsRecorder statistics = new StatisticsRecorder();

  /**
   * A limit.
   *
   * @param perSecond how many requests a second are let through; 0 for any number
   */
  public RequestRate(int perSecond) {
    this(perSecond, new SystemClock());
  }

  RequestRate(int perSecond, Clock clock) {
    this.interval = perSecond == 0 ? 0 : TimeUnit.SECONDS.toNanos(1) / perSecond;
    this.clock = Objects.requireNonNull(clock);
    this.next = clock.nanos();
  }

  /** Any number of requests. */
  public static RequestRate unlimited() {
    return new RequestRate(0);
  }

  /** From here on counts and times, in milliseconds, the requests that had to wait. */
  public void recordTo(StatisticsRecorder recorder) {
    statistics = Objects.requireNonNull(recorder);
  }

  /**
   * Waits for the turn of one more request.
   *
   * @throws InterruptedIOException if the thread is interrupted meanwhile; the request is not to be
   *     made
   */
  void await() throws InterruptedIOException {
    if (interval == 0) {
      return;
    }
    long wait = reserve();
    if (wait <= 0) {
      return;
    }
    try {
      clock.sleep(wait);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("Interrupted while waiting for the limit on requests");
    }
    statistics.increment(StatisticNames.STORE_IO_RATE_LIMITED);
    statistics.sample(StatisticNames.STORE_IO_RATE_LIMITED, TimeUnit.NANOSECONDS.toMillis(wait));
  }

  /** Takes the next turn, and says how many nanoseconds it is away. */
  private synchronized long reserve() {
    long now = clock.nanos();
    if (next - now < 0) {
      next = now;
    }
    long wait = next - now;
    next += interval;
    return wait;
  }

  /** Time, as a test may want to make it. */
  interface Clock {
    long nanos();

    void sleep(long nanos) throws InterruptedException;
  }

  private static final class SystemClock implements Clock {
    @Override
    public long nanos() {
      return System.nanoTime();
    }

    @Override
    public void sleep(long nanos) throws InterruptedException {
      TimeUnit.NANOSECONDS.sleep(nanos);
    }
  }
}
