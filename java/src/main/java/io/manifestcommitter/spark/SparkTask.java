// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.Audit;
import io.manifestcommitter.commit.FindOldData;
import io.manifestcommitter.commit.RemoveOldData;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.config.CommitterConfig.ConflictMode;
import io.manifestcommitter.config.CommitterConfig.S3WriteTo;
import io.manifestcommitter.journal.Heartbeat;
import io.manifestcommitter.lakefs.LakefsTable;
import io.manifestcommitter.lakefs.LakefsUpload;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.spark.StagedFile.Form;
import io.manifestcommitter.store.CallerContext;
import io.manifestcommitter.store.FileUpload;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import io.manifestcommitter.store.Stores;
import java.io.File;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.LocalDirAllocator;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.spark.TaskContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The executor's side of one write: the files of one task attempt. Where the store renames, they
 * are written to the job's staging directory. Where it completes uploads, they are written to the
 * executor's disk, or to S3A's magic paths, and uploaded from there. In lakeFS they are uploaded
 * from the disk, too, and linked to the branch of the job.
 */
final class SparkTask {
  private static final Logger LOG = LoggerFactory.getLogger(SparkTask.class);

  /** Where S3A keeps what it has not uploaded yet; there has to be room for an attempt's output. */
  private static final String DIRECTORIES = "fs.s3a.buffer.dir";

  /** Spark's id of the attempt: distinct across retries, stage retries and speculation. */
  final long id;

  private final String jobId;
  private final Path table;
  private final StagingRoot staging;
  private final int task;
  private final Configuration conf;
  private final CommitterConfig config;
  private final Stores stores;
  private final Store store;
  private final BooleanSupplier isOver;
  private final NavigableSet<StagedFile> files = new TreeSet<>();
  private final Map<Path, Path> marks = new HashMap<>();
  private final Map<StagedFile, FileUpload> uploads = new TreeMap<>();
  private final List<File> onDisk = new ArrayList<>();

  /** Empty where the table is in another store. */
  private final Optional<LakefsTable> lakefs;

  private final LakefsUpload.Way lakefsWay;

  /** Null until there is a file on disk that is uploaded while it is written. */
  private Follow follow;

  /**
   * The attempt of a task.
   *
   * @param lakefsWay how it uploads to lakeFS; null where the table is in another store
   */
  SparkTask(String jobId, Path table, LakefsUpload.Way lakefsWay, TaskAttemptContext context)
      throws IOException {
    TaskContext spark = TaskContext.get();
    this.id = spark != null ? spark.taskAttemptId() : context.getTaskAttemptID().getId();
    this.jobId = jobId;
    this.table = table;
    this.staging = new StagingRoot(table, jobId);
    this.task = context.getTaskAttemptID().getTaskID().getId();
    this.conf = context.getConfiguration();
    this.config = new CommitterConfig(conf);
    this.stores = new Stores(conf);
    this.store = stores.all();
    this.lakefsWay = lakefsWay;
    this.lakefs =
        lakefsWay == null
            ? Optional.empty()
            : LakefsTable.of(conf, table, config.requestGate(() -> {}));
    this.isOver = () -> spark != null && spark.isCompleted();
  }

  /** Where to write a file of the table. */
  String newFile(String directory, String name) throws IOException {
    return newFile(new StagedFile(StagedFile.TABLE, directory, name), table, staging);
  }

  /**
   * Where to write a file of a partition outside of the table.
   *
   * @param mayReplace whether files there may be replaced
   */
  String newFileAt(Path directory, String name, boolean mayReplace) throws IOException {
    if (lakefs.isPresent() || stores.isLakefs(directory)) {
      throw LakefsTable.outside(table, directory);
    }
    Path location = LocationMarks.resolve(stores, directory, stores.resolve(table));
    if (!marks.containsKey(location)) {
      stores.requireSafeRename(location);
      if (mayReplace || config.conflictMode == ConflictMode.REPLACE) {
        FindOldData.requireNoLink(store, location);
      }
      marks.put(location, new LocationMarks(store, staging).write(location));
    }
    StagedFile file = new StagedFile(location.toString(), "", name);
    return newFile(file, location, new StagingRoot(location, jobId));
  }

