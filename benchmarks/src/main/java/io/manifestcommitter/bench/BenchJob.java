// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import io.manifestcommitter.testing.HadoopCalls;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;

/**
 * A job without computation: its tasks' files are put into the store, and the committer, which is
 * found as jobs find it, does the rest. Every call of the committer is the one that Spark and
 * MapReduce make.
 */
final class BenchJob {
  private static final String SCHEME = "abfs";
  private static final String TABLE = "/warehouse/sales/events";
  private static final long FILE_LENGTH = 1 << 20;

  private final SimulatedStore store;
  private final JobShape shape;
  private final Configuration conf;
  private final HadoopCalls calls;

  /**
   * A job.
   *
   * @param storeName the store it writes to
   */
  BenchJob(Contender contender, JobShape shape, String storeName) {
    this.store = SimulatedStore.named(storeName);
    this.shape = shape;
    this.conf = new Configuration();
    conf.set("fs." + SCHEME + ".impl", SimulatedFileSystem.class.getName());
    conf.setInt("mapreduce.job.application.attempt.id", 0);
    contender.bind(conf, SCHEME);
    this.calls =
        new HadoopCalls(conf, new Path(SCHEME, storeName, TABLE), new JobID("202601010000", 1));
  }

  /**
   * Runs it from its setup to its end.
   *
   * @return what the task commits and the job commit cost; the job's setup is in neither
   * @throws IOException also if the table is then not what the job wrote
   */
  List<Measurement> run(Meter meter) throws IOException {
    JobContext job = calls.jobContext();
    PathOutputCommitter committer = calls.jobCommitter();
    committer.setupJob(job);
    List<Measurement> measurements = new ArrayList<>();
    Measurement setup =
        meter.measure(Phase.TASK_COMMIT, () -> Executors.run(shape.tasks(), this::setUp));
    Executors.run(shape.tasks(), this::write);
    Measurement commit =
        meter.measure(Phase.TASK_COMMIT, () -> Executors.run(shape.tasks(), this::commit));
    measurements.add(setup.plus(commit));
    measurements.add(meter.measure(Phase.JOB_COMMIT, () -> committer.commitJob(job)));
    verify();
    return measurements;
  }

  private void setUp(int task) throws IOException {
    calls.setupTask(task, 0);
  }

  private void write(int task) throws IOException {
    String work = calls.committer(task, 0).getWorkPath().toUri().getPath();
    for (int k = 0; k < shape.filesPerTask(); k++) {
      store.plant(work + "/" + shape.path(task * shape.filesPerTask() + k), FILE_LENGTH);
    }
  }

  private void commit(int task) throws IOException {
    TaskAttemptContext attempt = calls.context(task, 0);
    PathOutputCommitter committer = calls.committer(task, 0);
    if (committer.needsTaskCommit(attempt)) {
      committer.commitTask(attempt);
    }
  }

  /** Every file at its destination, and nothing else but what names itself hidden. */
  private void verify() throws IOException {
    for (int task = 0; task < shape.tasks(); task++) {
      for (int k = 0; k < shape.filesPerTask(); k++) {
        String file = TABLE + "/" + shape.path(task * shape.filesPerTask() + k);
        if (store.find(file).filter(node -> node.length() == FILE_LENGTH).isEmpty()) {
          throw new IOException("The committed table lacks " + file);
        }
      }
    }
    int visible = visibleFiles(TABLE);
    if (visible != shape.files()) {
      throw new IOException(
          "The committed table has " + visible + " files instead of " + shape.files());
    }
    if (store.find(TABLE + "/_SUCCESS").isEmpty()
        || store.find(TABLE + "/_temporary").isPresent()) {
      throw new IOException("The committed table lacks _SUCCESS or has kept _temporary");
    }
  }

  private int visibleFiles(String directory) throws IOException {
    int files = 0;
    for (Map.Entry<String, StoreNode> entry : store.list(directory).orElseThrow()) {
      if (!entry.getKey().startsWith("_")) {
        files +=
            entry.getValue().isDirectory() ? visibleFiles(directory + "/" + entry.getKey()) : 1;
      }
    }
    return files;
  }

  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%s (%s)", calls.id, shape);
  }
}
