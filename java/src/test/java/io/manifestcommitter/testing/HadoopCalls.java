// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import io.manifestcommitter.ManifestCommitterFactory;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitterFactory;
import org.apache.hadoop.mapreduce.task.JobContextImpl;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;

/**
 * The calls that MapReduce makes in one job of the Hadoop protocol. Each is made by a committer of
 * its own, from Hadoop's factory: what one of them has in memory is of no use to the next, as
 * between processes.
 */
public class HadoopCalls {
  /** The options of the job. */
  public final Configuration conf;

  /** Where it writes to. */
  public final Path table;

  /** Its id in MapReduce. */
  public final JobID id;

  /** A job that nothing was called for yet. */
  public HadoopCalls(Configuration conf, Path table, JobID id) {
    this.conf = conf;
    this.table = table;
    this.id = id;
  }

  /** Has Hadoop's factory make our committer for a scheme. */
  public static Configuration bind(Configuration conf, String scheme) {
    conf.set(
        "mapreduce.outputcommitter.factory.scheme." + scheme,
        ManifestCommitterFactory.class.getName());
    return conf;
  }

  /** Sets the job up. */
  public final void setupJob() throws IOException {
    jobCommitter().setupJob(jobContext());
  }

  /** Commits the job. */
  public final void commitJob() throws IOException {
    jobCommitter().commitJob(jobContext());
  }

  /** Aborts the job, as failed. */
  public final void abortJob() throws IOException {
    jobCommitter().abortJob(jobContext(), JobStatus.State.FAILED);
  }

  /** Sets an attempt of a task up; its committer. */
  public final PathOutputCommitter setupTask(int task, int attempt) throws IOException {
    PathOutputCommitter committer = committer(task, attempt);
    committer.setupTask(context(task, attempt));
    return committer;
  }

  /** Commits an attempt of a task. */
  public final void commitTask(int task, int attempt) throws IOException {
    committer(task, attempt).commitTask(context(task, attempt));
  }

  /** Aborts an attempt of a task. */
  public final void abortTask(int task, int attempt) throws IOException {
    committer(task, attempt).abortTask(context(task, attempt));
  }

  /** A new committer, as the job's own process makes it. */
  public final PathOutputCommitter jobCommitter() throws IOException {
    return committer(0, 0);
  }

  /** A new committer, as the process of an attempt makes it. */
  public final PathOutputCommitter committer(int task, int attempt) throws IOException {
    return committer(context(task, attempt));
  }

  /** How a process makes a committer. */
  protected PathOutputCommitter committer(TaskAttemptContext context) throws IOException {
    return PathOutputCommitterFactory.createCommitter(table, context);
  }

  /** As the job's own process has it. */
  public final JobContext jobContext() {
    return new JobContextImpl(conf, id);
  }

  /** As the process of an attempt has it. */
  public final TaskAttemptContext context(int task, int attempt) {
    return new TaskAttemptContextImpl(
        conf, new TaskAttemptID(new TaskID(id, TaskType.MAP, task), attempt));
  }
}
