// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import org.apache.spark.internal.io.FileCommitProtocol;
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage;

/** The commit of a task attempt that Spark's coordinator, which runs in a driver, permitted. */
public final class ApprovedTask {
  private ApprovedTask() {}

  /** Commits it. */
  public static TaskCommitMessage commit(FileCommitProtocol executors) {
    return ((ManifestCommitProtocol) executors).commitApproved();
  }
}