  private String newFile(StagedFile file, Path target, StagingRoot root) throws IOException {
    files.add(file);
    if (!lakefs.isPresent() && !stores.completesUploads(target)) {
      return file.in(root.output()).toString();
    }
    FileUpload upload = uploads.get(file);
    if (upload == null) {
      upload = newUpload(file.in(target));
      uploads.put(file, upload);
    }
    return upload.path().toString();
  }

  private FileUpload newUpload(Path destination) throws IOException {
    // A directory for each file: names of files in different partitions may be the same.
    String own = "manifest-committer-" + jobId + "-" + id + "/" + uploads.size();
    if (!lakefs.isPresent() && config.s3WriteTo == S3WriteTo.MAGIC) {
      return stores.magicUploads(destination).newUpload(destination, jobId, own.replace('/', '-'));
    }
    Path directory =
        new LocalDirAllocator(DIRECTORIES)
            .getLocalPathForWrite(own, LocalDirAllocator.SIZE_UNKNOWN, conf);
    File parent = new File(directory.toUri().getPath());
    Files.createDirectories(parent.toPath());
    onDisk.add(parent);
    File local = new File(parent, destination.getName());
    LOG.debug("{} is written to {} first", destination, local);
    if (lakefs.isPresent()) {
      return new LakefsUpload(lakefs.get(), jobId, lakefsWay, conf, local, destination);
    }
    FileUpload upload = store.newUpload(local, destination);
    if (follow == null) {
      follow = new Follow(isOver);
    }
    follow.add(upload);
    return upload;
  }

  /**
   * Uploads what is to be uploaded, in parallel. A file that was not written is named all the same:
   * the driver says whether that may be.
   *
   * @return the commit message
   */
  byte[] commit() throws IOException {
    NavigableSet<StagedFile> staged = new TreeSet<>(files);
    requireGivenNames();
    if (!uploads.isEmpty()) {
      Workers workers = workers();
      workers.shield(
          () -> {
            stopFollowing();
            Queue<StagedFile> uploaded = new ConcurrentLinkedQueue<>();
            workers.forEach(
                uploads.entrySet(), each -> upload(each.getKey(), each.getValue(), uploaded));
            removeFromDisk();
            uploaded.forEach(staged::remove);
            staged.addAll(uploaded);
          });
    }
    return TaskOutput.message(jobId, task, staged);
  }

  /** Elsewhere the driver sees that: see {@link ProveStaged}. What is on disk here is deleted. */
  private void requireGivenNames() throws IOException {
    Set<String> given = new HashSet<>();
    uploads.keySet().forEach(file -> given.add(file.name));
    for (File directory : onDisk) {
      for (File file : FileUtil.listFiles(directory)) {
        if (!given.contains(file.getName()) && !file.getName().endsWith(".crc")) {
          throw new IOException(ProveStaged.notGiven(1, file.toString()));
        }
      }
    }
  }

  private void upload(StagedFile file, FileUpload upload, Queue<StagedFile> uploaded)
      throws IOException {
    if (upload.isWritten()) {
      StoreEntry entry = upload.finish();
      Form form = lakefs.isPresent() ? Form.TO_MERGE : Form.TO_COMPLETE;
      uploaded.add(file.as(form, entry.length(), entry.etag()));
    } else {
      upload.abort();
    }
  }

  private Workers workers() {
    Audit audit = Audit.task(jobId, Long.toString(id));
    return new Workers(config.ioThreads, () -> {}, audit, CommitProgress.unwatched());
  }

  /**
   * Deletes the attempt's files, and gives up its uploads. Never throws.
   *
   * @param madeTable whether the job made the table's directory
   */
  void delete(boolean madeTable) {
    try {
      List<Path> own = new ArrayList<>();
      Set<Path> directories = new HashSet<>();
      for (StagedFile file : files) {
        boolean isOfTable = file.location.equals(StagedFile.TABLE);
        StagingRoot root = isOfTable ? staging : new StagingRoot(new Path(file.location), jobId);
        Path path = file.in(root.output());
        upTo(root, path, directories);
        if (!uploads.containsKey(file)) {
          own.add(path);
        }
      }
      Workers workers = workers();
      workers.toItsEnd();
      workers.shield(
          () -> {
            stopFollowing();
            removeFromDisk();
            workers.forEach(uploads.values(), upload -> Retries.few(upload::abort));
            workers.forEach(own, store::deleteFile);
            if (lakefs.isPresent()) {
              // A job there makes no directories.
              return;
            }
            if (!files.isEmpty() && !Heartbeat.last(store, staging.root()).isPresent()) {
              if (madeTable && config.markSuccessfulJobs) {
                // A table that the job committed is not empty: it has a report.
                directories.add(staging.directory());
              }
              leaveNothing(workers, directories);
            }
          });
    } catch (IOException | RuntimeException e) {
      LOG.warn("Files of attempt {} of job {} remain in {}", id, jobId, staging.root(), e);
    }
  }

