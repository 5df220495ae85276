// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.testing.HadoopCalls;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.JobContext;
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

  /** The same job as a process with other settings sees it. */
  TestJob with(String key, String value) {
    TestJob other = new TestJob(conf, table, id);
    other.conf.set(key, value);
    return other;
  }

  /** The same job as a process with other settings sees it. */
  TestJob with(UnaryOperator<Configuration> change) {
    return new TestJob(change.apply(conf), table, id);
  }

  String id() {
    return id.toString();
  }

  Path table() {
    return table;
  }

  /** All that the job has below {@code _temporary}. */
  Path directory() {
    return new Path(table, "_temporary/manifest_" + id);
  }

  /** The directory of the manifests of the first application attempt. */
  Path manifests() {
    return new Path(directory(), "00/manifests");
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

  void commit() throws IOException {
    commitJob();
  }

  void abort() throws IOException {
    abortJob();
  }

  /** A new instance, as the job's own process makes it. */
  PathOutputCommitter committer() throws IOException {
    return jobCommitter();
  }

  JobContext context() {
    return jobContext();
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

    /** Opens a file below the attempt's directory. */
    FSDataOutputStream open(String file) throws IOException {
      return fileSystem().create(new Path(workPath(), file), false);
    }

    void write(String file, String content) throws IOException {
      try (FSDataOutputStream out = open(file)) {
        out.write(content.getBytes(StandardCharsets.UTF_8));
      }
    }

    void commit() throws IOException {
      assertThat(committer.needsTaskCommit(context)).isTrue();
      committer.commitTask(context);
    }

    void abort() throws IOException {
      committer.abortTask(context);
    }

    private FileSystem fileSystem() throws IOException {
      return table.getFileSystem(conf);
    }
  }
}
