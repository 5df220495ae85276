// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import java.util.List;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;

/** What is wrong with the settings of hadoop-azure. */
final class AbfsDiagnosis {
  /** The driver's own limit on renames in job commit; the committer leaves it alone. */
  static final String RATE_LIMIT = "fs.azure.io.rate.limit";

  private static final String READ_AHEAD = "fs.azure.readaheadqueue.depth";

  /** The driver's default. */
  private static final int READ_AHEAD_DEPTH = 2;

  /** Hadoop's issue HADOOP-18546: from 3.3.2 on, repaired in 3.3.5. */
  private static final Pattern READ_AHEAD_BUG = Pattern.compile("3\\.3\\.[234](\\D.*)?");

  private AbfsDiagnosis() {}

  /**
   * All that is wrong.
   *
   * @param version of hadoop-azure, which comes with Hadoop
   */
  static List<Problem> problems(Configuration conf, String version) {
    if (!READ_AHEAD_BUG.matcher(version).matches()
        || conf.getInt(READ_AHEAD, READ_AHEAD_DEPTH) == 0) {
      return List.of();
    }
    return List.of(
        Problem.warning(
            ProblemCode.ABFS_READ_AHEAD,
            "hadoop-azure "
                + version
                + " can hand a reader the bytes of another file that it read ahead"
                + " (HADOOP-18546): a query may see wrong data, with every committer. Use Hadoop"
                + " 3.3.5 or newer, or switch reading ahead off",
            Repair.set(READ_AHEAD, "0")));
  }
}
