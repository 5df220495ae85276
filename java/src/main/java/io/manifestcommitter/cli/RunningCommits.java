// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.manifestcommitter.progress.Commits;

/** The commits of this JVM, which can be cancelled, for the Python package. */
public final class RunningCommits {
  private static final ObjectMapper JSON = new ObjectMapper();

  private RunningCommits() {}

  /**
   * The commits that run, the first first, and then the last ones that ended.
   *
   * @return an array with an object for each, as {@link
   *     io.manifestcommitter.progress.CommitSnapshot#toMap} has it
   */
  public static String ofSession() {
    try {
      return JSON.writeValueAsString(Commits.ofAllClassLoaders());
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Cancels the commit of a job, or its setup.
   *
   * @return {@code true} if it fails, else {@code false}: see {@link Commits#cancel}
   */
  public static String cancel(String jobId) {
    return Boolean.toString(Commits.cancel(jobId));
  }
}
