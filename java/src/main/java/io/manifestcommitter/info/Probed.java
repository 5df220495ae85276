// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import io.manifestcommitter.cli.Setting;
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
  private final Setting fileSystem;
  private final String refusal;

  private Probed(
      String committer,
      String description,
      Path workPath,
      Path jobDirectory,
      boolean promisesDynamicOverwrite,
      Problem problem,
      Setting fileSystem,
      String refusal) {
    this.committer = committer;
    this.description = description;
    this.workPath = workPath;
    this.jobDirectory = jobDirectory;
    this.promisesDynamicOverwrite = promisesDynamicOverwrite;
    this.problem = problem;
    this.fileSystem = fileSystem;
    this.refusal = refusal;
  }

  /** No committer was asked for. */
  static Probed nothing() {
    return new Probed(null, null, null, null, false, null, null, null);
  }

  static Probed failed(Problem problem) {
    return new Probed(null, null, null, null, false, Objects.requireNonNull(problem), null, null);
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
        null,
        null,
        null);
  }

  /**
   * The same, on a store that did open, or whose settings tell why it is refused.
   *
   * @param fileSystem the class that serves it, and where that comes from; null if it did not open
   * @param refusal why our committer refuses it, null if it does not
   */
  Probed on(Setting fileSystem, String refusal) {
    return new Probed(
        committer,
        description,
        workPath,
        jobDirectory,
        promisesDynamicOverwrite,
        problem,
        fileSystem,
        refusal);
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

  /** The class of the store's FileSystem and the file that it was loaded from, if it did open. */
  Optional<Setting> fileSystem() {
    return Optional.ofNullable(fileSystem);
  }

  /** Why our committer refuses a store that did open, or whose settings tell. */
  Optional<String> refusal() {
    return Optional.ofNullable(refusal);
  }

  /** Why there is no committer. */
  Optional<Problem> problem() {
    return Optional.ofNullable(problem);
  }
}
