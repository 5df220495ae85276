// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * One measured job in a JVM of its own: {@code BenchRun <contender> <shape> <latency in ms> <what
 * to measure>}. Prints a line for each {@link Measurement}.
 */
public final class BenchRun {
  private static final JobShape WARM_UP = new JobShape(20, 10, 10, p -> "warm=" + p);

  /** How often the heap is looked at, for a committer that makes one request a file. */
  private static final int HEAP_SAMPLES = 100;

  /** What one run measures; to measure the heap takes time. */
  enum Subject {
    TIME,
    HEAP
  }

  private BenchRun() {}

  /** Runs the job. */
  public static void main(String[] args) throws IOException {
    Contender contender = Contender.valueOf(args[0]);
    JobShape shape = BenchShape.valueOf(args[1]).job();
    double latencyMillis = Double.parseDouble(args[2]);
    Subject subject = Subject.valueOf(args[3]);

    // A driver has loaded its classes long before a job commits.
    SimulatedStore warmUp = SimulatedStore.named("warm-up");
    new BenchJob(contender, WARM_UP, "warm-up").run(new TimeMeter(warmUp));

    SimulatedStore store = SimulatedStore.named("measured");
    store.latency((long) (latencyMillis * TimeUnit.MILLISECONDS.toNanos(1)));
    Meter meter =
        subject == Subject.TIME
            ? new TimeMeter(store)
            : new HeapMeter(store, Math.max(1, shape.files() / HEAP_SAMPLES));
    for (Measurement measurement : new BenchJob(contender, shape, "measured").run(meter)) {
      System.out.println(measurement.toLine());
    }
  }
}
