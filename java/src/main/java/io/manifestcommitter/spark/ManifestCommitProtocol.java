// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.config.CommitterConfig.S3WriteTo;
import io.manifestcommitter.config.CommitterConfig.UnsupportedScheme;
import io.manifestcommitter.config.UnknownOption;
import io.manifestcommitter.jobs.LifeSigns.Pause;
import io.manifestcommitter.lakefs.LakefsTable;
import io.manifestcommitter.lakefs.LakefsUpload;
import io.manifestcommitter.spark.WriteRequest.Overwrite;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.StorePaths;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.store.UnsupportedStoreException;
import io.manifestcommitter.watch.SparkWatch;
import java.io.IOException;
import java.io.Serializable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.spark.internal.io.FileCommitProtocol;
import org.apache.spark.internal.io.FileNameSpec;
import org.apache.spark.mapred.SparkHadoopMapRedUtil;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;
import scala.collection.Iterator;
import scala.collection.Seq;

/**
 * Spark's way into the committer: {@code spark.sql.sources.commitProtocolClass}.
 *
 * <p>Attempts write below {@code $table/_manifest_$jobId}, under names of their own, and tell the
 * driver in Spark's commit message what they wrote. From listings the driver takes only what it was
 * told of. Job commit publishes exactly that, then removes what an overwrite was asked to replace,
 * so that a job that fails leaves the old data.
 *
 * <p>One class file serves Scala 2.12 and 2.13: methods whose parameters differ between the two
 * exist twice. It looks nothing up by class name, so it also works from a jar that was added to a
 * running session.
 *
 * <p>The driver's instance is serialised to the executors after {@code setupJob}; each task attempt
 * has its own copy.
 */
