// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;

/** Measures wall time, and the CPU time of the whole process. */
final class TimeMeter implements Meter {
  private final SimulatedStore store;
  private final OperatingSystemMXBean process =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  TimeMeter(SimulatedStore store) {
    this.store = store;
  }

  @Override
  public Measurement measure(Phase phase, Work work) throws IOException {
    // The garbage of what came before is not this phase's to collect.
    System.gc();
    RequestCounts requests = store.requests();
    long cpu = process.getProcessCpuTime();
    long wall = System.nanoTime();
    work.run();
    return new Measurement(
        phase,
        store.requests().since(requests),
        System.nanoTime() - wall,
        process.getProcessCpuTime() - cpu,
        0);
  }
}
