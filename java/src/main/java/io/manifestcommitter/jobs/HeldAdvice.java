// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.layout.StagingRoot;
import java.io.IOException;

/** What users are told about held jobs. */
final class HeldAdvice {
  private HeldAdvice() {}

  /** The failure of who asks for a job that is not held, or not any more. */
  static IOException notHeld(StagingRoot root) {
    return new IOException(
        "Job "
            + root.jobId()
            + " is not held in "
            + root.directory()
            + ": it never was, or it was published or discarded before, or somebody does that now."
            + " This process changed nothing. If the table's _SUCCESS names it, it was published");
  }

  /** What a user does about a held job. */
  static String advice(StagingRoot root) {
    String job = " " + root.directory() + " " + root.jobId() + "'";
    return "Publish it with 'manifest-committer publish"
        + job
        + ", or discard it with 'manifest-committer discard"
        + job;
  }

  /** What a user does about a publication that failed after it began. */
  static String notPublished(StagingRoot root) {
    return "The held job "
        + root.jobId()
        + " was not published completely, and a part of it may be visible. 'manifest-committer"
        + " recover "
        + root.directory()
        + "', or the next job there, publishes the rest. To roll it back and give it up, run"
        + " 'manifest-committer discard "
        + root.directory()
        + " "
        + root.jobId()
        + "'";
  }
}
