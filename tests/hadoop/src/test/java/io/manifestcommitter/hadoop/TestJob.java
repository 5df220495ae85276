// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.testing.HadoopCalls;
import io.manifestcommitter.testing.TableFiles;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.TextOutputFormat;

/**
 * A job whose every step the test takes itself, as MapReduce would. Each step is made by a
 * committer instance of its own, which {@link TextOutputFormat} gets from Hadoop's factory: what
 * one of them has in memory is of no use to the next, as between processes.
 */
final class TestJob extends HadoopCalls {
  private static final AtomicInteger JOBS = new AtomicInteger();

  private TestJob(Configuration conf, Path table, JobID id) {
    super(new Configuration(conf), table, id);
    this.conf.set(FileOutputFormat.OUTDIR, table.toString());
  }

  /** A new job that writes to {@code table}. */
  static TestJob start(Configuration conf, Path table) throws IOException {
    TestJob job = new TestJob(conf, table, new JobID("202601010000", JOBS.incrementAndGet()));
    job.setupJob();
    return job;
  }

  String id() {
    return id.toString();
  }

  /** All that the job has below {@code _temporary}. */
  Path directory() {
    return new Path(table, "_temporary/manifest_" + id);
  }

  Attempt attempt(int task, int number) throws IOException {
    Attempt attempt = new Attempt(task, number);
    attempt.committer.setupTask(attempt.context);
    return attempt;
  }

  /** A task whose first attempt writes one file and commits. */
  void task(int number, String file, String content) throws IOException {
    Attempt attempt = attempt(number, 0);
    attempt.write(file, content);
    attempt.commit();
  }

  @Override
  protected PathOutputCommitter committer(TaskAttemptContext context) throws IOException {
    PathOutputCommitter committer =
        (PathOutputCommitter) new TextOutputFormat<Text, Text>().getOutputCommitter(context);
    // The committer of the factory that is bound, and not one that Hadoop falls back to.
    String factory = context.getConfiguration().get(Hdfs.FACTORY_KEY);
    assertThat(factory).startsWith(committer.getClass().getPackageName() + ".");
    return committer;
  }

  /** One attempt of a task. */
  final class Attempt {
    private final TaskAttemptContext context;
    private final PathOutputCommitter committer;

    private Attempt(int task, int number) throws IOException {
      this.context = TestJob.this.context(task, number);
      this.committer = TestJob.this.committer(context);
    }

    TaskAttemptContext context() {
      return context;
    }

    Path workPath() throws IOException {
      return committer.getWorkPath();
    }

    /** Writes a file below the attempt's directory. */
    Attempt write(String file, String content) throws IOException {
      TableFiles.write(table.getFileSystem(conf), new Path(workPath(), file), content);
      return this;
    }

    void commit() throws IOException {
      assertThat(committer.needsTaskCommit(context)).isTrue();
      committer.commitTask(context);
    }

    void abort() throws IOException {
      committer.abortTask(context);
    }
  }
}
