// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.layout.StagingRoot;
import java.io.IOException;

/**
 * Symbolic links in the staging directories of a local disk. No job makes one there, so whoever did
 * wants another place to be read, written or deleted: none is followed from the staging directory
 * on. Links elsewhere are the user's own.
 *
 * <p>Looks first and acts then; who may write to a table can be quicker.
 */
final class StagedLinks {
  private StagedLinks() {}

  /**
   * Requires that no link has to be followed to what a path names.
   *
   * @throws IOException if there is one; it names it
   */
  static void refuse(org.apache.hadoop.fs.Path path) throws IOException {
    refuse(path, /* last= */ true);
  }

  /** As {@link #refuse(org.apache.hadoop.fs.Path)}; the path itself may be a link. */
  static void refuseAbove(org.apache.hadoop.fs.Path path) throws IOException {
    refuse(path, /* last= */ false);
  }

  /** Whether a path of a staging directory is a link itself. */
  static boolean isLink(org.apache.hadoop.fs.Path path) {
    return isStaged(path) && LocalLinks.isLink(path);
  }

  private static void refuse(org.apache.hadoop.fs.Path path, boolean last) throws IOException {
    String[] names = names(path);
    int from = stagedFrom(names);
    if (from < 0) {
      return;
    }
    StringBuilder prefix = new StringBuilder();
    for (int i = 0; i < names.length - (last ? 0 : 1); i++) {
      prefix.append(i == 0 ? "" : "/").append(names[i]);
      if (i >= from && LocalLinks.isLink(prefix.toString())) {
        throw new IOException(
            prefix
                + " is a symbolic link in a staging directory, where no job makes one, and is not"
                + " followed. Nothing was changed behind it: look who made it, remove the link, and"
                + " try again");
      }
    }
  }

  /** Whether a path is in a staging directory, or in the place of one. */
  static boolean isStaged(org.apache.hadoop.fs.Path path) {
    String[] names = names(path);
    int from = stagedFrom(names);
    return from >= 0 && from < names.length;
  }

  /** From which component on a path lies in a staging directory; -1 if it does not. */
  private static int stagedFrom(String[] names) {
    for (int i = 0; i < names.length; i++) {
      if (names[i].equals(JobPaths.TEMPORARY)) {
        return i + 1;
      }
      if (StagingRoot.isStaging(names[i])) {
        return i;
      }
    }
    return -1;
  }

  private static String[] names(org.apache.hadoop.fs.Path path) {
    return path.toUri().getPath().split("/", -1);
  }
}
