package io.manifestcommitter.spark;

import org.apache.hadoop.fs.Path;
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage;

/**
 * What {@link ManifestCommitProtocol#commitTask} answers for a task attempt, without asking Spark's
 * coordinator: no Spark runs here.
 */
public final class CommitMessage {
  private final TaskOutput.Builder output;

  /** The message of one attempt, with no files yet. */
  public CommitMessage(String jobId, int task, long attempt) {
    output = TaskOutput.builder(jobId, task, attempt);
  }

  /** Names a file of the table; {@code partition} is empty for the table's own directory. */
  public void add(String partition, String name) {
    output.add(TaskOutput.TABLE, partition, name);
  }

  /** Names a file at a custom location. */
  public void addAt(Path location, String name) {
    output.add(location.toString(), "", name);
  }

  /** The message. */
  public TaskCommitMessage toMessage() {
    return new TaskCommitMessage(output.build().toBytes());
  }
}
