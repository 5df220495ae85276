// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.util.concurrent.TimeUnit;

/** Time, as a test may want to make it. */
interface Clock {
  /** The machine's. */
  Clock SYSTEM =
      new Clock() {
        @Override
        public long nanos() {
          return System.nanoTime();
        }

        @Override
        public void sleep(long nanos) throws InterruptedException {
          TimeUnit.NANOSECONDS.sleep(nanos);
        }
      };

  /** Nanoseconds since some moment. */
  long nanos();

  /** Waits. */
  void sleep(long nanos) throws InterruptedException;
}
