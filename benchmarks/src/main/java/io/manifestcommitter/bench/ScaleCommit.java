package io.manifestcommitter.bench;

import io.manifestcommitter.ManifestCommitterFactory;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitterFactory;
import org.apache.hadoop.mapreduce.task.JobContextImpl;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;

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
    conf.set(
        String.format(PathOutputCommitterFactory.COMMITTER_FACTORY_SCHEME_PATTERN, ScaleJob.SCHEME),
        ManifestCommitterFactory.class.getName());
    conf.set("spark.sql.sources.writeJobUUID", ScaleJob.JOB_UUID);
    JobContextImpl context = new JobContextImpl(conf, job.id());
    PathOutputCommitter committer =
        PathOutputCommitterFactory.createCommitter(
            job.paths().destination(),
            new TaskAttemptContextImpl(conf, TaskAttemptID.forName(ScaleJob.attemptName(0))));
    // As setupJob leaves it, which would refuse the manifests that the store shows from the start.
    FileSystem fs = job.paths().destination().getFileSystem(conf);
    fs.mkdirs(job.paths().manifestDirectory());
    fs.mkdirs(job.paths().taskAttemptsDirectory());

    ScaleMeter.measure(
        job.shape().toString(),
        job.shape().files(),
        store.requests(),
        () -> committer.commitJob(context));
  }
}
