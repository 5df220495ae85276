// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Locale;

/** Prints what a commit cost that runs in a JVM with little heap, and what is wrong after it. */
final class ScaleMeter {
  private ScaleMeter() {}

  /** Measures it. */
  static void measure(String what, int files, RequestCounter counter, Meter.Work commit)
      throws IOException {
    OperatingSystemMXBean process =
        ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    HeapWatch heap = new HeapWatch();
    heap.start();
    RequestCounts before = counter.counts();
    long cpu = process.getProcessCpuTime();
    long wall = System.nanoTime();
    commit.run();
    double seconds = (System.nanoTime() - wall) / 1e9;
    RequestCounts requests = counter.counts().since(before);
    System.out.printf(
        Locale.ROOT,
        "Committed %s in %.1f s (%,.0f files/s), CPU %.1f s, heap at most %.0f MiB after a"
            + " collection, of %.0f MiB.%n",
        what,
        seconds,
        files / seconds,
        (process.getProcessCpuTime() - cpu) / 1e9,
        mebibytes(heap.mostLeft()),
        mebibytes(Runtime.getRuntime().maxMemory()));
    System.out.printf(Locale.ROOT, "Requests: %,d: %s.%n", requests.all(), requests);
  }

  /** Ends the JVM with exit code 1 if there are faults. */
  static void tell(Faults faults, String right) {
    faults.first().forEach(fault -> System.out.println("WRONG: " + fault));
    if (faults.count() > 0) {
      System.out.printf(Locale.ROOT, "WRONG: %,d times in all%n", faults.count());
      System.exit(1);
    }
    System.out.println("Checked: " + right);
  }

  static double mebibytes(long bytes) {
    return bytes / (double) (1 << 20);
  }
}
