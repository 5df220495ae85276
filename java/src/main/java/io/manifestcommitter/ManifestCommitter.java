// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import io.manifestcommitter.commit.Audit;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.config.UnknownOption;
import io.manifestcommitter.hadoop.CommitTask;
import io.manifestcommitter.hadoop.HadoopJob;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.watch.SparkWatch;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.apache.hadoop.util.Progressable;

/**
 * The Hadoop protocol: task results travel as manifest files below {@code $dest/_temporary}
 * ("Manifest Committer Protocol").
 *
 * <p>Created by {@link ManifestCommitterFactory}, once for each task attempt and once for the job.
 * Nothing is visible before job commit. A job commit that fails leaves what it has done for another
 * try, by this committer or a new one, and {@link #abortJob} rolls it back.
 */
public class ManifestCommitter extends PathOutputCommitter implements StreamCapabilities {
  private static final String SPARK_WRITE_JOB_UUID = "spark.sql.sources.writeJobUUID";
  private static final String JOB_ATTEMPT = "mapreduce.job.application.attempt.id";

  private final SparkCaller caller;
  private final CommitterConfig config;
  private final IllegalArgumentException badOption;
  private final RequestGate gate;
  private final Stores stores;
  private final Path destination;
  private final String writeJobUuid;
  private final int jobAttempt;
  private final TaskAttemptID taskAttemptId;
  private final Path workPath;

  private boolean isDuplicate;
  private boolean commitTried;
  private boolean committed;

  /**
   * A committer for {@code outputPath}. Makes no request of the store. Options are read here, and
   * refused in {@link #setupJob}.
   *
   * @throws io.manifestcommitter.store.UnsupportedStoreException if the store is not served
   */
  public ManifestCommitter(Path outputPath, TaskAttemptContext context) throws IOException {
    super(outputPath, context);
    this.caller = SparkCaller.ofThisStack();
    Configuration conf = context.getConfiguration();
    CommitterConfig parsed = null;
    IllegalArgumentException refused = null;
    try {
      parsed = new CommitterConfig(conf);
    } catch (IllegalArgumentException e) {
      refused = e;
    }
    this.config = parsed;
    this.badOption = refused;
    this.gate = parsed == null ? RequestGate.open() : parsed.requestGate(context::progress);
    this.stores = new Stores(conf, gate);
    stores.requireRenames(outputPath);
    this.destination = stores.resolve(outputPath);
    // Spark's own job ids were not unique (SPARK-33402); its UUID is.
    this.writeJobUuid =
        caller.sharesWriteJobUuid() ? conf.getTrimmed(SPARK_WRITE_JOB_UUID, "") : "";
    this.jobAttempt = conf.getInt(JOB_ATTEMPT, 0);
    this.taskAttemptId = context.getTaskAttemptID();
    this.workPath = workPath(context);
  }

  /** The destination directory, qualified. */
  @Override
  public Path getOutputPath() {
    return destination;
  }

  /** Where this task attempt writes. */
  @Override
  public Path getWorkPath() {
    return workPath;
  }

  /** For Spark's PathOutputCommitProtocol; see {@link SparkCaller#supportsDynamicPartitioning}. */
  @Override
  public boolean hasCapability(String capability) {
    return capability.equals(SparkCaller.DYNAMIC_PARTITIONING)
        && SparkCaller.supportsDynamicPartitioning(destination);
  }

  /**
   * Makes the job's directories.
   *
   * @throws IllegalArgumentException if an option has a value that is not allowed, or a key is no
   *     option, which says what is; or if Spark would write past the staging directory
   * @throws io.manifestcommitter.store.UnsupportedStoreException if the account behind the path has
   *     no atomic rename
   */
  @Override
  public void setupJob(JobContext context) throws IOException {
    caller.requireStaging(destination);
    SparkCaller.requireKnownWriter(destination);
    UnknownOption.refuse(context.getConfiguration());
    if (config().commitId.isPresent() || config().holds()) {
      throw new IllegalArgumentException(
          (config().holds() ? CommitterConfig.PUBLISH : CommitterConfig.COMMIT_ID)
              + " is set, which only writes of Spark SQL and DataFrames have. Nothing was changed:"
              + " remove it from the settings of this job");
    }
    stores.requireSafeRename(destination);
    try {
      job(context).setUp();
    } catch (HadoopJob.DuplicateJobException e) {
      isDuplicate = true;
      throw e;
    }
  }