  /**
   * The job has ended and cleaned up, and this attempt, which did not know, made directories again;
   * they go where nothing else is in them.
   */
  private void leaveNothing(Workers workers, Set<Path> directories) throws IOException {
    workers.forEach(marks.values(), store::deleteFile);
    marks.values().forEach(mark -> upTo(staging, mark, directories));
    Queue<String> left = new ConcurrentLinkedQueue<>();
    RemoveOldData.deleteEmpty(store, workers, directories, left);
    if (!left.isEmpty()) {
      LOG.warn("Empty directories of attempt {} of job {} may remain: {}", id, jobId, left);
    }
  }

  /**
   * Adds the directories above a file, up to the staging directory, and the place beside a file.
   */
  private void upTo(StagingRoot root, Path file, Set<Path> directories) {
    for (Path directory = file.getParent();
        StorePaths.isSameOrBelow(root.root(), directory);
        directory = directory.getParent()) {
      directories.add(directory);
    }
  }

  private void stopFollowing() throws IOException {
    if (follow != null) {
      follow.close();
    }
  }

  private void removeFromDisk() {
    for (File directory : onDisk) {
      // What writers put beside it, such as the checksums of Hadoop's local filesystem, too.
      FileUtil.fullyDelete(directory);
      directory.getParentFile().delete();
    }
  }

  /**
   * Uploads the full parts of the files that an attempt writes, while it writes on, in a thread of
   * its own. Nobody else may use an upload that is followed until this is closed.
   */
  static final class Follow implements AutoCloseable {
    /** In milliseconds. */
    private static final long INTERVAL = 1000;

    /** How many of the files that were begun last may still be written to. */
    private static final int MOST_OPEN = 100;

    private final Deque<FileUpload> open = new ConcurrentLinkedDeque<>();
    private final ScheduledThreadPoolExecutor thread;
    private final ScheduledFuture<?> rounds;

    /**
     * Begins to follow.
     *
     * @param isOver whether the attempt is, though nobody closed this
     */
    Follow(BooleanSupplier isOver) {
      CallerContext caller = new CallerContext();
      thread =
          new ScheduledThreadPoolExecutor(
              1, work -> caller.thread("manifest-committer-upload", work));
      rounds =
          thread.scheduleWithFixedDelay(
              () -> {
                if (isOver.getAsBoolean()) {
                  thread.shutdown();
                } else {
                  run();
                }
              },
              INTERVAL,
              INTERVAL,
              TimeUnit.MILLISECONDS);
    }

    /** One more file, that is written from now on. */
    void add(FileUpload upload) {
      open.addLast(upload);
      if (open.size() > MOST_OPEN) {
        open.pollFirst();
      }
    }

    /** Uploads what is full parts now. */
    private void run() {
      for (FileUpload upload : new ArrayList<>(open)) {
        if (thread.isShutdown()) {
          return;
        }
        try {
          upload.follow();
        } catch (IOException | RuntimeException | Error e) {
          LOG.info("Part of a file is uploaded when its task commits: {}", e.toString());
          LOG.debug("The upload that failed", e);
          open.remove(upload);
        }
      }
    }

    /** Stops; waits for a part that is under way. */
    @Override
    public void close() throws InterruptedIOException {
      rounds.cancel(/* mayInterruptIfRunning= */ false);
      thread.shutdown();
      try {
        while (!thread.awaitTermination(1, TimeUnit.MINUTES)) {
          LOG.info("A part of a file is still uploaded");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("Interrupted while a part of a file was uploaded");
      }
    }
  }
}
