// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.layout;

import java.util.Objects;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/**
 * Where a job of the Spark protocol keeps its work below the table, or below the custom location of
 * a partition:
 *
 * <pre>
 * $dir/_manifest_$jobId/00/output/$partition/$file    while tasks write; renamed to 00/sealed at job commit
 * $dir/_manifest_$jobId/00/old/$n-_manifest_$jobId    what an overwrite moved out of the way, until it is deleted
 * $dir/_manifest_$jobId/00/locations/...              custom locations that attempts wrote to (table only)
 * $dir/_manifest_$jobId/00/replaces                   the places that the job replaces (table only)
 * $dir/_manifest_$jobId/00/journal-...                the plan, while it is carried out (table only)
 * $dir/_manifest_$jobId/heartbeat                     written again and again while a driver lives (table only)
 * </pre>
 *
 * A root of its own, hidden by its underscore, which another committer's deletion of {@code
 * _temporary} does not reach.
 */
public final class StagingRoot {
  private static final String PREFIX = "_manifest_";
  private static final String SPARK_PREFIX = ".spark-staging-";
  private static final String HIVE_PREFIX = ".hive-staging";

  private final Path directory;
  private final String jobId;
  private final Path root;
  private final Path attempt;

  /**
   * The staging directory of a job below {@code directory}. Spark jobs have one attempt, number 0.
   */
  public StagingRoot(Path directory, String jobId) {
    this.directory = Objects.requireNonNull(directory);
    this.jobId = JobPaths.requireName(jobId);
    this.root = new Path(directory, PREFIX + jobId);
    this.attempt = new Path(root, JobPaths.attemptName(0));
  }

  /** The table or location. */
  public Path directory() {
    return directory;
  }

  /** The job. */
  public String jobId() {
    return jobId;
  }

  /** All that the job has here. */
  public Path root() {
    return root;
  }

  /** The attempt's directory: reports are prepared in it. */
  public Path attempt() {
    return attempt;
  }

  /** Where task attempts write. */
  public Path output() {
    return new Path(attempt, "output");
  }

  /** Where the output is once no attempt can add to it. */
  public Path sealed() {
    return new Path(attempt, "sealed");
  }

  /** Where old data goes that an overwrite moves aside. */
  public Path old() {
    return new Path(attempt, "old");
  }

  /** Marks of the custom locations that attempts wrote to. */
  public Path locations() {
    return new Path(attempt, "locations");
  }

  /** Tells other jobs which places this one replaces. */
  public Path replaces() {
    return new Path(attempt, "replaces");
  }

  /** The job whose staging directory has this name; empty if it is none. */
  public static Optional<String> jobOf(String name) {
    return JobPaths.idAfter(PREFIX, name);
  }

  /** The job of Spark's own protocol whose staging directory has this name; empty if it is none. */
  public static Optional<String> sparkJobOf(String name) {
    return JobPaths.idAfter(SPARK_PREFIX, name);
  }

  /**
   * Whether a directory of this name is no data but a staging directory: ours, Hadoop's, Spark's or
   * Hive's. What only looks like one of ours is none of a job's, but no data either; with an equals
   * sign it is a partition.
   */
  public static boolean isStaging(String name) {
    return (name.startsWith(PREFIX) && name.indexOf('=') < 0)
        || name.equals(JobPaths.TEMPORARY)
        || name.startsWith(SPARK_PREFIX)
        || name.startsWith(HIVE_PREFIX);
  }

  /** Whether a path with {@code /} between its components leads into a staging directory. */
  public static boolean leadsIntoStaging(String relative) {
    for (String name : relative.split("/", -1)) {
      if (isStaging(name)) {
        return true;
      }
    }
    return false;
  }
}
