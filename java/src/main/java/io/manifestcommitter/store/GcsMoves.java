// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.lang.reflect.Method;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether Google's connector renames a file by the move of one object, as its own options say:
 * {@code fs.gs.operation.move.enable}, whose default differs between releases. By reflection,
 * because older releases, and Hadoop's connector, do not have it: they copy and delete.
 */
final class GcsMoves {
  private static final Logger LOG = LoggerFactory.getLogger(GcsMoves.class);

  /** The connector's option. */
  private static final String OPTION = "fs.gs.operation.move.enable";

  private GcsMoves() {}

  /** Whether a user says that the store has none; not where nothing is set. */
  static boolean areSwitchedOff(Configuration conf) {
    return conf.getTrimmed(OPTION, "").equalsIgnoreCase("false");
  }

  /** Why a store without moves is not asked directly, and what to do. */
  static String refusal() {
    return OPTION
        + " is false, so its server may not know moves, and each rename would fail. If it knows them,"
        + " as Google's does, remove the setting or set it to true. For a server that does not, such"
        + " as fake-gcs-server, set "
        + GcsRequests.OPTION
        + " to filesystem and add gs to "
        + StoreFamily.ATOMIC_RENAME_SCHEMES
        + ".";
  }

  /** Why a connector that does not move objects is not served, and what to do. */
  static String refusalOfCopies() {
    return "its connector renames a file by copying and deleting it, so a driver that dies would leave"
        + " both. Use a release of Google's connector that moves objects, with "
        + OPTION
        + " as true, or set "
        + GcsRequests.OPTION
        + " to direct. To try the committer on a server without moves, add gs to "
        + StoreFamily.ATOMIC_RENAME_SCHEMES
        + ".";
  }

  /** Makes no request. In doubt no. */
  static boolean areUsedBy(FileSystem fs) {
    try {
      Object options = fs;
      Class<?> type = fs.getClass();
      for (String name : new String[] {"getGcsFs", "getOptions", "getCloudStorageOptions"}) {
        Method method = type.getMethod(name);
        options = method.invoke(options);
        // The declared one: that of the object may not be public.
        type = method.getReturnType();
      }
      return Boolean.TRUE.equals(type.getMethod("isMoveOperationEnabled").invoke(options));
    } catch (ReflectiveOperationException | RuntimeException e) {
      LOG.debug("{} does not say whether it moves objects: it may copy them", fs.getUri(), e);
      return false;
    }
  }
}
