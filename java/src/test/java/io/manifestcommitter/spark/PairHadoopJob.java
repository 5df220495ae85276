package io.manifestcommitter.spark;

import io.manifestcommitter.ManifestCommitterFactory;
import io.manifestcommitter.testing.MemoryFileSystem;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
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
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitterFactory;
import org.apache.hadoop.mapreduce.task.JobContextImpl;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;

/** A write of one task through a committer of Hadoop's kind: ours, or FileOutputCommitter. */
final class PairHadoopJob extends PairParty implements PairWriter {
  private static final JobID ID = new JobID("202601010000", 9);

  private final CrashStore store;
  private final PairWrite write;
  private final Kind kind;
  private volatile boolean hasDeleted;

  PairHadoopJob(CrashStore store, PairWrite write, Kind kind, String name) {
    super(name, "");
    this.store = store;
    this.write = write;
    this.kind = kind;
  }

  /** Which committer, and what it does first. */
  enum Kind {
    /** Our Hadoop protocol. */
    MANIFEST("Hadoop protocol, append"),
    /** Hadoop's FileOutputCommitter, its first algorithm. */
    FILE_OUTPUT("FileOutputCommitter, append"),
    /** The same under Spark's own protocol: the table is deleted before the job. */
    FILE_OUTPUT_STATIC("FileOutputCommitter, static");

    private final String label;

    Kind(String label) {
      this.label = label;
    }

    String label() {
      return label;
    }
  }

  @Override
  void act() throws IOException {
    Configuration conf = store.configuration();
    conf.set(MemoryFileSystem.CLIENT, name());
    conf.setInt("mapreduce.fileoutputcommitter.algorithm.version", 1);
    conf.set(
        "mapreduce.outputcommitter.factory.scheme." + store.scheme(),
        ManifestCommitterFactory.class.getName());
    Path table = store.path(CrashStore.TABLE);
    FileSystem fs = table.getFileSystem(conf);
    if (kind == Kind.FILE_OUTPUT_STATIC) {
      fs.delete(table, true);
      hasDeleted = true;
    }
    JobContext job = new JobContextImpl(conf, ID);
    TaskAttemptContext task =
        new TaskAttemptContextImpl(conf, new TaskAttemptID(new TaskID(ID, TaskType.MAP, 0), 0));
    PathOutputCommitter committer =
        kind == Kind.MANIFEST
            ? PathOutputCommitterFactory.createCommitter(table, task)
            : new FileOutputCommitter(table, task);
    committer.setupJob(job);
    try {
      committer.setupTask(task);
      for (Map.Entry<String, String> row : rows().entrySet()) {
        String below = row.getKey().substring(CrashStore.TABLE.length() + 1);
        try (FSDataOutputStream out = fs.create(new Path(committer.getWorkPath(), below))) {
          out.write(row.getValue().getBytes(StandardCharsets.UTF_8));
        }
      }
      committer.commitTask(task);
      committer.commitJob(job);
    } catch (IOException e) {
      committer.abortJob(job, JobStatus.State.FAILED);
      throw e;
    }
  }

  boolean isOurs() {
    return kind == Kind.MANIFEST;
  }

  /** Whether it has deleted the table. */
  boolean hasDeleted() {
    return hasDeleted;
  }

  @Override
  public String word() {
    return name();
  }

  @Override
  public boolean isAppend() {
    return kind != Kind.FILE_OUTPUT_STATIC;
  }

  @Override
  public boolean isReplaced(String path) {
    return !isAppend() && path.startsWith(CrashStore.TABLE + "/");
  }

  @Override
  public NavigableMap<String, String> rows() {
    return write.rows(name());
  }

  @Override
  public NavigableMap<String, String> after(Map<String, String> before) {
    NavigableMap<String, String> after = new TreeMap<>(before);
    after.keySet().removeIf(this::isReplaced);
    after.putAll(rows());
    return after;
  }
}
