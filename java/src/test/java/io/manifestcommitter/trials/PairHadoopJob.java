// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import static io.manifestcommitter.testing.SparkGround.TABLE;

import io.manifestcommitter.testing.HadoopCalls;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;

/** A write of one task through a committer of Hadoop's kind: ours, or FileOutputCommitter. */
final class PairHadoopJob extends PairWriter {
  private static final JobID ID = new JobID("202601010000", 9);

  private final CrashStore store;
  private final Kind kind;
  private volatile boolean hasDeleted;

  PairHadoopJob(CrashStore store, PairWrite write, Kind kind, String name) {
    super(
        name,
        "",
        (kind == Kind.FILE_OUTPUT_STATIC ? TableWrite.replacing(TABLE) : TableWrite.append())
            .with(write.by(name).rows()));
    this.store = store;
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
    Configuration conf = HadoopCalls.bind(store.configuration(), store.scheme());
    conf.set(MemoryFileSystem.CLIENT, name());
    conf.setInt("mapreduce.fileoutputcommitter.algorithm.version", 1);
    Path table = store.path(TABLE);
    FileSystem fs = table.getFileSystem(conf);
    if (kind == Kind.FILE_OUTPUT_STATIC) {
      fs.delete(table, true);
      hasDeleted = true;
    }
    HadoopCalls calls = new HadoopCalls(conf, table, ID);
    JobContext job = calls.jobContext();
    TaskAttemptContext task = calls.context(0, 0);
    PathOutputCommitter committer =
        kind == Kind.MANIFEST ? calls.jobCommitter() : new FileOutputCommitter(table, task);
    committer.setupJob(job);
    try {
      committer.setupTask(task);
      for (Map.Entry<String, String> row : write().rows().entrySet()) {
        String below = row.getKey().substring(TABLE.length() + 1);
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
}
