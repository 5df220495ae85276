// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/**
 * An output committer that has nothing to do. Spark's {@code SparkHadoopMapRedUtil.commitTask}
 * takes one, and asks the driver's OutputCommitCoordinator for permission before it commits through
 * it; the permission is what we want.
 */
final class CoordinatedCommit extends OutputCommitter {
  @Override
  public void setupJob(JobContext context) {}

  @Override
  public void setupTask(TaskAttemptContext context) {}

  @Override
  public boolean needsTaskCommit(TaskAttemptContext context) {
    return true;
  }

  @Override
  public void commitTask(TaskAttemptContext context) {}

  @Override
  public void abortTask(TaskAttemptContext context) {
    // Spark calls the protocol's own abortTask for an attempt that was denied.
  }
}
