// SPDX-License-Identifier: Apache-2.0
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.spark.TaskContext;
import org.apache.spark.internal.io.HadoopMapReduceCommitProtocol;

/**
 * Spark's own protocol, which writes down how many rows Spark tells when a task commits. Driver and
 * executor load this class twice, so it writes to what both have: system properties.
 */
public final class RowsAtCommit extends HadoopMapReduceCommitProtocol {
  private static final long serialVersionUID = 1L;
  private static final String ROWS = "rows.at.commit.of.attempt.";

  public RowsAtCommit(String jobId, String path, boolean dynamicPartitionOverwrite) {
    super(jobId, path, dynamicPartitionOverwrite);
  }

  @Override
  public TaskCommitMessage commitTask(TaskAttemptContext context) {
    TaskContext task = TaskContext.get();
    long rows = task.taskMetrics().outputMetrics().recordsWritten();
    System.setProperty(ROWS + task.taskAttemptId(), Long.toString(rows));
    return super.commitTask(context);
  }
}
