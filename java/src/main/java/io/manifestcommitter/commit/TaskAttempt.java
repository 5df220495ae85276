package io.manifestcommitter.commit;

import java.util.Objects;

/** The ids of one task attempt of the Hadoop protocol. */
public final class TaskAttempt {
  private final String jobId;
  private final int jobAttempt;
  private final String taskId;
  private final String taskAttemptId;

  /** The ids, as MapReduce writes them; the job's as the committer chose it. */
  public TaskAttempt(String jobId, int jobAttempt, String taskId, String taskAttemptId) {
    this.jobId = Objects.requireNonNull(jobId);
    this.jobAttempt = jobAttempt;
    this.taskId = Objects.requireNonNull(taskId);
    this.taskAttemptId = Objects.requireNonNull(taskAttemptId);
  }

  /** The job. */
  public String jobId() {
    return jobId;
  }

  /** Which attempt of the job, from 0. */
  public int jobAttempt() {
    return jobAttempt;
  }

  /** The task. */
  public String taskId() {
    return taskId;
  }

  /** The attempt of the task. */
  public String taskAttemptId() {
    return taskAttemptId;
  }
}
