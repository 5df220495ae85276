// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import io.manifestcommitter.jobs.Pause;
import io.manifestcommitter.progress.CommitProgress.Waiting;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** A process whose clock goes on by two seconds with each wait, or another time, and else not. */
public final class PassingTime implements Pause {
  private static final int STEP = 2;

  private final Pause meanwhile;
  private final long step;
  private long nanos;

  /**
   * A clock.
   *
   * @param meanwhile what happens while the process waits
   */
  public PassingTime(Pause meanwhile) {
    this(meanwhile, STEP);
  }

  /** As above, by so many seconds. */
  public PassingTime(Pause meanwhile, int step) {
    this.meanwhile = meanwhile;
    this.step = TimeUnit.SECONDS.toNanos(step);
  }

  /** A clock, while which nothing happens. */
  public PassingTime() {
    this(waiting -> {});
  }

  @Override
  public void pause(Waiting forWhat) throws IOException {
    meanwhile.pause(forWhat);
    nanos += step;
  }

  @Override
  public long nanos() {
    return nanos;
  }
}
