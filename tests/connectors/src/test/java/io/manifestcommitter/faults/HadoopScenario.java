// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.faults;

import java.util.Locale;

/** The calls of the Hadoop protocol. */
enum HadoopScenario implements Scenario {
  SETUP(Phase.SETUP),
  /** Setup, writing and commit of a task attempt. */
  TASK(Phase.TASK_COMMIT),
  /** Job commit into partitions that the table does not have. */
  NEW(Phase.COMMIT_NEW),
  /** Job commit into partitions that it has. */
  APPEND(Phase.COMMIT_APPEND),
  /** Job commit where a file with the name of a new one gives way. */
  REPLACE(Phase.OVERWRITE),
  /** Abort of a job whose tasks are committed. */
  ABORT(Phase.ABORT),
  /** Abort of a job whose commit failed between two of its files. */
  ABORT_HALF(Phase.ABORT);

  private final Phase phase;

  HadoopScenario(Phase phase) {
    this.phase = phase;
  }

  @Override
  public String label() {
    return "hadoop-" + name().toLowerCase(Locale.ROOT);
  }

  @Override
  public Phase phase() {
    return phase;
  }

  @Override
  public boolean publishes() {
    return this != SETUP && this != TASK && this != ABORT;
  }

  @Override
  public Trial trial(Lane lane, Repair repair) {
    return new HadoopTrial(lane, this, repair);
  }
}
