// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test after which a heartbeat goes on. That would be written into the store of a later
 * test, whose dead job of the same id would then seem to live.
 */
public final class NoHeartbeatLeft implements BeforeEachCallback, AfterEachCallback {
  private final Set<Thread> before = new HashSet<>();

  @Override
  public void beforeEach(ExtensionContext test) {
    before.clear();
    before.addAll(beating());
  }

  @Override
  public void afterEach(ExtensionContext test) throws InterruptedException {
    Set<Thread> left = beating();
    left.removeAll(before);
    for (Thread thread : left) {
      // The thread of one that is closed is about to end.
      thread.join(TimeUnit.SECONDS.toMillis(10));
    }
    left.removeIf(thread -> !thread.isAlive());
    assertThat(left).as("heartbeats that nobody ended").isEmpty();
  }

  private static Set<Thread> beating() {
    Set<Thread> threads = new HashSet<>(Thread.getAllStackTraces().keySet());
    threads.removeIf(thread -> !thread.getName().equals("manifest-committer-heartbeat"));
    return threads;
  }
}
