// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.throttle;

import io.manifestcommitter.connectors.EmulatedStore;
import io.manifestcommitter.emulator.Emulator;
import io.manifestcommitter.emulator.RequestLog;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.testing.HadoopCalls;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;

/**
 * A job of tasks with 100 files each, whose job commit meets an account that serves only so many
 * requests a second.
 */
final class ThrottledCommit {
  static final int FILES = 100;

  private static final JobID JOB = new JobID("202601010000", 1);
  private static final int WRITERS = 16;

  private final Emulator emulator;
  private final Configuration conf;
  private final HadoopCalls calls;
  private final int tasks;

  /**
   * A job.
   *
   * @param settings of the connector, besides those that lead it to the emulator
   */
  ThrottledCommit(Emulator emulator, int tasks, Map<String, String> settings) {
    this.emulator = emulator;
    this.tasks = tasks;
    this.conf = EmulatedStore.conf(emulator);
    settings.forEach(conf::set);
    Path root = new Path(emulator.root());
    HadoopCalls.bind(conf, root.toUri().getScheme());
    this.calls = new HadoopCalls(conf, new Path(root, "table"), JOB);
  }

  /** Writes and commits the tasks, without a limit. */
  void prepare() throws Exception {
    calls.setupJob();
    ExecutorService writers = Executors.newFixedThreadPool(WRITERS);
    try {
      List<Future<?>> written = new ArrayList<>();
      for (int number = 0; number < tasks; number++) {
        int task = number;
        written.add(
            writers.submit(
                () -> {
                  run(task);
                  return null;
                }));
      }
      for (Future<?> task : written) {
        task.get();
      }
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    } finally {
      writers.shutdownNow();
    }
  }

  private void run(int number) throws IOException {
    PathOutputCommitter committer = calls.setupTask(number, 0);
    FileSystem fs = calls.table.getFileSystem(conf);
    for (int file = 0; file < FILES; file++) {
      fs.create(new Path(committer.getWorkPath(), name(number, file)), false).close();
    }
    committer.commitTask(calls.context(number, 0));
  }

  private static String name(int task, int file) {
    return "part-" + task + "-" + file;
  }

  /** Commits the job on an account of so many requests a second, and watches its requests. */
  List<Second> commit(int perSecond) throws Exception {
    emulator.log().clear();
    emulator.limit(perSecond);
    List<Second> seconds = new ArrayList<>();
    ScheduledExecutorService watch = Executors.newSingleThreadScheduledExecutor();
    ScheduledFuture<?> watching =
        watch.scheduleAtFixedRate(() -> seconds.add(now()), 1, 1, TimeUnit.SECONDS);
    try {
      calls.commitJob();
    } finally {
      watching.cancel(false);
      watch.shutdown();
      watch.awaitTermination(1, TimeUnit.MINUTES);
      emulator.limit(0);
    }
    seconds.add(now());
    return seconds;
  }

  private Second now() {
    int refused = 0;
    List<RequestLog.Entry> entries = emulator.log().entries();
    for (RequestLog.Entry entry : entries) {
      refused += entry.refusedByLimit() ? 1 : 0;
    }
    return new Second(entries.size() - refused, refused);
  }

  /** The report of the commit. */
  SuccessReport report() throws IOException {
    Path success = new Path(calls.table, "_SUCCESS");
    try (InputStream in = calls.table.getFileSystem(conf).open(success)) {
      return SuccessReport.parse(in.readAllBytes(), success.toString());
    }
  }

  /** The files that are missing from the table. */
  Set<String> missing() {
    Set<String> missing = new HashSet<>();
    for (int task = 0; task < tasks; task++) {
      for (int file = 0; file < FILES; file++) {
        missing.add("/table/" + name(task, file));
      }
    }
    missing.removeAll(emulator.tree().keySet());
    return missing;
  }

  /** What the account had served and refused when a second had passed. */
  record Second(int served, int refused) {}
}
