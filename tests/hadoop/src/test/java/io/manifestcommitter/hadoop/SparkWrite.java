package io.manifestcommitter.hadoop;

import io.manifestcommitter.spark.CommitMessage;
import io.manifestcommitter.spark.ManifestCommitProtocol;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.task.JobContextImpl;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage;
import org.apache.spark.internal.io.FileNameSpec;
import scala.Option;
import scala.collection.JavaConverters;

/**
 * One write through the Spark protocol, called as Spark calls it, without a Spark. Tasks create
 * their files as Spark's writers do: the directories come with them.
 */
final class SparkWrite {
  private static final JobID SPARKS_ID = new JobID("202601010000", 1);

  private final String id = UUID.randomUUID().toString();
  private final Configuration conf;
  private final Path table;
  private final ManifestCommitProtocol protocol;
  private final List<TaskCommitMessage> messages = new ArrayList<>();
  private final NavigableMap<Path, Path> staged = new TreeMap<>();
  private boolean hasRows = true;

  private SparkWrite(Configuration conf, Path table, boolean dynamic) {
    this.conf = conf;
    this.table = table;
    this.protocol = new ManifestCommitProtocol(id, table.toString(), dynamic);
  }

  /** A write that adds to a table. */
  static SparkWrite append(Configuration conf, Path table) throws IOException {
    return overwrite(conf, table);
  }

  /** A write that replaces what is at some paths: the table itself, partitions, locations. */
  static SparkWrite overwrite(Configuration conf, Path table, Path... replaced) throws IOException {
    return new SparkWrite(conf, table, /* dynamic= */ false).setUp(replaced);
  }

  /** A write that replaces the partitions that it has rows for. */
  static SparkWrite dynamicOverwrite(Configuration conf, Path table) throws IOException {
    return new SparkWrite(conf, table, /* dynamic= */ true).setUp();
  }

  private SparkWrite setUp(Path... replaced) throws IOException {
    for (Path path : replaced) {
      protocol.deleteWithJob(path.getFileSystem(conf), path, true);
    }
    protocol.setupJob(job());
    return this;
  }

  String id() {
    return id;
  }

  /** Where the job's work is. */
  Path staging() {
    return new Path(table, "_manifest_" + id);
  }

  /** Where each committed file is to go, and where it is before. */
  NavigableMap<Path, Path> staged() {
    return staged;
  }

  /** From here on files are made without rows: what is told by their names costs no block. */
  SparkWrite withoutRows() {
    hasRows = false;
    return this;
  }

  /** What is in a file that goes to a partition or location. */
  String content(String partition) {
    return hasRows ? "new in " + partition : "";
  }

  /** A task that commits one file for each partition; "" is the table's own directory. */
  void task(int number, String... partitions) throws IOException {
    TaskAttemptContext context = context(number, 0);
    protocol.setupTask(context);
    CommitMessage message = new CommitMessage(id, number, 0);
    for (String partition : partitions) {
      Path file = newFile(context, partition);
      write(file, content(partition));
      message.add(partition, file.getName());
      Path directory = partition.isEmpty() ? table : new Path(table, partition);
      staged.put(new Path(directory, file.getName()), file);
    }
    messages.add(message.toMessage());
  }

  /** A task that commits one file to a custom location. */
  void taskAt(int number, Path location) throws IOException {
    TaskAttemptContext context = context(number, 0);
    protocol.setupTask(context);
    CommitMessage message = new CommitMessage(id, number, 0);
    Path file =
        new Path(
            protocol.newTaskTempFileAbsPath(
                context, location.toString(), new FileNameSpec("", ".txt")));
    write(file, content(location.getName()));
    message.addAt(location, file.getName());
    staged.put(new Path(location, file.getName()), file);
    messages.add(message.toMessage());
  }

  /** A file that a task attempt has begun to write and that Spark is never told of. */
  FSDataOutputStream openStray(int task, int attempt, String partition) throws IOException {
    TaskAttemptContext context = context(task, attempt);
    protocol.setupTask(context);
    Path file = newFile(context, partition);
    return file.getFileSystem(conf).create(file, false);
  }

  void commit() {
    protocol.commitJob(job(), JavaConverters.asScalaBufferConverter(messages).asScala().toSeq());
  }

  void abort() {
    protocol.abortJob(job());
  }

  private Path newFile(TaskAttemptContext context, String partition) {
    return new Path(
        protocol.newTaskTempFile(
            context,
            partition.isEmpty() ? Option.<String>empty() : Option.apply(partition),
            new FileNameSpec("", ".txt")));
  }

  private void write(Path file, String content) throws IOException {
    FileSystem fs = file.getFileSystem(conf);
    try (FSDataOutputStream out = fs.create(file, false)) {
      out.write(content.getBytes(StandardCharsets.UTF_8));
    }
  }

  private JobContext job() {
    return new JobContextImpl(conf, SPARKS_ID);
  }

  private TaskAttemptContext context(int task, int attempt) {
    return new TaskAttemptContextImpl(
        conf, new TaskAttemptID(new TaskID(SPARKS_ID, TaskType.MAP, task), attempt));
  }
}
