package io.manifestcommitter.cli;

import java.util.Objects;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/** The committer that a job got, or how far it came. */
final class Probed {
  private final String committer;
  private final String description;
  private final Path workPath;
  private final Path jobDirectory;
  private final boolean promisesDynamicOverwrite;
  private final Problem problem;

  private Probed(
      String committer,
      String description,
      Path workPath,
      Path jobDirectory,
      boolean promisesDynamicOverwrite,
      Problem problem) {
    this.committer = committer;
    this.description = description;
    this.workPath = workPath;
    this.jobDirectory = jobDirectory;
    this.promisesDynamicOverwrite = promisesDynamicOverwrite;
    this.problem = problem;
  }

  /** No committer was asked for. */
  static Probed nothing() {
    return new Probed(null, null, null, null, false, null);
  }

  static Probed failed(Problem problem) {
    return new Probed(null, null, null, null, false, Objects.requireNonNull(problem));
  }

  static Probed committer(
      String className,
      String description,
      Path workPath,
      Path jobDirectory,
      boolean promisesDynamicOverwrite) {
    return new Probed(
        Objects.requireNonNull(className),
        Objects.requireNonNull(description),
        workPath,
        jobDirectory,
        promisesDynamicOverwrite,
        null);
  }

  /** The committer's class. */
  Optional<String> committer() {
    return Optional.ofNullable(committer);
  }

  /** What the committer says of itself. */
  Optional<String> description() {
    return Optional.ofNullable(description);
  }

  /** Where a task attempt would write. */
  Optional<Path> workPath() {
    return Optional.ofNullable(workPath);
  }

  /** Where the job would keep its work, if its committer tells. */
  Optional<Path> jobDirectory() {
    return Optional.ofNullable(jobDirectory);
  }

  /** Whether it tells Spark that it can serve dynamic partition overwrites. */
  boolean promisesDynamicOverwrite() {
    return promisesDynamicOverwrite;
  }

  /** Why there is no committer. */
  Optional<Problem> problem() {
    return Optional.ofNullable(problem);
  }
}
