package io.manifestcommitter.commit;

import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says in the log how far a long step has come, every ten seconds: counts, rate, time left. Safe
 * for use by many threads.
 */
final class ProgressLog {
  private static final Logger LOG = LoggerFactory.getLogger(ProgressLog.class);
  private static final long INTERVAL = TimeUnit.SECONDS.toNanos(10);

  private final String step;
  private final long total;
  private final long start;
  private final AtomicLong done = new AtomicLong();
  private final AtomicLong next;

  /** The progress of a step that has {@code total} things to do. */
  ProgressLog(String step, long total) {
    this.step = step;
    this.total = total;
    this.start = System.nanoTime();
    this.next = new AtomicLong(start + INTERVAL);
  }

  /** One more is done. */
  void tick() {
    long count = done.incrementAndGet();
    long now = System.nanoTime();
    long due = next.get();
    if (now - due >= 0 && next.compareAndSet(due, now + INTERVAL)) {
      LOG.info("{}", line(count, now - start));
    }
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