  @Override
  public void setupTask(TaskAttemptContext context) throws IOException {
    caller.requireStaging(destination);
    audit(context)
        .during(StatisticNames.TASK_STAGE_SETUP, () -> stores.all().mkdirs(workPath(context)));
  }

  /** Always: also a task without files has a manifest, which says so. */
  @Override
  public boolean needsTaskCommit(TaskAttemptContext context) {
    return true;
  }

  @Override
  public void commitTask(TaskAttemptContext context) throws IOException {
    TaskAttemptID attempt = context.getTaskAttemptID();
    CommitTask commit = new CommitTask(stores.all(), config(), paths(context), progress(context));
    audit(context)
        .during(
            StatisticNames.TASK_STAGE_COMMIT,
            () -> commit.run(attempt.getTaskID().toString(), attempt.toString()));
  }

  /**
   * Deletes what the attempt wrote. The attempt is the context's and not this instance's:
   * MapReduce's application master aborts the attempts of dead containers through its own
   * committer.
   */
  @Override
  public void abortTask(TaskAttemptContext context) throws IOException {
    audit(context)
        .during(
            StatisticNames.TASK_STAGE_ABORT_TASK, () -> stores.all().deleteTree(workPath(context)));
  }

  /**
   * Whether a job commit may be repeated when its outcome is unknown. Every step can be repeated:
   * another try, also by another committer, recognises what is done already. Only where {@code
   * _SUCCESS} is switched off is there nothing by which to recognise a commit that also cleaned up.
   */
  @Override
  public boolean isCommitJobRepeatable(JobContext context) {
    return config().markSuccessfulJobs;
  }

  @Override
  public void commitJob(JobContext context) throws IOException {
    commitTried = true;
    SparkWatch.install();
    HadoopJob job = job(context);
    job.commit();
    committed = true;
    job.cleanUp();
  }

  /**
   * Cleans up, after rolling back what a commit that failed made visible, here or elsewhere. What
   * was committed stays, and so does the job whose id this one had by mistake.
   */
  @Override
  public void abortJob(JobContext context, JobStatus.State state) throws IOException {
    if (isDuplicate) {
      return;
    }
    HadoopJob job = job(context);
    if (!committed) {
      if (!commitTried) {
        job.saveAborted();
      }
      job.rollBack();
    }
    job.cleanUp();
  }

  /** As at the end of a commit; for a job whose commit ran elsewhere. */
  @Override
  @Deprecated
  public void cleanupJob(JobContext context) throws IOException {
    job(context).cleanUp();
  }

  @Override
  public String toString() {
    return "ManifestCommitter{destination="
        + destination
        + ", jobId="
        + (writeJobUuid.isEmpty() ? taskAttemptId.getJobID() : writeJobUuid)
        + " ("
        + jobIdSource()
        + ")"
        + ", taskAttemptId="
        + taskAttemptId
        + ", workPath="
        + getWorkPath()
        + ", version="
        + BuildInfo.version()
        + "}";
  }

  /**
   * Where the job works. Its id is that of the context and not of our making: Spark makes the
   * driver's committer with a task attempt of another job id.
   */
  private JobPaths paths(JobContext context) {
    String jobId = writeJobUuid.isEmpty() ? context.getJobID().toString() : writeJobUuid;
    return new JobPaths(destination, jobId, jobAttempt);
  }

  private String jobIdSource() {
    return writeJobUuid.isEmpty() ? "JobID" : SPARK_WRITE_JOB_UUID;
  }

  private Path workPath(TaskAttemptContext context) {
    return paths(context).taskAttemptDirectory(context.getTaskAttemptID().toString());
  }

  private HadoopJob job(JobContext context) {
    return new HadoopJob(
        stores.all(),
        gate,
        config(),
        paths(context),
        jobIdSource(),
        ManifestCommitter.class.getName(),
        progress(context));
  }

  private Audit audit(TaskAttemptContext context) {
    return Audit.task(paths(context).jobId, context.getTaskAttemptID().toString());
  }

  private static Runnable progress(JobContext context) {
    Progressable progress = null;
    if (context instanceof Progressable) {
      progress = (Progressable) context;
    } else if (context instanceof org.apache.hadoop.mapred.JobContext) {
      progress = ((org.apache.hadoop.mapred.JobContext) context).getProgressible();
    }
    return progress == null ? () -> {} : progress::progress;
  }

  /** The options, if all of them are allowed. */
  private CommitterConfig config() {
    if (badOption != null) {
      throw badOption;
    }
    return config;
  }
}
