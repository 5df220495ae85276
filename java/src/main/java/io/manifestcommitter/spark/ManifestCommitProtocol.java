// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.Audit;
import io.manifestcommitter.commit.FindOldData;
import io.manifestcommitter.commit.RemoveEmptyDirectories;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.config.CommitterConfig.ConflictMode;
import io.manifestcommitter.config.CommitterConfig.S3WriteTo;
import io.manifestcommitter.config.CommitterConfig.UnsupportedScheme;
import io.manifestcommitter.journal.Heartbeat;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StorePaths;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.store.UnsupportedStoreException;
import io.manifestcommitter.watch.SparkWatch;
import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.spark.TaskContext;
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

  private final String jobId;
  private final String path;
  private final boolean dynamicPartitionOverwrite;

  /** Spark's own protocol, where the store is not served and the user chose that. */
  private FileCommitProtocol delegate;

  /** The table, qualified; known from setupJob on. */
  private String table;

  /** Whether the job made the table's directory; known from setupJob on. */
  private boolean madeTable;

  /** Whether attempts upload what they write to the table; known from setupJob on. */
  private boolean uploads;

  private transient List<Deletion> deletions;
  private transient SparkJob job;
  private transient Attempt attempt;

  /**
   * As {@link #ManifestCommitProtocol(String, String, boolean)} without dynamic partition
   * overwrite.
   */
  public ManifestCommitProtocol(String jobId, String path) {
    this(jobId, path, false);
  }

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
    if (deletions == null) {
      deletions = new ArrayList<>();
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
          CommitterConfig config = new CommitterConfig(conf);
          RequestGate gate = config.requestGate(() -> {});
          Stores stores = new Stores(conf, gate);
          Path resolved;
          try {
            resolved = stores.resolve(new Path(path));
            stores.requireSafeRename(resolved);
          } catch (UnsupportedStoreException e) {
            unsupported(context, config, e);
            return null;
          }
          if (config.s3WriteTo() == S3WriteTo.MAGIC
              && stores.all().traits(resolved).completesUploads()) {
            // Before any task runs into it.
            stores.magicUploads(resolved);
          }
          table = resolved.toString();
          SparkJob started =
              new SparkJob(
                  new WriteRequest(
                      jobId, resolved, overwrite(stores, resolved), stores.all(), config),
                  gate);
          started.setUp();
          madeTable = started.madeTable();
          uploads = started.isUploaded();
          job = started;
          return null;
        });
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
    attempt = new Attempt(context);
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
    return run(() -> attempt.newFileAt(new Path(absoluteDirectory), fileName(context, spec)));
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
   * store request; where output is uploaded, uploads it: two requests a file.
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
      attempt.delete();
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
          ParquetSummaries.write(context, new Path(table));
          return null;
        });
  }

  private void commitDelegate(JobContext context, Object messages) throws Exception {
    try {
      SparkProtocol.commitJob(delegate, context, messages);
    } catch (Exception | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IOException(e);
    }
  }

  private void unsupported(
      JobContext context, CommitterConfig config, UnsupportedStoreException reason)
      throws IOException {
    if (config.unsupportedScheme() == UnsupportedScheme.FAIL) {
      throw new UnsupportedStoreException(
          reason.getMessage()
              + " Or set "
              + CommitterConfig.UNSUPPORTED_SCHEME
              + " to delegate, and Spark's own commit protocol writes such tables. It renames each file,"
              + " which such stores do by copying: a job that fails may leave a part of its files. Nothing"
              + " was touched.");
    }
    LOG.info("{} is written by Spark's own commit protocol: {}", path, reason.getMessage());
    FileCommitProtocol spark = SparkProtocol.instantiate(jobId, path, dynamicPartitionOverwrite);
    if (deletions != null) {
      for (Deletion deletion : deletions) {
        if (!spark.deleteWithJob(deletion.fs, deletion.path, deletion.recursive)) {
          throw new IOException("Spark's commit protocol could not delete " + deletion.path);
        }
      }
    }
    delegate = spark;
    spark.setupJob(context);
  }

  private Overwrite overwrite(Stores stores, Path resolvedTable) throws IOException {
    List<Path> recorded = new ArrayList<>();
    if (deletions != null) {
      for (Deletion deletion : deletions) {
        Path replaced = stores.resolve(deletion.fs.makeQualified(deletion.path));
        if (!replaced.equals(resolvedTable)) {
          CustomLocation.check(replaced, resolvedTable);
        }
        recorded.add(replaced);
      }
    }
    return dynamicPartitionOverwrite ? Overwrite.dynamic(recorded) : Overwrite.recorded(recorded);
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
  private static <T> T run(Callable<T> action) {
    return ManifestCommitProtocol.<T, RuntimeException>unchecked(action);
  }

  @SuppressWarnings("unchecked")
  private static <T, E extends Exception> T unchecked(Callable<T> action) throws E {
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

  /** The executor's side: the files of one task attempt. */
  private final class Attempt {
    private final long id;
    private final Configuration conf;
    private final Stores stores;
    private final StagingRoot staging;
    private final String output;
    private final TaskOutput.Builder files;
    private final Map<Path, Path> marks = new HashMap<>();
    private final TaskUploads uploaded;

    Attempt(TaskAttemptContext context) {
      TaskContext spark = TaskContext.get();
      // Spark's id is distinct across retries, stage retries and speculation.
      id = spark != null ? spark.taskAttemptId() : context.getTaskAttemptID().getId();
      conf = context.getConfiguration();
      stores = new Stores(conf);
      staging = new StagingRoot(new Path(table), jobId);
      output = staging.output() + "/";
      files = TaskOutput.builder(jobId, context.getTaskAttemptID().getTaskID().getId(), id);
      String name = "manifest-committer-" + jobId + "-" + id;
      uploaded =
          new CommitterConfig(conf).s3WriteTo() == S3WriteTo.MAGIC
              ? new MagicOutput(jobId, name, stores)
              : new LocalOutput(
                  name, conf, stores.all(), () -> spark != null && spark.isCompleted());
    }

    String newFile(String directory, String name) throws IOException {
      files.add(TaskOutput.TABLE, directory, name);
      if (uploads) {
        Path parent = StorePaths.resolve(new Path(table), directory);
        return uploaded.newFile(
            TaskOutput.TABLE, directory, name, StorePaths.resolve(parent, name));
      }
      return directory.isEmpty() ? output + name : output + directory + "/" + name;
    }

    String newFileAt(Path directory, String name) throws IOException {
      Path resolvedTable = stores.resolve(new Path(table));
      Path location = CustomLocation.resolve(stores, directory, resolvedTable);
      if (!marks.containsKey(location)) {
        CommitterConfig config = new CommitterConfig(conf);
        stores.requireSafeRename(location);
        if (dynamicPartitionOverwrite || config.conflictMode() == ConflictMode.REPLACE) {
          FindOldData.requireNoLink(stores.all(), location);
        }
        marks.put(location, new LocationMarks(stores.all(), staging).write(location));
      }
      files.add(location.toString(), "", name);
      if (stores.all().traits(location).completesUploads()) {
        return uploaded.newFile(location.toString(), "", name, StorePaths.resolve(location, name));
      }
      return new StagingRoot(location, jobId).output() + "/" + name;
    }

    byte[] commit() throws IOException {
      if (!uploaded.isEmpty()) {
        Workers workers = workers();
        workers.shield(
            () -> {
              uploaded.upload(files, workers);
            });
      }
      return files.build().toBytes();
    }

    private Workers workers() {
      Audit audit = Audit.task(jobId, Long.toString(id));
      return new Workers(new CommitterConfig(conf).ioThreads(), () -> {}, audit);
    }

    void delete() {
      try {
        List<Path> own = new ArrayList<>();
        Set<Path> directories = new HashSet<>();
        files
            .names()
            .forEach(
                (location, byDirectory) -> {
                  StagingRoot root =
                      location.equals(TaskOutput.TABLE)
                          ? staging
                          : new StagingRoot(new Path(location), jobId);
                  byDirectory.forEach(
                      (directory, names) -> {
                        Path parent = StorePaths.resolve(root.output(), directory);
                        names.forEach(name -> own.add(StorePaths.resolve(parent, name)));
                        upTo(root, own.get(own.size() - 1), directories);
                      });
                });
        Store store = stores.all();
        CommitterConfig config = new CommitterConfig(conf);
        Workers workers = workers();
        workers.toItsEnd();
        workers.shield(
            () -> {
              uploaded.delete(workers);
              boolean hasWritten = !own.isEmpty();
              own.removeIf(file -> store.traits(file).completesUploads());
              workers.forEach(own, store::deleteFile);
              if (hasWritten && !Heartbeat.exists(store, staging)) {
                if (madeTable && config.markSuccessfulJobs()) {
                  // A table that the job committed is not empty: it has a report.
                  directories.add(staging.directory());
                }
                leaveNothing(store, workers, directories);
              }
            });
      } catch (IOException | RuntimeException e) {
        LOG.warn("Files of attempt {} of job {} remain in {}", id, jobId, staging.root(), e);
      }
    }

    /**
     * The job has ended and cleaned up, and this attempt, which did not know, made directories
     * again; they go where nothing else is in them.
     */
    private void leaveNothing(Store store, Workers workers, Set<Path> directories)
        throws IOException {
      workers.forEach(marks.values(), store::deleteFile);
      marks.values().forEach(mark -> upTo(staging, mark, directories));
      Queue<String> left = new ConcurrentLinkedQueue<>();
      new RemoveEmptyDirectories(store, workers).run(directories, left);
      if (!left.isEmpty()) {
        LOG.warn("Empty directories of attempt {} of job {} may remain: {}", id, jobId, left);
      }
    }

    /** Adds the directories above a file, up to the staging directory. */
    private void upTo(StagingRoot root, Path file, Set<Path> directories) {
      for (Path directory = file.getParent();
          StorePaths.isSameOrBelow(root.root(), directory);
          directory = directory.getParent()) {
        directories.add(directory);
      }
    }
  }
}
