// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import java.io.IOException;
import java.util.Objects;
import org.apache.hadoop.fs.audit.CommonAuditContext;

/**
 * Tells the store's connector for which job, task attempt and stage a request is made, so that the
 * store's logs can be read by job ("Manifest Committer Architecture", "Auditing"). Hadoop keeps
 * this by thread.
 */
public final class Audit {
  /** The key of the job's id. */
  public static final String JOB_ID = "ji";

  /** The key of the task attempt's id; not set while a job commits. */
  public static final String TASK_ATTEMPT_ID = "tai";

  /** The key of the stage, as in {@code StatisticNames}. */
  public static final String STAGE = "st";

  private final String jobId;
  private final String taskAttemptId;
  private volatile String stage = "";

  private Audit(String jobId, String taskAttemptId) {
    this.jobId = Objects.requireNonNull(jobId);
    this.taskAttemptId = Objects.requireNonNull(taskAttemptId);
  }

  /** The requests of a job. */
  public static Audit job(String jobId) {
    return new Audit(jobId, "");
  }

  /** The requests of a task attempt. */
  public static Audit task(String jobId, String taskAttemptId) {
    return new Audit(jobId, taskAttemptId);
  }

  /** Runs an action of a stage in this thread, which afterwards tells what it told before. */
  public void during(String name, Action action) throws IOException {
    CommonAuditContext context = CommonAuditContext.currentAuditContext();
    String job = context.get(JOB_ID);
    String attempt = context.get(TASK_ATTEMPT_ID);
    String before = context.get(STAGE);
    stage = name;
    enter();
    try {
      action.run();
    } finally {
      put(context, JOB_ID, job);
      put(context, TASK_ATTEMPT_ID, attempt);
      put(context, STAGE, before);
    }
  }

  /** A new stage, for this thread and for those that are started from here on. */
  void stage(String name) {
    stage = name;
    enter();
  }

  /** Makes this thread one that works for the job. */
  void enter() {
    CommonAuditContext context = CommonAuditContext.currentAuditContext();
    put(context, JOB_ID, jobId);
    put(context, TASK_ATTEMPT_ID, taskAttemptId);
    put(context, STAGE, stage);
  }

  private static void put(CommonAuditContext context, String key, String value) {
    if (value == null || value.isEmpty()) {
      context.remove(key);
    } else {
      context.put(key, value);
    }
  }

  /** An action that makes requests. */
  @FunctionalInterface
  public interface Action {
    /** Runs it. */
    void run() throws IOException;
  }
}
