// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import io.manifestcommitter.progress.CommitSnapshot;
import io.manifestcommitter.progress.Commits;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What it costs to watch a job commit of 100,000 files that are appended one by one: the CPU of a
 * thread that takes five snapshots a second, as the console bar does, beside that of the commit.
 *
 * <pre>
 * --rounds 3 --millis 10
 * </pre>
 *
 * <p>Fails unless the watcher saw the count go up, and the table holds the right data.
 */
public final class Watched {
  private static final long EVERY_MILLIS = 200;

  private Watched() {}

  /** Prints a table. */
  public static void main(String[] args) throws IOException {
    CommandLine options = new CommandLine(args, Map.of("rounds", "3", "millis", "10"));
    SparkRuntime.start();
    MarkdownTable table =
        new MarkdownTable(
            List.of("round", "job commit, s", "its CPU, s", "snapshots", "their CPU, ms", "share"));
    for (int round = 1; round <= Integer.parseInt(options.text("rounds")); round++) {
      table.row(row(round, Long.parseLong(options.text("millis"))));
    }
    System.out.print(table);
  }

  private static List<String> row(int round, long latencyMillis) throws IOException {
    String name = "watched-" + round;
    SimulatedStore store = SimulatedStore.named(name);
    store.latency(TimeUnit.MILLISECONDS.toNanos(latencyMillis));
    SparkBenchJob job =
        new SparkBenchJob(
            SparkContender.OURS, SparkWriteKind.APPEND, SparkBenchShape.WIDE.job(), name);
    Watcher watcher = new Watcher();
    TimeMeter time = new TimeMeter(store);
    Measurement commit =
        job.run(
                time,
                (phase, work) -> {
                  watcher.start();
                  try {
                    return time.measure(phase, work);
                  } finally {
                    watcher.end();
                  }
                })
            .get(2);
    String verdict = job.verdict();
    if (!verdict.isEmpty() || watcher.most.get() == 0) {
      throw new IllegalStateException("seen: " + watcher.most + "; the table: " + verdict);
    }
    SimulatedStore.forget(name);
    return List.of(
        Integer.toString(round),
        String.format(Locale.ROOT, "%.1f", commit.wallNanos() / 1e9),
        String.format(Locale.ROOT, "%.1f", commit.cpuNanos() / 1e9),
        Long.toString(watcher.looks.get()),
        String.format(Locale.ROOT, "%.1f", watcher.cpuNanos.get() / 1e6),
        String.format(Locale.ROOT, "%.2f %%", 100.0 * watcher.cpuNanos.get() / commit.cpuNanos()));
  }

  /** Takes snapshots until it is told that nothing is left to see. */
  private static final class Watcher {
    private final AtomicLong looks = new AtomicLong();
    private final AtomicLong most = new AtomicLong();
    private final AtomicLong cpuNanos = new AtomicLong();
    private Thread thread;

    void start() {
      thread = new Thread(this::watch, "watcher");
      thread.start();
    }

    void end() throws IOException {
      thread.interrupt();
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException(e);
      }
    }

    private void watch() {
      try {
        while (true) {
          for (CommitSnapshot commit : Commits.running()) {
            looks.incrementAndGet();
            most.accumulateAndGet(commit.done, Math::max);
          }
          TimeUnit.MILLISECONDS.sleep(EVERY_MILLIS);
        }
      } catch (InterruptedException e) {
        cpuNanos.set(ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime());
        Thread.currentThread().interrupt();
      }
    }
  }
}
