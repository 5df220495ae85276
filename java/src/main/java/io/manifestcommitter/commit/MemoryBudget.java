// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

/**
 * Limits how much is in memory at once: who wants more than is left, waits. One that is larger than
 * the whole budget is let through when it is alone.
 */
final class MemoryBudget {
  private long total;
  private long used;

  /** A budget of so many bytes. */
  MemoryBudget(long total) {
    this.total = total;
  }

  /** Waits until there is room. An interrupt is remembered for when the wait is over. */
  synchronized void take(long bytes) {
    boolean interrupted = false;
    while (used > 0 && used + bytes > total) {
      try {
        wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    used += bytes;
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Releases room. */
  synchronized void release(long bytes) {
    used -= bytes;
    notifyAll();
  }

  /** Lets everybody through: what is in memory will not be released any more. */
  synchronized void lift() {
    total = Long.MAX_VALUE;
    used = 0;
    notifyAll();
  }
}
