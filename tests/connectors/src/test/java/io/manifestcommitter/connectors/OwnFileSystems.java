// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors;

import java.io.IOException;
import java.security.PrivilegedExceptionAction;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.security.UserGroupInformation;

/**
 * Runs something with filesystems that nobody else uses, as settings that are read when a
 * filesystem is opened need it: as a user of its own, whose filesystems are closed afterwards.
 */
final class OwnFileSystems {
  private static final AtomicInteger USERS = new AtomicInteger();

  private OwnFileSystems() {}

  /** What {@code action} gives or throws. */
  static <T> T run(PrivilegedExceptionAction<T> action) throws IOException, InterruptedException {
    UserGroupInformation user =
        UserGroupInformation.createUserForTesting(
            "user-" + USERS.incrementAndGet(), new String[] {"users"});
    try {
      return user.doAs(action);
    } finally {
      FileSystem.closeAllForUGI(user);
    }
  }
}
