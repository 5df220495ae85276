package io.manifestcommitter.bench;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.task.JobContextImpl;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.spark.internal.io.FileCommitProtocol;
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage;
import org.apache.spark.internal.io.FileNameSpec;
import scala.Option;
import scala.collection.JavaConverters;

/**
 * The calls that Spark makes of a commit protocol in one write, in its order: on the driver's
 * instance, and for each task on one that came to the executor as bytes.
 */
final class SparkWrite {
  private final FileCommitProtocol protocol;
  private final Configuration conf;
  private final JobShape shape;
  private final Path table;
  private final JobID jobId = new JobID("202601010000", 1);
  private byte[] sent;

  /**
   * A write.
   *
   * @param shape its files, under the names that the protocol gives them
   */
  SparkWrite(FileCommitProtocol protocol, Configuration conf, JobShape shape, Path table) {
    this.protocol = protocol;
    // Each task would copy any other.
    this.conf = new JobConf(conf);
    this.shape = shape;
    this.table = table;
  }

  /** What a static overwrite of the whole table does first. */
  void deleteTable() throws IOException {
    FileSystem fs = table.getFileSystem(conf);
    if (fs.exists(table) && !protocol.deleteWithJob(fs, table, true)) {
      throw new IOException("The old data could not be deleted");
    }
  }

  /** On the driver, before there are tasks. */
  void setUp() throws IOException {
    protocol.setupJob(job());
    sent = bytes(protocol);
  }

  /**
   * One task from its setup to its commit.
   *
   * @param files gets each file that it writes
   */
  TaskCommitMessage runTask(int task, Writer files) throws IOException {
    FileCommitProtocol executors = (FileCommitProtocol) object(sent);
    TaskAttemptContext attempt =
        new TaskAttemptContextImpl(
            conf, new TaskAttemptID(new TaskID(jobId, TaskType.MAP, task), 0));
    executors.setupTask(attempt);
    for (int k = 0; k < shape.filesPerTask(); k++) {
      int file = task * shape.filesPerTask() + k;
      String partition = shape.partition(shape.partitionOf(file));
      Path path =
          new Path(
              executors.newTaskTempFile(
                  attempt,
                  partition.isEmpty() ? Option.empty() : Option.apply(partition),
                  new FileNameSpec("", shape.nameEnd(file))));
      if (!path.getName().equals(shape.name(file))) {
        throw new IOException(path.getName() + " is not called " + shape.name(file));
      }
      files.write(path.toUri().getPath(), file);
    }
    return executors.commitTask(attempt);
  }

  /** On the driver, with the messages of all tasks. */
  void commit(List<TaskCommitMessage> messages) {
    messages.forEach(protocol::onTaskCommit);
    protocol.commitJob(job(), JavaConverters.asScalaBufferConverter(messages).asScala().toSeq());
  }

  /** What is sent between driver and executors. */
  static byte[] bytes(Object object) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(object);
    }
    return bytes.toByteArray();
  }

  /** What was sent. */
  static Object object(byte[] bytes) throws IOException {
    try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
      return in.readObject();
    } catch (ClassNotFoundException e) {
      throw new IOException(e);
    }
  }

  private JobContext job() {
    return new JobContextImpl(conf, jobId);
  }

  /** Writes the files of tasks. */
  interface Writer {
    /**
     * Writes one.
     *
     * @param path without scheme
     */
    void write(String path, int file) throws IOException;
  }
}
