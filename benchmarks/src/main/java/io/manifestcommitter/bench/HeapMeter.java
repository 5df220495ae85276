// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures how much of the heap is live: while the work runs, all garbage is collected again and
 * again, and what each collection left is noted; in one request of so many, and by a thread of its
 * own for what happens between requests. What was live before the work (the store) is subtracted.
 * The work is slowed down by this, so its time means nothing.
 */
final class HeapMeter implements Meter {
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /** The time between two looks, in times that one takes. */
  private static final long SHARE = 4;

  private final SimulatedStore store;
  private final long interval;

  /** A meter that looks in every {@code interval}-th request to {@code store}. */
  HeapMeter(SimulatedStore store, long interval) {
    this.store = store;
    this.interval = interval;
  }

  @Override
  public Measurement measure(Phase phase, Work work) throws IOException {
    RequestCounts requests = store.requests();
    long before = settled();
    AtomicLong peak = new AtomicLong(before);
    Sampler sampler = new Sampler(peak);
    store.watch(interval, () -> peak.accumulateAndGet(live(), Math::max));
    sampler.start();
    try {
      work.run();
    } finally {
      sampler.finish();
      store.watch(Long.MAX_VALUE, () -> {});
    }
    return new Measurement(phase, store.requests().since(requests), 0, 0, peak.get() - before);
  }

  /** What is live once collecting frees no more: some things take several collections to go. */
  private static long settled() {
    long least = live();
    for (long next = live(); next < least; next = live()) {
      least = next;
    }
    return least;
  }

  /** The bytes that are left after a full collection. */
  private static synchronized long live() {
    System.gc();
    long bytes = 0;
    for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
      MemoryUsage left = pool.getType() == MemoryType.HEAP ? pool.getCollectionUsage() : null;
      bytes += left == null ? 0 : left.getUsed();
    }
    return bytes;
  }

  private static final class Sampler extends Thread {
    private final AtomicLong peak;
    private volatile boolean finished;

    Sampler(AtomicLong peak) {
      super("heap-sampler");
      this.peak = peak;
      setDaemon(true);
    }

    @Override
    public void run() {
      while (!finished) {
        long start = System.nanoTime();
        peak.accumulateAndGet(live(), Math::max);
        // Collecting a large heap again and again would leave no time for the work.
        LockSupport.parkNanos(Math.max(PAUSE_NANOS, SHARE * (System.nanoTime() - start)));
      }
    }

    void finish() throws IOException {
      finished = true;
      try {
        join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted while the heap was measured", e);
      }
    }
  }
}
