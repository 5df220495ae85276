package io.manifestcommitter;

import io.manifestcommitter.commit.CleanupJob;
import io.manifestcommitter.commit.CommitJob;
import io.manifestcommitter.commit.CommitTask;
import io.manifestcommitter.commit.JobDescription;
import io.manifestcommitter.commit.LoadManifests;
import io.manifestcommitter.commit.SaveSummary;
import io.manifestcommitter.commit.TaskAttempt;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.Stores;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.apache.hadoop.util.Progressable;

/**
 * The Hadoop protocol: task results travel as manifest files below {@code $dest/_temporary}
 * (protocol seed).
 *
 * <p>Created by {@link ManifestCommitterFactory}, once for each task attempt and once for the job.
 * Nothing is visible before job commit; a job commit that fails leaves what it has done for a
 * second try, and {@link #abortJob} takes it back.
 */
public class ManifestCommitter extends PathOutputCommitter {
  private static final String SPARK_WRITE_JOB_UUID = "spark.sql.sources.writeJobUUID";
  private static final String JOB_ATTEMPT = "mapreduce.job.application.attempt.id";

  private final CommitterConfig config;
  private final Store store;
  private final JobPaths paths;
  private final String jobIdSource;
  private final TaskAttempt attempt;

  /** Tries that failed and left what they had done, the latest first. */
  private final Deque<CommitJob> failedCommits = new ArrayDeque<>();

  private boolean commitTried;

  /**
   * A committer for {@code outputPath}.
   *
   * @throws io.manifestcommitter.store.UnsupportedStoreException if the store is not served
   * @throws IllegalArgumentException if an option has a value that is not allowed
   */
  public ManifestCommitter(Path outputPath, TaskAttemptContext context) throws IOException {
    super(outputPath, context);
    Configuration conf = context.getConfiguration();
    Stores stores = new Stores(conf);
    Path destination = stores.resolve(outputPath);
    this.config = new CommitterConfig(conf);
    this.store = stores.all();
    String uuid = conf.getTrimmed(SPARK_WRITE_JOB_UUID, "");
    // Spark's own job ids were not unique (SPARK-33402); its UUID is.
    this.jobIdSource = uuid.isEmpty() ? "JobID" : SPARK_WRITE_JOB_UUID;
    this.attempt =
        new TaskAttempt(
            uuid.isEmpty() ? context.getJobID().toString() : uuid,
            conf.getInt(JOB_ATTEMPT, 0),
            context.getTaskAttemptID().getTaskID().toString(),
            context.getTaskAttemptID().toString());
    this.paths = new JobPaths(destination, attempt.jobId(), attempt.jobAttempt());
  }

  /** The destination directory, qualified. */
  @Override
  public Path getOutputPath() {
    return paths.destination();
  }

  /** Where this task attempt writes. */
  @Override
  public Path getWorkPath() {
    return paths.taskAttemptDirectory(attempt.taskAttemptId());
  }

  @Override
  public void setupJob(JobContext context) throws IOException {
    if (config.markSuccessfulJobs()) {
      store.deleteFile(new Path(paths.destination(), JobPaths.SUCCESS_MARKER));
    }
    store.mkdirs(paths.taskAttemptsDirectory());
    store.mkdirs(paths.manifestDirectory());
  }

  @Override
  public void setupTask(TaskAttemptContext context) throws IOException {
    store.mkdirs(workPath(context));
  }

  /** Always: also a task without files has a manifest, which says so. */
  @Override
  public boolean needsTaskCommit(TaskAttemptContext context) {
    return true;
  }

  @Override
  public void commitTask(TaskAttemptContext context) throws IOException {
    new CommitTask(store, paths)
        .run(
            new TaskAttempt(
                attempt.jobId(),
                attempt.jobAttempt(),
                context.getTaskAttemptID().getTaskID().toString(),
                context.getTaskAttemptID().toString()));
  }

  /**
   * Deletes what the attempt wrote. The attempt is the context's and not this instance's:
   * MapReduce's application master aborts the attempts of dead containers through its own
   * committer.
   */
  @Override
  public void abortTask(TaskAttemptContext context) throws IOException {
    store.deleteTree(workPath(context));
  }

  @Override
  public void commitJob(JobContext context) throws IOException {
    commitTried = true;
    Workers workers = workers(context);
    CommitJob commit =
        new CommitJob(description(), store, config, workers, new StatisticsRecorder());
    try {
      commit.run(new LoadManifests(store, workers, paths, attempt.jobId()));
    } catch (IOException | RuntimeException | Error e) {
      failedCommits.push(commit);
      throw e;
    }
    failedCommits.clear();
    cleanup(workers);
  }

  @Override
  public void abortJob(JobContext context, JobStatus.State state) throws IOException {
    if (!commitTried) {
      new SaveSummary(store, description(), config, new StatisticsRecorder()).saveAborted();
    }
    while (!failedCommits.isEmpty()) {
      failedCommits.peek().takeBack();
      failedCommits.pop();
    }
    cleanup(workers(context));
  }

  /** As at the end of a commit; for a job whose commit ran elsewhere. */
  @Override
  @Deprecated
  public void cleanupJob(JobContext context) throws IOException {
    cleanup(workers(context));
  }

  @Override
  public String toString() {
    return "ManifestCommitter{destination="
        + paths.destination()
        + ", jobId="
        + attempt.jobId()
        + " ("
        + jobIdSource
        + ")"
        + ", taskAttemptId="
        + attempt.taskAttemptId()
        + ", workPath="
        + getWorkPath()
        + ", version="
        + BuildInfo.version()
        + "}";
  }

  private Path workPath(TaskAttemptContext context) {
    return paths.taskAttemptDirectory(context.getTaskAttemptID().toString());
  }

  private void cleanup(Workers workers) throws IOException {
    workers.<Void>shield(
        () -> {
          new CleanupJob(store, workers, config, paths).run();
          return null;
        });
  }

  private JobDescription description() {
    return new JobDescription(
        attempt.jobId(),
        jobIdSource,
        ManifestCommitter.class.getName(),
        paths.destination(),
        paths.jobAttemptDirectory());
  }

  private Workers workers(JobContext context) {
    Runnable progress =
        context instanceof Progressable ? ((Progressable) context)::progress : () -> {};
    return new Workers(config.ioThreads(), progress);
  }
}
