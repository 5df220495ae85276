package io.manifestcommitter.spark;

import java.util.Collection;
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage;

/** The commit message of a task attempt, for a test in which no Spark runs. */
public final class TaskMessage {
  private TaskMessage() {}

  /**
   * What {@link ManifestCommitProtocol#commitTask} answers, without asking Spark's coordinator.
   *
   * @param files relative to the table: "p=1/part-0"
   */
  public static TaskCommitMessage of(
      String jobId, int task, long attempt, Collection<String> files) {
    TaskOutput.Builder output = TaskOutput.builder(jobId, task, attempt);
    for (String file : files) {
      int slash = file.lastIndexOf('/');
      output.add(
          TaskOutput.TABLE, slash < 0 ? "" : file.substring(0, slash), file.substring(slash + 1));
    }
    return new TaskCommitMessage(output.build().toBytes());
  }
}