public final class ManifestCommitProtocol extends FileCommitProtocol implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(ManifestCommitProtocol.class);
  private static final String SPARKS_OWN =
      "org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol";

  private static final String PARQUET = "org.apache.parquet.hadoop.ParquetOutputFormat";
  private static final String PARQUETS_OWN = "org.apache.parquet.hadoop.ParquetOutputCommitter";

  private final String jobId;
  private final String path;
  private final boolean dynamicPartitionOverwrite;

  /** Spark's own protocol, where the store is not served and the user chose that. */
  private FileCommitProtocol delegate;

  /** The table, qualified; known from setupJob on. */
  private String table;

  /** Whether the job made the table's directory; known from setupJob on. */
  private boolean madeTable;

  private final transient List<Deletion> deletions = new ArrayList<>();

  /** How tasks upload to lakeFS; null where the store is another one. Known from setupJob on. */
  private LakefsUpload.Way lakefsWay;

  private transient WriteJob job;
  private transient SparkTask attempt;

  /**
   * Called by Spark.
   *
   * @param jobId unique for each write; names the staging directory, the files and the report
   * @param path the table's directory
   * @param dynamicPartitionOverwrite whether the partitions that the job writes to are replaced
   */
  public ManifestCommitProtocol(String jobId, String path, boolean dynamicPartitionOverwrite) {
    if (path == null) {
      throw new IllegalArgumentException("The manifest committer needs a path to write to");
    }
    this.jobId = jobId;
    this.path = path;
    this.dynamicPartitionOverwrite = dynamicPartitionOverwrite;
  }

  /**
   * Records that {@code target} is to be replaced, and deletes nothing: Spark calls this before the
   * job runs, and the old data stays until the new is complete.
   *
   * @return true, as for a deletion that was done
   */
  @Override
  public boolean deleteWithJob(FileSystem fs, Path target, boolean recursive) {
    if (delegate != null) {
      return delegate.deleteWithJob(fs, target, recursive);
    }
    deletions.add(new Deletion(fs, target, recursive));
    return true;
  }

  @Override
  public void setupJob(JobContext context) {
    SparkWatch.install();
    run(
        () -> {
          Configuration conf = context.getConfiguration();
          UnknownOption.refuse(conf);
          SparkCommand.ofThisThread().requireKnownWriter(path);
          CommitterConfig config = new CommitterConfig(conf);
          RequestGate gate = config.requestGate(() -> {});
          Stores stores = new Stores(conf, gate);
          Optional<LakefsTable> lakefs = LakefsTable.of(conf, new Path(path), gate);
          Path resolved;
          try {
            resolved = lakefs.isPresent() ? lakefs.get().path : stores.resolve(new Path(path));
            if (!lakefs.isPresent()) {
              stores.requireSafeRename(resolved);
            }
          } catch (UnsupportedStoreException e) {
            unsupported(context, config, e);
            return null;
          }
          if (config.s3WriteTo == S3WriteTo.MAGIC
              && !lakefs.isPresent()
              && stores.completesUploads(resolved)) {
            // Before any task runs into it.
            stores.magicUploads(resolved);
          }
          start(request(resolved, stores, config, lakefs.isPresent()), lakefs, gate);
          return null;
        });
  }

  private WriteRequest request(
      Path resolved, Stores stores, CommitterConfig config, boolean isInLakefs) throws IOException {
    List<Path> replaced = new ArrayList<>();
    for (Deletion deletion : deletions) {
      Path place = deletion.fs.makeQualified(deletion.path);
      if (isInLakefs) {
        place = StorePaths.plain(place);
        if (!StorePaths.isSameOrBelow(resolved, place)) {
          throw LakefsTable.outside(resolved, place);
        }
      } else {
        place = stores.resolve(place);
        if (!place.equals(resolved)) {
          LocationMarks.check(place, resolved);
        }
      }
      replaced.add(place);
    }
    Overwrite overwrite = new Overwrite(replaced, dynamicPartitionOverwrite);
    return new WriteRequest(
        jobId, resolved, overwrite, stores.all(), config, Pause.sleeping(config), System::nanoTime);
  }

  private void start(WriteRequest write, Optional<LakefsTable> lakefs, RequestGate gate)
      throws IOException {
    WriteJob started =
        lakefs.isPresent() ? new LakefsJob(write, lakefs.get(), gate) : new SparkJob(write, gate);
    table = write.table.toString();
    started.setUp();
    madeTable = started.madeTable();
    lakefsWay = started.lakefsWay;
    job = started;
  }

  /** Spark 3.5, Scala 2.12. */
  @Override
  public void commitJob(JobContext context, Seq<TaskCommitMessage> messages) {
    commit(context, messages);
  }

  /** Spark 4, Scala 2.13, whose {@code Seq} is the immutable one. */
  public void commitJob(
      JobContext context, scala.collection.immutable.Seq<TaskCommitMessage> messages) {
    commit(context, messages);
  }

  @Override
  public void abortJob(JobContext context) {
    if (delegate != null) {
      delegate.abortJob(context);
    } else if (job != null) {
      job.abort();
    }
  }

  @Override
  public void setupTask(TaskAttemptContext context) {
    if (delegate != null) {
      delegate.setupTask(context);
      return;
    }
    attempt = run(() -> new SparkTask(jobId, new Path(table), lakefsWay, context));
  }

  @Override
  public String newTaskTempFile(
      TaskAttemptContext context, Option<String> directory, FileNameSpec spec) {
    if (delegate != null) {
      return delegate.newTaskTempFile(context, directory, spec);
    }
    if (dynamicPartitionOverwrite && directory.isEmpty()) {
      throw new IllegalStateException(
          "A dynamic partition overwrite of " + table + " asked for a file outside any partition");
    }
    String partition = directory.isEmpty() ? "" : directory.get();
    return run(() -> attempt.newFile(partition, fileName(context, spec)));
  }

  /** Spark's older form, which Spark 3.5 still requires. */
  @Override
  @Deprecated
  public String newTaskTempFile(
      TaskAttemptContext context, Option<String> directory, String extension) {
    return newTaskTempFile(context, directory, new FileNameSpec("", extension));
  }

  @Override
  public String newTaskTempFileAbsPath(
      TaskAttemptContext context, String absoluteDirectory, FileNameSpec spec) {
    if (delegate != null) {
      return delegate.newTaskTempFileAbsPath(context, absoluteDirectory, spec);
    }
    return run(
        () ->
            attempt.newFileAt(
                new Path(absoluteDirectory), fileName(context, spec), dynamicPartitionOverwrite));
  }

  /** Spark's older form, which Spark 3.5 still requires. */
  @Override
  @Deprecated
  public String newTaskTempFileAbsPath(
      TaskAttemptContext context, String absoluteDirectory, String extension) {
    return newTaskTempFileAbsPath(context, absoluteDirectory, new FileNameSpec("", extension));
  }

  /**
   * Asks the driver for permission and answers with the names of the attempt's files. Makes no
   * store request; where output is uploaded, uploads it: two requests a file, in lakeFS three.
   */
  @Override
  public TaskCommitMessage commitTask(TaskAttemptContext context) {
    if (delegate != null) {
      return delegate.commitTask(context);
    }
    SparkHadoopMapRedUtil.commitTask(
        new CoordinatedCommit(),
        context,
        context.getTaskAttemptID().getJobID().getId(),
        context.getTaskAttemptID().getTaskID().getId());
    return commitApproved();
  }

  /** Commits the attempt, once the driver has permitted it. */
  TaskCommitMessage commitApproved() {
    return new TaskCommitMessage(run(attempt::commit));
  }

  /**
   * Deletes the attempt's own files; where the job has ended, also the empty directories that they
   * leave, and the table's if the job made it. Never throws: Spark would lose the cause of the
   * abort.
   */
  @Override
  public void abortTask(TaskAttemptContext context) {
    if (delegate != null) {
      delegate.abortTask(context);
    } else if (attempt != null) {
      attempt.delete(madeTable);
    }
  }

  /** On the driver, when Spark says that an attempt has committed. */
  @Override
  public void onTaskCommit(TaskCommitMessage message) {
    if (delegate != null) {
      delegate.onTaskCommit(message);
    } else if (job != null) {
      job.taskCommitted(message.obj());
    }
  }

  private void commit(JobContext context, Seq<TaskCommitMessage> messages) {
    run(
        () -> {
          if (delegate != null) {
            commitDelegate(context, messages);
            return null;
          }
          if (job == null) {
            throw new IllegalStateException("Job " + jobId + " was not set up");
          }
          List<Object> contents = new ArrayList<>();
          Iterator<TaskCommitMessage> iterator = messages.iterator();
          while (iterator.hasNext()) {
            contents.add(iterator.next().obj());
          }
          job.commit(contents);
          if (!job.isHeld() && lakefsWay == null) {
            writeParquetSummaries(context, new Path(table));
          }
          return null;
        });
  }

  /**
   * Writes Parquet's summary files, as {@code parquet.summary.metadata.level} asks for, if this is
   * a job that writes Parquet; for that Parquet opens every file of the table. Spark sets the level
   * to {@code NONE} where the user set none: then there is no request. With Spark's own protocol it
   * is Parquet's committer that writes them. Never fails: the table is complete without them.
   */
  private static void writeParquetSummaries(JobContext context, Path table) {
    try {
      Class<?> format = context.getOutputFormatClass();
      if (format.getName().equals(PARQUET)) {
        // Beside the format, wherever that was loaded from: Parquet is no dependency of ours.
        Class.forName(PARQUETS_OWN, true, format.getClassLoader())
            .getMethod("writeMetaDataFile", Configuration.class, Path.class)
            .invoke(null, context.getConfiguration(), table);
      }
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      LOG.warn(
          "{} is written, but not its Parquet summary files; those that are there may be old. Delete"
              + " _metadata and _common_metadata, or set parquet.summary.metadata.level to NONE",
          table,
          e);
    }
  }

  /**
   * Calls {@code commitJob}, whose second parameter is another class in Scala 2.13 than in 2.12, so
   * that no call compiled against one links against the other.
   */
  private void commitDelegate(JobContext context, Object messages) throws Exception {
    for (Method method : FileCommitProtocol.class.getMethods()) {
      if (method.getName().equals("commitJob")) {
        try {
          method.invoke(delegate, context, messages);
          return;
        } catch (InvocationTargetException e) {
          Throwable cause = e.getCause();
          if (cause instanceof Error) {
            throw (Error) cause;
          }
          throw cause instanceof Exception ? (Exception) cause : e;
        }
      }
    }
    throw new NoSuchMethodError("FileCommitProtocol.commitJob");
  }

  private void unsupported(
      JobContext context, CommitterConfig config, UnsupportedStoreException reason)
      throws IOException {
    if (config.unsupportedScheme == UnsupportedScheme.FAIL
        || config.commitId.isPresent()
        || config.holds()) {
      throw new UnsupportedStoreException(
          reason.getMessage()
              + " Or set "
              + CommitterConfig.UNSUPPORTED_SCHEME
              + " to delegate, and Spark's own commit protocol writes such tables. It renames each file,"
              + " which such stores do by copying: a job that fails may leave a part of its files. Nothing"
              + " was touched.");
    }
    LOG.info("{} is written by Spark's own commit protocol: {}", path, reason.getMessage());
    FileCommitProtocol spark =
        FileCommitProtocol.instantiate(SPARKS_OWN, jobId, path, dynamicPartitionOverwrite);
    for (Deletion deletion : deletions) {
      if (!spark.deleteWithJob(deletion.fs, deletion.path, deletion.recursive)) {
        throw new IOException("Spark's commit protocol could not delete " + deletion.path);
      }
    }
    delegate = spark;
    spark.setupJob(context);
  }

  /**
   * The name of a file. Spark's prefix and suffix stay verbatim, so that the bucket stays where
   * Spark's reader looks for it. In between are task, job and attempt, so that no two attempts of
   * any job choose the same name.
   */
  private String fileName(TaskAttemptContext context, FileNameSpec spec) {
    String base = context.getConfiguration().get("mapreduce.output.basename", "part");
    int task = context.getTaskAttemptID().getTaskID().getId();
    return String.format(
        Locale.ROOT,
        "%s%s-%05d-%s-%d%s",
        spec.prefix(),
        base,
        task,
        jobId,
        attempt.id,
        spec.suffix());
  }

  /**
   * Scala declares no checked exceptions, so Spark's interface does not let us declare them; they
   * pass unwrapped.
   */
  @SuppressWarnings("unchecked")
  private static <T, E extends Exception> T run(Callable<T> action) throws E {
    try {
      return action.call();
    } catch (Exception e) {
      throw (E) e;
    }
  }

  /** A deletion that Spark asked for before the job. */
  private static final class Deletion {
    private final FileSystem fs;
    private final Path path;
    private final boolean recursive;

    Deletion(FileSystem fs, Path path, boolean recursive) {
      this.fs = fs;
      this.path = path;
      this.recursive = recursive;
    }
  }

  /**
   * An output committer that has nothing to do. Spark's {@code SparkHadoopMapRedUtil.commitTask}
   * takes one, and asks the driver's OutputCommitCoordinator for permission before it commits
   * through it; the permission is what we want.
   */
  private static final class CoordinatedCommit extends OutputCommitter {
    @Override
    public void setupJob(JobContext context) {}

    @Override
    public void setupTask(TaskAttemptContext context) {}

    @Override
    public boolean needsTaskCommit(TaskAttemptContext context) {
      return true;
    }

    @Override
    public void commitTask(TaskAttemptContext context) {}

    @Override
    public void abortTask(TaskAttemptContext context) {
      // Spark calls the protocol's own abortTask for an attempt that was denied.
    }
  }
}
