package io.manifestcommitter.connectors;

import io.manifestcommitter.ManifestCommitterFactory;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
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
 * One job of the Hadoop protocol as MapReduce runs it: each step by a committer of its own, from
 * Hadoop's factory. What tasks write goes past the committer.
 */
public final class HadoopProtocolJob {
  private static final AtomicInteger JOBS = new AtomicInteger();

  private final Configuration conf;
  private final Path table;
  private final JobID id;

  private HadoopProtocolJob(Configuration conf, Path table, JobID id) {
    this.conf = conf;
    this.table = table;
    this.id = id;
  }

  /** A new job into {@code table}; nothing is done yet. */
  public static HadoopProtocolJob into(Path table, Configuration conf) {
    Configuration own = new Configuration(conf);
    own.set(
        "mapreduce.outputcommitter.factory.scheme." + table.toUri().getScheme(),
        ManifestCommitterFactory.class.getName());
    return new HadoopProtocolJob(own, table, new JobID("202601010000", JOBS.incrementAndGet()));
  }

  /** The same job as a process with another setting sees it. */
  public HadoopProtocolJob with(String key, String value) {
    Configuration own = new Configuration(conf);
    own.set(key, value);
    return new HadoopProtocolJob(own, table, id);
  }

  public void setup() throws IOException {
    committer(0).setupJob(context());
  }

  public void commit() throws IOException {
    committer(0).commitJob(context());
  }

  public void abort() throws IOException {
    committer(0).abortJob(context(), JobStatus.State.FAILED);
  }

  /** What an application master does that finds a finished job. */
  @SuppressWarnings("deprecation")
  public void cleanup() throws IOException {
    committer(0).cleanupJob(context());
  }

  public void setupTask(int task) throws IOException {
    committer(task).setupTask(taskContext(task));
  }

  public void commitTask(int task) throws IOException {
    committer(task).commitTask(taskContext(task));
  }

  public void abortTask(int task) throws IOException {
    committer(task).abortTask(taskContext(task));
  }

  /** Writes one file of a task, at its path below the table. */
  public void write(int task, String file, byte[] content) throws IOException {
    FileSystem fs = table.getFileSystem(conf);
    try (FSDataOutputStream out = fs.create(new Path(committer(task).getWorkPath(), file), false)) {
      out.write(content);
    }
  }

  private PathOutputCommitter committer(int task) throws IOException {
    return PathOutputCommitterFactory.createCommitter(table, taskContext(task));
  }

  private JobContext context() {
    return new JobContextImpl(conf, id);
  }

  private TaskAttemptContext taskContext(int task) {
    return new TaskAttemptContextImpl(
        conf, new TaskAttemptID(new TaskID(id, TaskType.MAP, task), 0));
  }
}
