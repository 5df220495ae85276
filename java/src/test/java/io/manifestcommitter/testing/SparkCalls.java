// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import io.manifestcommitter.spark.ApprovedTask;
import io.manifestcommitter.spark.ManifestCommitProtocol;
import io.manifestcommitter.spark.TaskMessage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
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
import scala.collection.immutable.$colon$colon;

/**
 * The calls that Spark makes of a commit protocol in one write, without a Spark: on the driver's
 * instance, and for each attempt of a task on one that came to the executor as bytes.
 */
public final class SparkCalls {
  private static final JobID SPARKS_ID = new JobID("202601010000", 1);

  private final FileCommitProtocol protocol;
  private final String jobId;
  private final Configuration conf;
  private byte[] sent;

  /** A write that nothing was called for yet. */
  public SparkCalls(FileCommitProtocol protocol, String jobId, Configuration conf) {
    this.protocol = protocol;
    this.jobId = jobId;
    this.conf = conf;
  }

  /** A write of this committer that nothing was called for yet. */
  public static SparkCalls of(Configuration conf, Path table, String jobId, boolean isDynamic) {
    return new SparkCalls(
        new ManifestCommitProtocol(jobId, table.toString(), isDynamic), jobId, conf);
  }

  /** The write is to replace what is there: the table, partitions, locations. Before the setup. */
  public SparkCalls replace(Path... paths) throws IOException {
    for (Path path : paths) {
      if (!protocol.deleteWithJob(path.getFileSystem(conf), path, true)) {
        throw new IOException(path + " cannot be replaced");
      }
    }
    return this;
  }

  /** Sets the job up, before there are tasks. */
  public SparkCalls setUp() throws IOException {
    protocol.setupJob(job());
    sent = bytes(protocol);
    return this;
  }

  /** An attempt of a task, set up. */
  public Attempt attempt(int task, int number) throws IOException {
    return new Attempt(task, number, conf);
  }

  /** The same on an executor with other settings. */
  public Attempt attempt(int task, int number, Configuration ofExecutor) throws IOException {
    return new Attempt(task, number, ofExecutor);
  }

  /** What a task sends that wrote one file, in which its partition and number are. */
  public TaskCommitMessage task(int task, String partition) throws IOException {
    return attempt(task, 0).write(partition, partition + " of " + task).commitApproved();
  }

  /** Commits the job, with the messages of all tasks. */
  public void commit(List<TaskCommitMessage> messages) {
    messages.forEach(protocol::onTaskCommit);
    // A list of Scala's own is a Seq in 2.12, and in 2.13, where that is another interface.
    scala.collection.immutable.List<TaskCommitMessage> all =
        scala.collection.immutable.List$.MODULE$.empty();
    for (int last = messages.size() - 1; last >= 0; last--) {
      all = new $colon$colon<>(messages.get(last), all);
    }
    if (protocol instanceof ManifestCommitProtocol) {
      ((ManifestCommitProtocol) protocol).commitJob(job(), all);
    } else {
      protocol.commitJob(job(), all);
    }
  }

  /** Tells the driver that Spark says an attempt has committed. */
  public void committed(TaskCommitMessage message) {
    protocol.onTaskCommit(message);
  }

  /** Aborts the job. */
  public void abort() {
    protocol.abortJob(job());
  }

  private JobContext job() {
    return new JobContextImpl(conf, SPARKS_ID);
  }

  /** What is sent between driver and executors. */
  public static byte[] bytes(Object object) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(object);
    }
    return bytes.toByteArray();
  }

  /** What was sent. */
  public static Object object(byte[] bytes) throws IOException {
    try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
      return in.readObject();
    } catch (ClassNotFoundException e) {
      throw new IOException(e);
    }
  }

  /** One attempt of a task, with the copy of the protocol that an executor gets. */
  public final class Attempt {
    private final int task;
    private final Map<String, List<String>> files = new TreeMap<>();
    private final TaskAttemptContext context;
    private final FileCommitProtocol executors;

    private Attempt(int task, int number, Configuration ofExecutor) throws IOException {
      this.task = task;
      TaskID id = new TaskID(SPARKS_ID, TaskType.MAP, task);
      context = new TaskAttemptContextImpl(ofExecutor, new TaskAttemptID(id, number));
      executors = (FileCommitProtocol) object(sent);
      executors.setupTask(context);
    }

    /**
     * Where a new file is to be written.
     *
     * @param partition "p=1"; empty for the table's own directory
     * @param nameEnd ".txt"
     */
    public Path newFile(String partition, String nameEnd) {
      Option<String> directory = partition.isEmpty() ? Option.empty() : Option.apply(partition);
      FileNameSpec name = new FileNameSpec("", nameEnd);
      Path file = new Path(executors.newTaskTempFile(context, directory, name));
      add(TaskMessage.TABLE, partition.isEmpty() ? "" : partition + "/", file);
      return file;
    }

    /** The same for a custom location. */
    public Path newFileAt(Path location, String nameEnd) {
      return newFileAt(location.toString(), nameEnd);
    }

    /** The same, however the location is spelled. */
    public Path newFileAt(String location, String nameEnd) {
      FileNameSpec name = new FileNameSpec("", nameEnd);
      Path file = new Path(executors.newTaskTempFileAbsPath(context, location, name));
      add(location, "", file);
      return file;
    }

    /** Writes a new file. */
    public Attempt write(String partition, String content) throws IOException {
      Path file = newFile(partition, ".txt");
      TableFiles.write(file.getFileSystem(conf), file, content);
      return this;
    }

    /** Commits it; Spark's coordinator is asked. */
    public TaskCommitMessage commit() {
      return executors.commitTask(context);
    }

    /** Commits it; nobody is asked. */
    public TaskCommitMessage commitApproved() {
      return ApprovedTask.commit(executors);
    }

    /** What it would send if it was committed; nobody is asked. */
    public TaskCommitMessage message() {
      TaskMessage message = new TaskMessage(jobId, task);
      files.forEach((location, names) -> message.add(location, names.toArray(new String[0])));
      return new TaskCommitMessage(message.bytes());
    }

    private void add(String location, String prefix, Path file) {
      files.computeIfAbsent(location, key -> new ArrayList<>()).add(prefix + file.getName());
    }

    /** Aborts it. */
    public void abort() {
      executors.abortTask(context);
    }
  }
}
