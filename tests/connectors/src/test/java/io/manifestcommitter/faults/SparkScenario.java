// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.faults;

import java.util.Locale;

/** The calls of the Spark protocol. */
enum SparkScenario implements Scenario {
  SETUP(Phase.SETUP),
  /** Writing of a task attempt, and its abort if that fails. */
  TASK(Phase.TASK_COMMIT),
  /** Abort of a task attempt. */
  TASK_ABORT(Phase.ABORT),
  /** Job commit into partitions that the table does not have. */
  NEW(Phase.COMMIT_NEW),
  /** Job commit into partitions that it has. */
  APPEND(Phase.COMMIT_APPEND),
  /** The whole table is replaced. */
  STATIC(Phase.OVERWRITE),
  /** The partitions that the job writes to are replaced. */
  DYNAMIC(Phase.OVERWRITE),
  /** As {@link #NEW}, with file renames only. */
  NEW_BY_FILE(NEW),
  /** As {@link #STATIC}, with file renames only. */
  STATIC_BY_FILE(STATIC),
  /** As {@link #DYNAMIC}, with file renames only. */
  DYNAMIC_BY_FILE(DYNAMIC),
  /** Abort of a job whose tasks are committed. */
  ABORT(Phase.ABORT);

  private final Phase phase;
  private final SparkScenario kind;

  SparkScenario(Phase phase) {
    this.phase = phase;
    this.kind = this;
  }

  SparkScenario(SparkScenario kind) {
    this.phase = kind.phase;
    this.kind = kind;
  }

  @Override
  public String label() {
    return "spark-" + name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  @Override
  public Phase phase() {
    return phase;
  }

  /** The scenario, apart from how it is published. */
  SparkScenario kind() {
    return kind;
  }

  /** Whether no whole directory may be renamed. */
  boolean isByFile() {
    return kind != this;
  }

  @Override
  public boolean publishes() {
    return kind == NEW || kind == APPEND || kind == STATIC || kind == DYNAMIC;
  }

  @Override
  public Trial trial(Lane lane, Repair repair) {
    return new SparkTrial(lane, this);
  }
}
