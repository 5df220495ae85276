// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import java.util.BitSet;

/**
 * Which files of a plan a commit has made, or may have made, visible: by their position in the
 * plan, two bits a file. Safe for use by many threads.
 */
final class Published {
  private final BitSet begun = new BitSet();
  private final BitSet done = new BitSet();
  private volatile boolean recovered;

  /** A rename is about to be asked for: from here on the file may be at either end. */
  synchronized void begin(int file) {
    begun.set(file);
  }

  /** The rename is proven. */
  synchronized void done(int file) {
    done.set(file);
  }

  /** A rename was denied or not answered, and is proven: by this try, or by an earlier one. */
  void recovered() {
    recovered = true;
  }

  /** Whether there was one such rename at least. */
  boolean hasRecovered() {
    return recovered;
  }

  /** Whether the file may be at either end. */
  synchronized boolean isUncertain(int file) {
    return begun.get(file) && !done.get(file);
  }

  /** Whether the file is at its destination. */
  synchronized boolean isDone(int file) {
    return done.get(file);
  }
}
