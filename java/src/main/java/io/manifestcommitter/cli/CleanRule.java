// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import io.manifestcommitter.jobs.StagedJob;

/** Which staging directories go. */
final class CleanRule {
  private final long olderThan;
  private final boolean dryRun;
  private final boolean discardUnfinished;
  private final boolean force;

  /**
   * A rule.
   *
   * @param olderThan in milliseconds
   */
  CleanRule(long olderThan, boolean dryRun, boolean discardUnfinished, boolean force) {
    this.olderThan = olderThan;
    this.dryRun = dryRun;
    this.discardUnfinished = discardUnfinished;
    this.force = force;
  }

  long olderThan() {
    return olderThan;
  }

  boolean dryRun() {
    return dryRun;
  }

  boolean force() {
    return force;
  }

  boolean removes(StagedJob job) {
    return !dryRun && why(job).isEmpty();
  }

  /** Why a job's staging directory stays; empty if it may go. */
  String why(StagedJob job) {
    if (!force && job.state() == StagedJob.State.RUNNING) {
      return "it shows signs of life";
    }
    if (!force && job.age().filter(age -> age < olderThan).isPresent()) {
      return "it is not old enough";
    }
    if (job.hasUnfinishedCommit() && !discardUnfinished) {
      return job.kind() == StagedJob.Kind.SPARK_PROTOCOL
          ? "recover it: manifest-committer recover " + job.root().getParent()
          : "its commit was begun: have its job commit or abort again";
    }
    return "";
  }
}
