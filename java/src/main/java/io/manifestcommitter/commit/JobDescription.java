// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.config.CommitterConfig;
import java.util.Map;
import java.util.Objects;
import org.apache.hadoop.fs.Path;

/** Which job commits what to where, for the report and for messages. */
public final class JobDescription {
  /** What a user does about a last report that the job may not move aside. */
  public static final String REPORT_IN_THE_WAY =
      "have their owner delete _SUCCESS and _SUCCESS.files there, or let you delete them; or write no"
          + " report, by "
          + CommitterConfig.MARK_SUCCESSFUL_JOBS
          + "=false";

  private final String jobId;
  private final String jobIdSource;
  private final String committer;
  private final Path table;
  private final Path workDirectory;
  private final String advice;
  private final Map<String, String> facts;

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
   */
  public JobDescription(
      String jobId,
      String jobIdSource,
      String committer,
      Path table,
      Path workDirectory,
      String advice) {
    this(jobId, jobIdSource, committer, table, workDirectory, advice, Map.of());
  }

  private JobDescription(
      String jobId,
      String jobIdSource,
      String committer,
      Path table,
      Path workDirectory,
      String advice,
      Map<String, String> facts) {
    this.jobId = Objects.requireNonNull(jobId);
    this.jobIdSource = Objects.requireNonNull(jobIdSource);
    this.committer = Objects.requireNonNull(committer);
    this.table = Objects.requireNonNull(table);
    this.workDirectory = Objects.requireNonNull(workDirectory);
    this.advice = Objects.requireNonNull(advice);
    this.facts = Map.copyOf(facts);
  }

  /**
   * The same job, of which the report tells more.
   *
   * @param more texts by their keys among the report's diagnostics
   */
  public JobDescription with(Map<String, String> more) {
    return new JobDescription(jobId, jobIdSource, committer, table, workDirectory, advice, more);
  }

  /** Unique among the jobs that write to the table. */
  public String jobId() {
    return jobId;
  }

  /** Where the id comes from. */
  public String jobIdSource() {
    return jobIdSource;
  }

  /** The class that Spark or Hadoop called. */
  public String committer() {
    return committer;
  }

  /** The destination directory. */
  public Path table() {
    return table;
  }

  /** A directory of the job's own in the table's store. */
  public Path workDirectory() {
    return workDirectory;
  }

  /** What a user does about a commit that could not be rolled back. */
  public String advice() {
    return advice;
  }

  /** What else the report tells of it. */
  Map<String, String> facts() {
    return facts;
  }

  /** Where files go that give way to files of the job, while it commits. */
  public static Path replacedFiles(Path workDirectory) {
    return new Path(workDirectory, "replaced");
  }
}
