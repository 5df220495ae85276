// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.config.CommitterConfig;
import java.util.Map;
import org.apache.hadoop.fs.Path;

/** Which job commits what to where, for the report and for messages. */
public final class JobDescription {
  /** What a user does about a last report that the job may not move aside. */
  public static final String REPORT_IN_THE_WAY =
      "have their owner delete _SUCCESS and _SUCCESS.files there, or let you delete them; or write no"
          + " report, by "
          + CommitterConfig.MARK_SUCCESSFUL_JOBS
          + "=false";

  final String jobId;
  final String jobIdSource;
  final String committer;
  final Path table;
  final Path workDirectory;
  final String advice;
  final Map<String, String> facts;

  /**
   * A job.
   *
   * @param jobId unique among the jobs that write to the table
   * @param jobIdSource where the id comes from
   * @param committer the class that Spark or Hadoop called
   * @param table the destination directory, qualified
   * @param workDirectory a directory of the job's own in the table's store, for reports before they
   *     become visible
   * @param advice what a user does about a commit that could not be rolled back; a sentence without
   *     its full stop
   * @param facts what else the report tells of it, by the keys among its diagnostics
   */
  public JobDescription(
      String jobId,
      String jobIdSource,
      String committer,
      Path table,
      Path workDirectory,
      String advice,
      Map<String, String> facts) {
    this.jobId = jobId;
    this.jobIdSource = jobIdSource;
    this.committer = committer;
    this.table = table;
    this.workDirectory = workDirectory;
    this.advice = advice;
    this.facts = Map.copyOf(facts);
  }

  /** Where files go that give way to files of the job, while it commits. */
  public static Path replacedFiles(Path workDirectory) {
    return new Path(workDirectory, "replaced");
  }
}
