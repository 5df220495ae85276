package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.cli.Clean;
import io.manifestcommitter.config.CommitterConfig;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
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
 * One job, called as Spark calls it, and attempts of its tasks that Spark gave up on and that go on
 * writing while the job commits and after it. Whoever runs it says when the commit is where.
 */
public final class ZombieTrial {
  private static final JobID SPARKS_ID = new JobID("202601010000", 1);
  private static final String ROWS = "rows of an attempt that Spark gave up on\n";

  /** Where attempts write: partitions that the job writes to, that it does not, and new ones. */
  private static final List<String> PARTITIONS = List.of("p=1", "p=2", "p=3", "p=3/x=1", "p=5");

  private final String id = UUID.randomUUID().toString();
  private final Configuration conf;
  private final Path table;
  private final Kind kind;
  private final ManifestCommitProtocol protocol;
  private final List<TaskCommitMessage> messages = new ArrayList<>();
  private final NavigableMap<String, String> expected = new TreeMap<>();
  private final List<FSDataOutputStream> untilNext = new ArrayList<>();
  private final List<FSDataOutputStream> untilEnd = new ArrayList<>();
  private final Set<Moment> moments = EnumSet.noneOf(Moment.class);
  private Attempt twin;
  private int attempts;
  private int begun;
  private int refused;

  /** What a job does to a table that has the partitions 1 and 2; it writes to 1 and 3. */
  public enum Kind {
    APPEND,
    /** The whole table is replaced. */
    STATIC,
    /** The partitions that it writes to are replaced. */
    DYNAMIC
  }

  /**
   * Where a job commit is: right before it makes one of these renames, which come in this order.
   */
  public enum Moment {
    /** Of the staging tree, where the store renames directories. */
    SEAL("/00/output", "/_manifest_[^/]*/00/sealed"),
    /** What was staged is listed by then, and cleared of what nobody named. */
    JOURNAL("/00/journal.tmp", "/_manifest_[^/]*/00/journal-planned-0"),
    /** The first of a new partition. */
    PUBLISH("/00/(sealed|output)/p=3(/.*)?", "/p=3(/.*)?"),
    /** All is published by then, and looked at. */
    REPORT("/00/_SUCCESS", "/_SUCCESS");

    private final String source;
    private final String destination;

    Moment(String source, String destination) {
      this.source = source;
      this.destination = destination;
    }

    /** Whether a rename from there is the one. */
    public boolean isFrom(Path renamed) {
      return renamed.toUri().getPath().matches(".*/_manifest_[^/]*" + source);
    }

    /** A regular expression for the path that the rename leads to. */
    public String destination(Path table) {
      return table.toUri().getPath() + destination + "$";
    }
  }

  /** A job that has run its tasks, and attempts that began before its commit. */
  public ZombieTrial(Configuration conf, Path table, Kind kind, String directoryRename)
      throws IOException {
    this.conf = new Configuration(conf);
    this.conf.set(CommitterConfig.DIRECTORY_RENAME, directoryRename);
    this.conf.setInt(CommitterConfig.IO_THREADS, 1);
    this.table = table;
    this.kind = kind;
    this.protocol = new ManifestCommitProtocol(id, table.toString(), kind == Kind.DYNAMIC);
    old("p=1", kind == Kind.APPEND);
    old("p=2", kind != Kind.STATIC);
    if (kind == Kind.STATIC) {
      protocol.deleteWithJob(table.getFileSystem(conf), table, true);
    }
    protocol.setupJob(new JobContextImpl(this.conf, SPARKS_ID));
    commitTask(0, "p=1", "p=3");
    commitTask(1, "p=3");
    begin();
    twin = new Attempt(0);
    for (String partition : List.of("p=1", "p=3")) {
      write(twin.newFile(partition)).close();
    }
  }

  private void old(String partition, boolean stays) throws IOException {
    try (FSDataOutputStream out = create(new Path(table, partition + "/old"))) {
      out.writeBytes("old");
    }
    if (stays) {
      expected.put(partition + "/old", "old");
    }
  }

  private void commitTask(int task, String... partitions) throws IOException {
    TaskOutput.Builder output = TaskOutput.builder(id, task, attempts);
    Attempt attempt = new Attempt(task);
    for (String partition : partitions) {
      Path file = attempt.newFile(partition);
      String content = "new in " + partition + " of " + task;
      try (FSDataOutputStream out = create(file)) {
        out.writeBytes(content);
      }
      output.add(TaskOutput.TABLE, partition, file.getName());
      expected.put(partition + "/" + file.getName(), content);
    }
    messages.add(new TaskCommitMessage(output.build().toBytes()));
  }

  /** The job commit. */
  public void commit() {
    JobContext job = new JobContextImpl(conf, SPARKS_ID);
    protocol.commitJob(job, JavaConverters.asScalaBufferConverter(messages).asScala().toSeq());
  }

  /** The table. */
  public Path table() {
    return table;
  }

