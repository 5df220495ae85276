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
  /** Abort of a job whose tasks are committed. */
  ABORT(Phase.ABORT);

  private final Phase phase;

  SparkScenario(Phase phase) {
    this.phase = phase;
  }

  @Override
  public String label() {
    return "spark-" + name().toLowerCase(Locale.ROOT);
  }

  @Override
  public Phase phase() {
    return phase;
  }

  @Override
  public boolean publishes() {
    return this == NEW || this == APPEND || this == STATIC || this == DYNAMIC;
  }

  @Override
  public Trial trial(Lane lane, Repair repair) {
    return new SparkTrial(lane, this);
  }
}
