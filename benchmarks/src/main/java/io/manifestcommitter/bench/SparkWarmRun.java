// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.io.IOException;
import org.apache.hadoop.fs.FileSystem;

/**
 * One Spark write again and again in a JVM of its own, as a driver that lives long makes them:
 * {@code SparkWarmRun <contender> <write> <shape> <how often>}, without latency. Prints the {@link
 * Measurement} of each job commit, in order, and a line that begins with {@link
 * SparkBenchRun#WRONG} if a table is then not what was written.
 */
public final class SparkWarmRun {
  private SparkWarmRun() {}

  /** Runs the writes. */
  public static void main(String[] args) throws IOException {
    SparkContender contender = SparkContender.valueOf(args[0]);
    SparkWriteKind kind = SparkWriteKind.valueOf(args[1]);
    JobShape shape = SparkBenchShape.valueOf(args[2]).job();
    int times = Integer.parseInt(args[3]);

    SparkRuntime.start();
    SparkBenchRun.warmUp(contender, kind);
    for (int i = 1; i <= times; i++) {
      String name = "round-" + i;
      Meter meter = new TimeMeter(SimulatedStore.named(name));
      SparkBenchJob job = new SparkBenchJob(contender, kind, shape, name);
      for (Measurement measurement : job.run(meter, meter)) {
        if (measurement.phase() == Phase.JOB_COMMIT) {
          System.out.println(measurement.toLine());
        }
      }
      String verdict = job.verdict();
      if (!verdict.isEmpty()) {
        System.out.println(SparkBenchRun.WRONG + verdict);
      }
      // Each table begins with a heap that has no other.
      SimulatedStore.forget(name);
      FileSystem.closeAll();
    }
  }
}
