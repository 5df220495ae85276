// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.progress;

import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How far one piece of work has come that consists of many like ones; says so in the log every ten
 * seconds. Safe for use by many threads.
 */
public final class WorkCount implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WorkCount.class);
  private static final long INTERVAL = TimeUnit.SECONDS.toNanos(10);

  private final String step;
  private final long total;
  private final Consumer<WorkCount> listener;
  private final long start;
  private final AtomicLong done = new AtomicLong();
  private final AtomicLong next;

  WorkCount(String step, long total, Consumer<WorkCount> listener) {
    this.step = step;
    this.total = total;
    this.listener = listener;
    this.start = System.nanoTime();
    this.next = new AtomicLong(start + INTERVAL);
  }

  /** One more is done. */
  public void tick() {
    long count = done.incrementAndGet();
    long now = System.nanoTime();
    long due = next.get();
    if (now - due >= 0 && next.compareAndSet(due, now + INTERVAL)) {
      LOG.info("{}", line(count, now - start));
    }
  }

  /** The work has ended, well or not. */
  @Override
  public void close() {
    listener.accept(this);
  }

  long done() {
    return done.get();
  }

  long total() {
    return total;
  }

  /** For how long it has been under way, in nanoseconds. */
  long nanos() {
    return System.nanoTime() - start;
  }

  /** What is said after {@code nanos}. */
  String line(long count, long nanos) {
    double seconds = nanos / (double) TimeUnit.SECONDS.toNanos(1);
    double rate = count / seconds;
    return String.format(
        Locale.ROOT,
        "%s: %,d of %,d, %,.0f a second, about %,.0f s left",
        step,
        count,
        total,
        rate,
        (total - count) / rate);
  }
}