  /** What the attempts do when the commit is there; once for each moment. */
  public synchronized void at(Moment moment) {
    if (moments.add(moment)) {
      goOn();
      try {
        begin();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** The moments that came. */
  public Set<Moment> moments() {
    return moments;
  }

  /** How many files the attempts began. */
  public int begun() {
    return begun;
  }

  /** How often the store refused more rows for, or the end of, a file that an attempt had begun. */
  public int refused() {
    return refused;
  }

  /**
   * What comes after the commit: attempts begin more files, end all, and abort. The table is at all
   * times exactly as the job wanted it, and what is hidden can be cleaned.
   */
  public void end() throws IOException {
    assertThat(visible()).as("%s right after the commit", kind).isEqualTo(withDirectories());
    goOn();
    begin();
    goOn();
    untilEnd.forEach(this::close);
    assertThat(visible()).as("%s with attempts that ended", kind).isEqualTo(withDirectories());
    twin.protocol.abortTask(twin.context);
    assertThat(visible()).as("%s with an attempt aborted", kind).isEqualTo(withDirectories());

    assertThat(stagingRoots()).as("what attempts wrote last").containsExactly("_manifest_" + id);
    assertThat(Clean.ofSession(conf, table.toString(), "0s", false, false, false))
        .contains("\"jobId\":\"" + id + "\"", "\"state\":\"abandoned\"", "\"removed\":true");
    assertThat(stagingRoots()).isEmpty();
    assertThat(visible()).as("%s cleaned", kind).isEqualTo(withDirectories());
  }

  /**
   * Attempts begin a file each, which ends at once, at the next moment, or at the end, in turns.
   */
  private void begin() throws IOException {
    for (String partition : PARTITIONS) {
      FSDataOutputStream stream = write(new Attempt(begun % 2).newFile(partition));
      switch ((begun + 2 * (begun / PARTITIONS.size())) % 3) {
        case 0:
          stream.close();
          break;
        case 1:
          untilNext.add(stream);
          break;
        default:
          untilEnd.add(stream);
      }
      begun++;
    }
  }

  private FSDataOutputStream write(Path file) throws IOException {
    FSDataOutputStream stream = create(file);
    stream.writeBytes(ROWS);
    return stream;
  }

  /** With the end of some that are open, and more rows in the others: some reach the store. */
  private void goOn() {
    for (FSDataOutputStream stream : untilEnd) {
      try {
        stream.writeBytes(ROWS);
        if (untilEnd.indexOf(stream) % 2 == 0) {
          stream.hflush();
        }
      } catch (IOException e) {
        refused++;
      }
    }
    untilNext.forEach(this::close);
    untilNext.clear();
  }

  private void close(FSDataOutputStream stream) {
    try {
      stream.close();
    } catch (IOException e) {
      refused++;
    }
  }

  private FSDataOutputStream create(Path file) throws IOException {
    return file.getFileSystem(conf).create(file, false);
  }

  private NavigableMap<String, String> withDirectories() {
    NavigableMap<String, String> all = new TreeMap<>(expected);
    expected.keySet().forEach(file -> all.put(file.substring(0, file.indexOf('/') + 1), ""));
    return all;
  }

  /** The files with their content, and the directories, that a reader finds. */
  private NavigableMap<String, String> visible() throws IOException {
    NavigableMap<String, String> visible = new TreeMap<>();
    addVisible(table.getFileSystem(conf), table, "", visible);
    return visible;
  }

  private static void addVisible(
      FileSystem fs, Path directory, String prefix, NavigableMap<String, String> visible)
      throws IOException {
    for (FileStatus status : fs.listStatus(directory)) {
      String name = status.getPath().getName();
      if (name.startsWith("_") || name.startsWith(".")) {
        continue;
      }
      if (status.isDirectory()) {
        visible.put(prefix + name + "/", "");
        addVisible(fs, new Path(directory, name), prefix + name + "/", visible);
      } else {
        try (FSDataInputStream in = fs.open(new Path(directory, name))) {
          visible.put(prefix + name, new String(in.readAllBytes(), StandardCharsets.UTF_8));
        }
      }
    }
  }

  private List<String> stagingRoots() throws IOException {
    List<String> roots = new ArrayList<>();
    for (FileStatus status : table.getFileSystem(conf).listStatus(table)) {
      if (status.isDirectory() && status.getPath().getName().startsWith("_")) {
        roots.add(status.getPath().getName());
      }
    }
    return roots;
  }

  /** An attempt of a task, with the copy of the protocol that an executor gets. */
  private final class Attempt {
    private final TaskAttemptContext context;
    private final ManifestCommitProtocol protocol;

    Attempt(int task) throws IOException {
      TaskID taskId = new TaskID(SPARKS_ID, TaskType.MAP, task);
      context = new TaskAttemptContextImpl(conf, new TaskAttemptID(taskId, attempts++));
      protocol = sent(ZombieTrial.this.protocol);
      protocol.setupTask(context);
    }

    Path newFile(String partition) {
      return new Path(
          protocol.newTaskTempFile(context, Option.apply(partition), new FileNameSpec("", ".txt")));
    }
  }

  private static ManifestCommitProtocol sent(ManifestCommitProtocol protocol) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(protocol);
    }
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      return (ManifestCommitProtocol) in.readObject();
    } catch (ClassNotFoundException e) {
      throw new IOException(e);
    }
  }
}
