package io.manifestcommitter.spark;

import io.manifestcommitter.JobPaths;
import java.util.Objects;
import org.apache.hadoop.fs.Path;

/**
 * Where a job of the Spark protocol keeps its work below the table, or below the custom location of
 * a partition:
 *
 * <pre>
 * $dir/_manifest_$jobId/00/output/$partition/$file    while tasks write; renamed to 00/sealed at job commit
 * $dir/_manifest_$jobId/00/locations/...              custom locations that attempts wrote to (table only)
 * </pre>
 *
 * A root of its own, hidden by its underscore, which another committer's deletion of {@code
 * _temporary} does not reach.
 */
final class StagingRoot {
  private final Path directory;
  private final Path root;
  private final Path attempt;

  /** The staging root of a job below {@code directory}. Spark jobs have one attempt, number 0. */
  StagingRoot(Path directory, String jobId) {
    this.directory = Objects.requireNonNull(directory);
    this.root = new Path(directory, "_manifest_" + JobPaths.requireName(jobId));
    this.attempt = new Path(root, JobPaths.attemptName(0));
  }

  /** The table or location. */
  Path directory() {
    return directory;
  }

  /** All that the job has here. */
  Path root() {
    return root;
  }

  /** The attempt's directory: reports are prepared in it. */
  Path attempt() {
    return attempt;
  }

  /** Where task attempts write. */
  Path output() {
    return new Path(attempt, "output");
  }

  /** Where the output is once no attempt can add to it. */
  Path sealed() {
    return new Path(attempt, "sealed");
  }

  /** Marks of the custom locations that attempts wrote to. */
  Path locations() {
    return new Path(attempt, "locations");
  }
}
