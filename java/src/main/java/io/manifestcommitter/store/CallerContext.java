// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.PrivilegedAction;
import org.apache.hadoop.security.UserGroupInformation;

/**
 * What a thread of the committer takes over from the caller that it works for: the user on whose
 * behalf filesystems are opened, and the class loader. The caller makes one, since a thread
 * inherits no user from Java 24 on (JEP 486).
 */
public final class CallerContext {
  private final UserGroupInformation user = user();
  private final ClassLoader loader = Thread.currentThread().getContextClassLoader();

  /**
   * The user of this thread.
   *
   * @throws UncheckedIOException if Hadoop cannot tell it
   */
  static UserGroupInformation user() {
    try {
      return UserGroupInformation.getCurrentUser();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A daemon thread that does {@code work} for the caller; not started. */
  public Thread thread(String name, Runnable work) {
    PrivilegedAction<Void> action =
        () -> {
          work.run();
          return null;
        };
    Thread thread = new Thread(() -> user.doAs(action), name);
    thread.setDaemon(true);
    thread.setContextClassLoader(loader);
    return thread;
  }
}
