// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * One measured Spark write in a JVM of its own: {@code SparkBenchRun <contender> <write> <shape>
 * <latency in ms> <what to measure>}. Prints a line for each {@link Measurement}, and one that
 * begins with {@link #WRONG} if the table is then not what was written.
 */
public final class SparkBenchRun {
  static final String WRONG = "wrong: ";
  private static final JobShape WARM_UP = new JobShape(20, 10, 10, p -> "warm=" + p);

  /** How often the heap is looked at, for a committer that makes one request a file. */
  private static final int HEAP_SAMPLES = 25;

  private SparkBenchRun() {}

  /** Runs the write. */
  public static void main(String[] args) throws IOException {
    SparkContender contender = SparkContender.valueOf(args[0]);
    SparkWriteKind kind = SparkWriteKind.valueOf(args[1]);
    JobShape shape = SparkBenchShape.valueOf(args[2]).job();
    double latencyMillis = Double.parseDouble(args[3]);
    BenchRun.Subject subject = BenchRun.Subject.valueOf(args[4]);

    SparkRuntime.start();
    warmUp(contender, kind);

    SimulatedStore store = SimulatedStore.named("measured");
    store.latency((long) (latencyMillis * TimeUnit.MILLISECONDS.toNanos(1)));
    Meter time = new TimeMeter(store);
    Meter meter =
        subject == BenchRun.Subject.TIME
            ? time
            : new HeapMeter(store, Math.max(1, shape.files() / HEAP_SAMPLES));
    SparkBenchJob job = new SparkBenchJob(contender, kind, shape, "measured");
    for (Measurement measurement : job.run(time, meter)) {
      System.out.println(measurement.toLine());
    }
    String verdict = job.verdict();
    if (!verdict.isEmpty()) {
      System.out.println(WRONG + verdict);
    }
  }

  /** A small write first: a driver has loaded its classes long before a job commits. */
  static void warmUp(SparkContender contender, SparkWriteKind kind) throws IOException {
    Meter unread = new TimeMeter(SimulatedStore.named("warm-up"));
    new SparkBenchJob(contender, kind, WARM_UP, "warm-up").run(unread, unread);
  }
}
