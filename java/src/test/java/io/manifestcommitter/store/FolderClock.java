// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.util.concurrent.atomic.AtomicLong;

/** The time between two looks at the rename of a folder in memory, where nobody need wait. */
public final class FolderClock implements RequestGate.Clock {
  private final AtomicLong now = new AtomicLong();

  private FolderClock() {}

  /** Folders are looked at again without a pause from now on, in this process. */
  public static void passWithoutPauses() {
    GcsFolders.keepTimeBy(new FolderClock());
  }

  @Override
  public long nanos() {
    return now.get();
  }

  @Override
  public void sleep(long nanos) {
    now.addAndGet(nanos);
  }
}
