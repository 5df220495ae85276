// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import io.manifestcommitter.spark.ManifestCommitProtocol;
import io.manifestcommitter.spark.TaskMessage;
import io.manifestcommitter.testing.SparkCalls;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.JobConf;
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage;

/**
 * The measured commit of the Spark protocol, in a JVM with little heap, which also holds the
 * messages of all tasks, as Spark's driver does: {@code SparkScaleCommit <job> <tasks> <files per
 * task> <partitions> <scratch>}. Ends with exit code 1 if anything is wrong afterwards.
 */
public final class SparkScaleCommit {
  static final String JOB_ID = "b6b8f1c2-7a55-4c0e-9a53-0d0f3a1e5c77";
  static final String TABLE = "/warehouse/sales/events";
  private static final String OLD = "part-00000-old.c000.snappy.parquet";
  private static final long OLD_LENGTH = 7;

  private SparkScaleCommit() {}

  /** Commits the job, prints what that cost, and checks the outcome. */
  public static void main(String[] args) throws IOException {
    SparkScaleJob job = SparkScaleJob.valueOf(args[0]);
    JobShape shape =
        job.shape(Integer.parseInt(args[1]), Integer.parseInt(args[2]), Integer.parseInt(args[3]))
            .namedBy("-" + JOB_ID + "-0");
    SparkScaleStore store = new SparkScaleStore(shape, Path.of(args[4]));
    store.mkdirs(TABLE);
    boolean append = job == SparkScaleJob.APPEND;
    if (append) {
      for (int p = 0; p < shape.partitions(); p++) {
        store.plant(TABLE + "/" + shape.partition(p) + "/" + OLD, OLD_LENGTH);
      }
    }
    store.serve();
    commit(job, shape, store);
    new SparkScaleCheck(store, shape, TABLE).run(append ? shape.partitions() : 0, OLD);
    ScaleMeter.tell(
        store.faults(),
        "every file is in its directory, once, and nothing of the job is left elsewhere; report,"
            + " file list and table agree"
            + (append ? "; the old files are there." : "."));
  }

  private static void commit(SparkScaleJob job, JobShape shape, SparkScaleStore store)
      throws IOException {
    SparkRuntime.start();
    Configuration conf = new Configuration();
    conf.set("fs." + job.scheme() + ".impl", SparkScaleFileSystem.class.getName());
    org.apache.hadoop.fs.Path table =
        new org.apache.hadoop.fs.Path(job.scheme(), ScaleJob.STORE, TABLE);
    SparkCalls write =
        new SparkCalls(
            new ManifestCommitProtocol(JOB_ID, table.toString(), false), JOB_ID, new JobConf(conf));
    write.setUp();
    List<TaskCommitMessage> messages = new ArrayList<>();
    long bytes = 0;
    for (int task = 0; task < shape.tasks(); task++) {
      TaskCommitMessage message =
          job == SparkScaleJob.S3
              ? uploaded(shape, task)
              : shape.write(write, task, store::writeFile).commit();
      bytes += ((byte[]) message.obj()).length;
      messages.add(message);
    }
    System.out.printf(
        Locale.ROOT, "%s: %s; %,d bytes of commit messages.%n", job.option(), job.title(), bytes);
    ScaleMeter.measure(
        shape.toString(), shape.files(), store.requests(), () -> write.commit(messages));
  }

  /** What a task tells that uploaded its files. */
  private static TaskCommitMessage uploaded(JobShape shape, int task) {
    TaskMessage message = new TaskMessage(JOB_ID, task);
    int first = task * shape.filesPerTask();
    for (int file = first; file < first + shape.filesPerTask(); file++) {
      String etag = ScaleFiles.upload(file).toEtag(ScaleFiles.completedEtag(file));
      message.addUploaded(TaskMessage.TABLE, shape.path(file), ScaleFiles.length(file), etag);
    }
    return new TaskCommitMessage(message.bytes());
  }
}
