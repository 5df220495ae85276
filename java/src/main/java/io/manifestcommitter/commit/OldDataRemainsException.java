// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.plan.JobPlan;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import org.apache.hadoop.fs.Path;

/** An overwrite published its new data and then could not remove all of the old. */
public final class OldDataRemainsException extends IOException {
  private static final long serialVersionUID = 1L;
  private static final int NAMED = 20;

  private final transient Set<Path> directories;

  /**
   * Of a plan.
   *
   * @param left the files that could not be removed, each with the reason
   * @param directories those that they are in; of a link that took the place of one, the link
   */
  OldDataRemainsException(
      JobPlan plan, SortedMap<Path, String> left, Collection<Path> directories) {
    super(
        "The new data of job "
            + plan.jobId()
            + " is complete in "
            + plan.table()
            + ", but "
            + left.size()
            + " paths of the data it replaces could not be removed, so the table shows both."
            + " They are: "
            + String.join(", ", first(left))
            + (left.size() > NAMED ? ", ..." : "")
            + ". Once they may be deleted, 'manifest-committer recover "
            + plan.table()
            + "' removes them and ends the job");
    this.directories = Set.copyOf(directories);
  }

  private static List<String> first(SortedMap<Path, String> left) {
    List<String> first = new ArrayList<>();
    left.forEach(
        (file, reason) -> {
          if (first.size() < NAMED) {
            first.add(file + " (" + reason + ")");
          }
        });
    return first;
  }

  /** The directories that show old and new data. */
  public Set<Path> directories() {
    return directories;
  }
}
