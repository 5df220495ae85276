// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import io.manifestcommitter.cli.Json;
import io.manifestcommitter.lakefs.LakefsTable;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.store.UnsupportedStoreException;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.UnsupportedFileSystemException;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitterFactory;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;

/**
 * Makes the committer of a path as a job would, and asks nothing more of it: nothing is written.
 * Keeps the committer, or how far it came. What is not known is null.
 */
final class Probe {
  /** How long to wait for a store. */
  static final Duration PATIENCE = Duration.ofSeconds(20);

  private static final String DYNAMIC_OVERWRITE = "mapreduce.job.committer.dynamic.partitioning";

  private final Configuration conf;
  private final Path path;
  private PathOutputCommitterFactory factory;

  /** The committer's class. */
  Optional<String> committer = Optional.empty();

  /** Whether it tells Spark that it can serve dynamic partition overwrites. */
  boolean promisesDynamicOverwrite;

  /** What programs read of it, with all keys always there. */
  final Json.Fields map =
      new Json.Fields()
          .with("fileSystem", null)
          .with("fileSystemJar", null)
          .with("committer", null)
          .with("description", null)
          .with("jobDirectory", null)
          .with("workPath", null);

  /** Why our committer refuses a store that did open, or whose settings tell. */
  Optional<String> refusal = Optional.empty();

  /** Why jobs of Spark are refused, if it is a table in lakeFS. */
  Optional<String> lakefsRefusal = Optional.empty();

  /** Why there is no committer. */
  Optional<String> problem = Optional.empty();

  /** What was thrown, if there is a {@link #problem}. */
  Throwable cause;

  private Probe(Configuration conf, Path path) {
    this.conf = new JobConf(conf);
    this.conf.setClassLoader(conf.getClassLoader());
    this.conf.set(FileOutputFormat.OUTDIR, path.toString());
    this.path = path;
  }

  /**
   * The committer of a path, or why there is none. Throws nothing but what ends a program.
   *
   * <p>Some connectors make requests when they are opened, and try for minutes where there is no
   * answer. So that is done by a thread of its own, which is left behind after a while.
   */
  static Probe of(Configuration conf, Path path, Duration patience) {
    Probe probe = new Probe(conf, path);
    FutureTask<Probe> task = new FutureTask<>(probe::run, probe);
    Thread thread = new Thread(task, "committer-info");
    thread.setDaemon(true);
    thread.start();
    try {
      return task.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      task.cancel(true);
      Probe late = new Probe(conf, path);
      late.fail("no-answer", new TimeoutException(patience.toSeconds() + " s"));
      return late;
    } catch (InterruptedException e) {
      task.cancel(true);
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while " + path + " was looked at", e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("Looking at " + path + " failed", e.getCause());
    }
  }

  /** No committer was asked for. */
  static Probe nothing() {
    return new Probe(new Configuration(false), new Path("/"));
  }

  /** Finds the factory of a path without asking it for a committer. */
  static Probe ofFactory(Configuration conf, Path path) {
    Probe probe = new Probe(conf, path);
    probe.findFactory();
    return probe;
  }

  private void run() {
    lookAtLakefs();
    findFactory();
    if (problem.isEmpty()
        || FactoryBinding.of(conf, path).className.equals(ClassNames.S3A_FACTORY)) {
      // S3A's factory is missing with the connector, without which nothing is written.
      openStore();
    }
    if (problem.isEmpty()) {
      makeCommitter();
    }
  }

  /** As a job's setup does, but changes nothing. */
  private void lookAtLakefs() {
    try {
      Optional<LakefsTable> table = LakefsTable.of(conf, path, RequestGate.open());
      if (table.isPresent()) {
        table.get().requireClean(/* removes= */ false);
      }
    } catch (IOException | RuntimeException e) {
      lakefsRefusal = Optional.ofNullable(e.getMessage());
    }
  }

  private void findFactory() {
    try {
      factory = PathOutputCommitterFactory.getCommitterFactory(path, conf);
    } catch (RuntimeException | LinkageError e) {
      boolean isMissing = Stores.missingClass(e).isPresent();
      fail(isMissing ? "factory-not-found" : "factory-failed", e);
    }
  }

  private void openStore() {
    Stores stores = new Stores(conf);
    if (stores.refusal(path).isPresent()) {
      return; // A committer that refuses does so without the store; others open it themselves.
    }
    refusal = stores.refusalBySettings(path);
    try {
      String scheme = path.toUri().getScheme();
      if (scheme != null) {
        FileSystem.getFileSystemClass(scheme, conf);
      }
      Class<?> opened = path.getFileSystem(conf).getClass();
      map.with("fileSystem", opened.getName()).with("fileSystemJar", ClassNames.jarWith(opened));
      stores.requireSafeRename(path);
    } catch (UnsupportedStoreException e) {
      refusal = Optional.of(e.getMessage());
    } catch (IOException | RuntimeException | LinkageError e) {
      if (refusal.isPresent()) {
        return; // What would let it open does not let the committer serve it.
      }
      boolean isMissing =
          Stores.missingClass(e).isPresent() || e instanceof UnsupportedFileSystemException;
      fail(isMissing ? "store-not-found" : "store-failed", e);
    }
  }

  private void makeCommitter() {
    TaskAttemptContext context =
        new TaskAttemptContextImpl(
            conf, new TaskAttemptID(new TaskID(new JobID("info", 1), TaskType.MAP, 0), 0));
    try {
      PathOutputCommitter made = factory.createOutputCommitter(path, context);
      Path workPath = made.getWorkPath();
      map.with("description", made.toString())
          .with("workPath", workPath == null ? null : workPath.toString())
          .with("jobDirectory", jobDirectory(made, context));
      promisesDynamicOverwrite =
          made instanceof StreamCapabilities
              && ((StreamCapabilities) made).hasCapability(DYNAMIC_OVERWRITE);
      committer = Optional.of(made.getClass().getName());
      map.with("committer", committer);
    } catch (UnsupportedStoreException e) {
      // The rules tell it, which know what else is set.
    } catch (IOException | RuntimeException | LinkageError e) {
      fail("factory-failed", e);
    }
  }

  private static Optional<String> jobDirectory(
      PathOutputCommitter committer, TaskAttemptContext context) throws IOException {
    if (committer instanceof FileOutputCommitter) {
      return Optional.of(((FileOutputCommitter) committer).getJobAttemptPath(context).toString());
    }
    return committer.getClass().getName().equals(ClassNames.COMMITTER)
        ? Optional.of(committer.getWorkPath().getParent().getParent().toString())
        : Optional.empty();
  }

  private void fail(String name, Throwable failure) {
    problem = Optional.of(name);
    cause = failure;
  }
}
