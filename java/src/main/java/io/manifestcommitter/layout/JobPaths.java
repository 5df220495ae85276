// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.layout;

import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/**
 * Where a job of the Hadoop protocol keeps its work below the destination directory ("Manifest
 * Committer Protocol", "Directory Structure"):
 *
 * <pre>
 * $dest/_temporary/manifest_$jobId/%02d/tasks/$taskAttemptId/...
 * $dest/_temporary/manifest_$jobId/%02d/manifests/$taskId-manifest.json
 * </pre>
 */
public final class JobPaths {
  /** The name of the marker and report at the root of a committed table. */
  public static final String SUCCESS_MARKER = "_SUCCESS";

  /** The name of the complete list of files, beside the marker and hidden like it. */
  public static final String FILE_LIST = "_SUCCESS.files";

  /** The end of the name of a committed task's manifest. */
  public static final String MANIFEST_SUFFIX = "-manifest.json";

  /** The directory that the jobs of Hadoop's committers share in a table. */
  public static final String TEMPORARY = "_temporary";

  /** The name of {@link #commitMark}. */
  public static final String COMMIT_MARK = "commit-started";

  private static final String JOB_PREFIX = "manifest_";

  /** The table's directory. */
  public final Path destination;

  public final String jobId;

  /** Which attempt of the job, from 0. */
  public final int jobAttempt;

  /** All that this job has in the store before it commits. */
  public final Path jobDirectory;

  /** The part of the job directory that belongs to this attempt. */
  public final Path jobAttemptDirectory;

  /**
   * The paths of one job attempt.
   *
   * @param destination the table's directory, qualified
   * @param jobId unique among all jobs that write to the destination; one component of a path
   * @param jobAttempt the number of the attempt, from 0
   */
  public JobPaths(Path destination, String jobId, int jobAttempt) {
    this.destination = Objects.requireNonNull(destination);
    this.jobId = requireName(jobId);
    this.jobAttempt = jobAttempt;
    this.jobDirectory = new Path(temporaryDirectory(), JOB_PREFIX + jobId);
    this.jobAttemptDirectory = new Path(jobDirectory, attemptName(jobAttempt));
  }

  /** The name of a job attempt's directory: two digits or more. */
  public static String attemptName(int jobAttempt) {
    return String.format(Locale.ROOT, "%02d", jobAttempt);
  }

  /**
   * The job whose directory below {@code _temporary} has this name; empty if it is none of ours.
   */
  public static Optional<String> jobOfDirectory(String name) {
    return idAfter(JOB_PREFIX, name);
  }

  /** The number of the job attempt whose directory has this name. */
  public static Optional<Integer> attemptOf(String name) {
    try {
      int attempt = Integer.parseInt(name);
      return attempt >= 0 && attemptName(attempt).equals(name)
          ? Optional.of(attempt)
          : Optional.empty();
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  /**
   * Checks that an id can be the name of a directory.
   *
   * @throws IllegalArgumentException if it is empty, {@code .}, {@code ..} or has a slash, a colon,
   *     an equals sign or a control character. Hadoop takes a colon for the end of a scheme; an
   *     equals sign makes a partition of a directory
   */
  public static String requireName(String id) {
    if (!isName(id)) {
      throw new IllegalArgumentException("The job id '" + id + "' cannot be a directory's name");
    }
    return id;
  }

  /** The id in a name that is a prefix and an id; empty if it is none that a job can have. */
  static Optional<String> idAfter(String prefix, String name) {
    return name.startsWith(prefix) && isName(name.substring(prefix.length()))
        ? Optional.of(name.substring(prefix.length()))
        : Optional.empty();
  }

  private static boolean isName(String id) {
    return !id.isEmpty()
        && !id.equals(".")
        && !id.equals("..")
        && id.codePoints().noneMatch(JobPaths::isForbidden);
  }

  private static boolean isForbidden(int c) {
    return c == '/'
        || c == ':'
        || c == '='
        || Character.isISOControl(c)
        || Character.getType(c) == Character.SURROGATE;
  }

  /**
   * {@code _temporary}, shared with other jobs and never this job's to delete while it holds
   * anything.
   */
  public Path temporaryDirectory() {
    return new Path(destination, TEMPORARY);
  }

  /** The parent of all task attempts' working directories. */
  public Path taskAttemptsDirectory() {
    return new Path(jobAttemptDirectory, "tasks");
  }

  public Path taskAttemptDirectory(String taskAttemptId) {
    return new Path(taskAttemptsDirectory(), taskAttemptId);
  }

  public Path manifestDirectory() {
    return new Path(jobAttemptDirectory, "manifests");
  }

  public Path manifest(String taskId) {
    return new Path(manifestDirectory(), taskId + MANIFEST_SUFFIX);
  }

  /** Where a task attempt writes its manifest before it renames it. */
  public Path temporaryManifest(String taskAttemptId) {
    return new Path(manifestDirectory(), taskAttemptId + MANIFEST_SUFFIX + ".tmp");
  }

  /**
   * The mark that a job commit has begun to make changes. It is among the manifests, so that one
   * listing shows both. Its name does not end as theirs do, so that nobody takes it for a manifest.
   */
  public Path commitMark() {
    return new Path(manifestDirectory(), COMMIT_MARK);
  }
}
