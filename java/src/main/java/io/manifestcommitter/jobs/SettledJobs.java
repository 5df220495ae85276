// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.commit.OldDataRemainsException;
import io.manifestcommitter.layout.StagingRoot;
import java.io.IOException;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.Path;

/**
 * What became of the unfinished commits that a job met in its table. Some cannot be ended, since
 * the store refuses to delete the data that they replaced: their places show old and new data. They
 * stop the jobs that write there, and no others.
 */
public final class SettledJobs {
  private final Map<StagingRoot, OldDataRemainsException> stuck = new LinkedHashMap<>();
  private boolean recovered;

  void recovered() {
    recovered = true;
  }

  void stuck(StagingRoot root, OldDataRemainsException why) {
    stuck.put(root, why);
  }

  /** Whether any was recovered. */
  public boolean hasRecovered() {
    return recovered;
  }

  /** Whether any cannot be ended. */
  boolean hasStuck() {
    return !stuck.isEmpty();
  }

  /**
   * Requires that no place that a job writes to or replaces shows what an earlier overwrite could
   * not remove.
   *
   * @throws IOException if one does; it names the files and the command that removes them
   */
  public void requireNoneAt(Collection<Path> places) throws IOException {
    if (stuck.isEmpty()) {
      return;
    }
    Set<Path> exact = new HashSet<>(places);
    Set<Path> above = new HashSet<>();
    for (Path place : places) {
      for (Path path = place; path != null && above.add(path); path = path.getParent()) {}
    }
    for (Map.Entry<StagingRoot, OldDataRemainsException> each : stuck.entrySet()) {
      for (Path directory : each.getValue().directories()) {
        boolean isAt = above.contains(directory);
        for (Path path = directory; path != null && !isAt; path = path.getParent()) {
          isAt = exact.contains(path);
        }
        if (isAt) {
          throw cannotBeRecovered(each.getKey(), each.getValue());
        }
      }
    }
  }

  static IOException cannotBeRecovered(StagingRoot root, IOException why) {
    return new IOException(told(root) + ", and cannot be recovered: " + why.getMessage(), why);
  }

  static String told(StagingRoot root) {
    return root.directory()
        + " holds the unfinished commit of a driver that died, in "
        + root.root();
  }
}
