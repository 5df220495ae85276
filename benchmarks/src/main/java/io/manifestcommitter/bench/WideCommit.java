// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.progress.JvmWide;
import io.manifestcommitter.spark.ManifestCommitProtocol;
import io.manifestcommitter.testing.SparkCalls;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage;

/**
 * A job of 100,000 files that are published one by one in a slow simulated store, in the JVM that
 * asks for it: a driver of Spark, by py4j, or a Spark Connect server, by {@code java_method}. What
 * watches commits there can be looked at without as many files on a disk.
 */
public final class WideCommit {
  private static final String SCHEME = "abfs";
  private static final String TABLE = "/warehouse/events";
  private static final long FILE_LENGTH = 1 << 20;

  private WideCommit() {}

  /**
   * Runs the job, once for each name: to Spark 3.5 a query with {@code java_method} is several,
   * each with a class loader of its own.
   *
   * @param name of the store, which is the job's own
   * @param latencyMillis how long each request of its commit takes
   * @return how many of the files the table has afterwards
   */
  public static String run(String name, String latencyMillis)
      throws ExecutionException, InterruptedException {
    Map<String, FutureTask<String>> jobs = JvmWide.value("wide", ConcurrentHashMap::new);
    FutureTask<String> own =
        new FutureTask<>(() -> Integer.toString(commit(name, Long.parseLong(latencyMillis))));
    FutureTask<String> first = jobs.putIfAbsent(name, own);
    if (first != null) {
      return first.get();
    }
    own.run();
    return own.get();
  }

  private static int commit(String name, long latencyMillis) throws IOException {
    SimulatedStore store = SimulatedStore.named(name);
    JobConf conf = new JobConf();
    conf.set("fs." + SCHEME + ".impl", SimulatedFileSystem.class.getName());
    conf.set(CommitterConfig.DIRECTORY_RENAME, "off");
    Path table = new Path(SCHEME, name, TABLE);
    SparkCalls write =
        new SparkCalls(new ManifestCommitProtocol(name, table.toString(), false), name, conf);
    JobShape shape = SparkBenchShape.WIDE.job().namedBy("-" + name + "-0");
    write.setUp();
    List<TaskCommitMessage> messages = new ArrayList<>();
    for (int task = 0; task < shape.tasks(); task++) {
      messages.add(
          shape
              .write(write, task, (path, file) -> store.plant(path, FILE_LENGTH))
              .commitApproved());
    }
    store.latency(TimeUnit.MILLISECONDS.toNanos(latencyMillis));
    write.commit(messages);
    int found = 0;
    for (int file = 0; file < shape.files(); file++) {
      found += store.find(TABLE + "/" + shape.path(file)).isPresent() ? 1 : 0;
    }
    SimulatedStore.forget(name);
    return found;
  }
}
