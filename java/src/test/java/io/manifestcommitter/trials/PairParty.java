// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.testing.Failures;
import java.io.IOException;

/** One of the two who work on a table at the same time, each in a thread of its own. */
abstract class PairParty {
  private final String name;
  private final String jobId;
  private volatile boolean isOver;
  private volatile Exception failure;

  /**
   * A party.
   *
   * @param jobId of the job whose staging directory it keeps alive; empty if of none
   */
  PairParty(String name, String jobId) {
    this.name = name;
    this.jobId = jobId;
  }

  /** By which the store knows it, and its rows are told from those of others. */
  final String name() {
    return name;
  }

  final String jobId() {
    return jobId;
  }

  /** All that it does. */
  abstract void act() throws IOException;

  final void run() {
    try {
      act();
    } catch (IOException | RuntimeException e) {
      failure = e;
    } finally {
      isOver = true;
    }
  }

  /** Whether it makes no more requests. */
  final boolean isOver() {
    return isOver;
  }

  /** Whether it came to its end, and said so. */
  final boolean hasEnded() {
    return isOver && failure == null;
  }

  /** What it failed with, with all that is suppressed in it; empty if it did not. */
  final String failure() {
    Exception with = failure;
    return with == null
        ? ""
        : Failures.of(
            () -> {
              if (with instanceof RuntimeException) {
                throw (RuntimeException) with;
              }
              throw (IOException) with;
            });
  }
}
