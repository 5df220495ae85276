// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import java.io.IOException;
import java.util.List;

/** The driver's side of one write, behind the class that Spark calls. */
interface WriteJob {
  /** Makes what tasks write to. If that fails it leaves nothing. */
  void setUp() throws IOException;

  /** Whether there was no table before; known from {@link #setUp} on. */
  boolean madeTable();

  /**
   * Notes that Spark says an attempt has committed: if the job is aborted, its uploads are aborted.
   *
   * @param message its commit message
   */
  void taskCommitted(Object message);

  /**
   * Publishes what the messages name, or nothing.
   *
   * @param messages the commit messages of the attempts that Spark says committed
   */
  void commit(List<?> messages) throws IOException;

  /** Whether it has committed, and nothing is visible before somebody publishes it. */
  boolean isHeld();

  /** Removes what the job made, unless it committed. Never throws: Spark would lose the cause. */
  void abort();
}
