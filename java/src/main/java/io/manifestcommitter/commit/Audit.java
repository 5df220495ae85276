// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.audit.CommonAuditContext;
import org.apache.hadoop.util.functional.InvocationRaisingIOE;

/**
 * Tells the store's connector for which job, task attempt and stage a request is made, so that the
 * store's logs can be read by job ("Manifest Committer Architecture", "Auditing"). Hadoop keeps
 * this by thread.
 */
public final class Audit {
  /** Job, task attempt (not set while a job commits) and stage, as in {@code StatisticNames}. */
  private static final List<String> KEYS = List.of("ji", "tai", "st");

  private final String jobId;
  private final String taskAttemptId;
  private volatile String stage = "";

  private Audit(String jobId, String taskAttemptId) {
    this.jobId = Objects.requireNonNull(jobId);
    this.taskAttemptId = Objects.requireNonNull(taskAttemptId);
  }

  public static Audit job(String jobId) {
    return new Audit(jobId, "");
  }

  public static Audit task(String jobId, String taskAttemptId) {
    return new Audit(jobId, taskAttemptId);
  }

  /** Runs an action of a stage in this thread, which afterwards tells what it told before. */
  public void during(String name, InvocationRaisingIOE action) throws IOException {
    CommonAuditContext context = CommonAuditContext.currentAuditContext();
    List<String> before = KEYS.stream().map(context::get).collect(Collectors.toList());
    stage(name);
    try {
      action.apply();
    } finally {
      tell(before);
    }
  }

  /** A new stage, for this thread and for those that are started from here on. */
  void stage(String name) {
    stage = name;
    enter();
  }

  /** Makes this thread one that works for the job. */
  void enter() {
    tell(List.of(jobId, taskAttemptId, stage));
  }

  private static void tell(List<String> values) {
    CommonAuditContext context = CommonAuditContext.currentAuditContext();
    for (int i = 0; i < KEYS.size(); i++) {
      String value = values.get(i);
      if (value == null || value.isEmpty()) {
        context.remove(KEYS.get(i));
      } else {
        context.put(KEYS.get(i), value);
      }
    }
  }
}
