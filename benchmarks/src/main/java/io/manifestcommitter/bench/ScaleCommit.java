// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import io.manifestcommitter.testing.HadoopCalls;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;

/**
 * The measured commit, in a JVM with little heap: {@code ScaleCommit <tasks> <files per task>
 * <partitions> <archive> <scratch>}. Ends with exit code 1 if anything is wrong afterwards.
 */
public final class ScaleCommit {
  private ScaleCommit() {}

  /** Commits the job, prints what that cost, and checks the outcome. */
  public static void main(String[] args) throws IOException {
    ScaleJob job =
        new ScaleJob(
            Integer.parseInt(args[0]), Integer.parseInt(args[1]), Integer.parseInt(args[2]));
    Faults faults;
    try (ScaleStore store = new ScaleStore(job, Path.of(args[3]), Path.of(args[4]))) {
      store.serve();
      commit(store);
      new ScaleCheck(store).run();
      faults = store.faults();
    }
    ScaleMeter.tell(
        faults,
        "every file renamed once, to its own destination, nothing else touched; report, file list"
            + " and table agree.");
  }

  private static void commit(ScaleStore store) throws IOException {
    ScaleJob job = store.job();
    Configuration conf = new Configuration();
    conf.set("fs." + ScaleJob.SCHEME + ".impl", ScaleFileSystem.class.getName());
    HadoopCalls.bind(conf, ScaleJob.SCHEME)
        .set("spark.sql.sources.writeJobUUID", ScaleJob.JOB_UUID);
    HadoopCalls calls = new HadoopCalls(conf, job.paths().destination, job.id());
    PathOutputCommitter committer = calls.jobCommitter();
    // As setupJob leaves it, which would refuse the manifests that the store shows from the start.
    FileSystem fs = job.paths().destination.getFileSystem(conf);
    fs.mkdirs(job.paths().manifestDirectory());
    fs.mkdirs(job.paths().taskAttemptsDirectory());

    ScaleMeter.measure(
        job.shape().toString(),
        job.shape().files(),
        store.requests(),
        () -> committer.commitJob(calls.jobContext()));
  }
}
