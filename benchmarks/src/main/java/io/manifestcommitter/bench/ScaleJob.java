// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.TaskManifest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;
import org.apache.hadoop.mapreduce.JobID;

/**
 * A job whose tasks are all committed: every path and every manifest of it follows from numbers.
 */
final class ScaleJob {
  static final String SCHEME = "abfs";
  static final String STORE = "container@account.dfs.core.windows.net";

  /** What Spark gives a job as its id. */
  static final String JOB_UUID = "b6b8f1c2-7a55-4c0e-9a53-0d0f3a1e5c77";

  private static final JobID JOB_ID = new JobID("202601010000", 1);
  private static final Path TABLE = new Path(SCHEME, STORE, "/warehouse/sales/events");

  private static final String TASK = "task_202601010000_0001_m_";
  private static final String ATTEMPT = "attempt_202601010000_0001_m_";

  private final JobShape shape;
  private final JobPaths paths = new JobPaths(TABLE, JOB_UUID, 0);
  private final String tasksPrefix = paths.taskAttemptsDirectory().toUri().getPath() + "/";
  private final String tablePrefix = TABLE.toUri().getPath() + "/";
  private final String manifestsPrefix = paths.manifestDirectory().toUri().getPath() + "/";

  ScaleJob(int tasks, int filesPerTask, int partitions) {
    this.shape = new JobShape(tasks, filesPerTask, partitions, p -> JobShape.yearAndMonth(p, 12));
  }

  JobShape shape() {
    return shape;
  }

  JobPaths paths() {
    return paths;
  }

  JobID id() {
    return JOB_ID;
  }

  /** The name of a task, as Hadoop writes it. */
  static String taskName(int task) {
    return TASK + padded(task);
  }

  /** The name of the one attempt of a task, as Hadoop writes it. */
  static String attemptName(int task) {
    return ATTEMPT + padded(task) + "_0";
  }

  /** The directory of a task attempt, without scheme. */
  String attemptDirectory(int task) {
    return tasksPrefix + attemptName(task);
  }

  /** The manifest of a task, without scheme. */
  String manifestPath(int task) {
    return manifestsPrefix + taskName(task) + JobPaths.MANIFEST_SUFFIX;
  }

  /** Where a file lies before the commit, without scheme. */
  String source(int file) {
    return attemptDirectory(file / shape.filesPerTask()) + "/" + shape.path(file);
  }

  /** Where a file lies after the commit, without scheme. */
  String destination(int file) {
    return tablePrefix + shape.path(file);
  }

  /** The number of the file that lies at {@code path} before the commit. */
  OptionalInt ofSource(String path) {
    int slash = path.startsWith(tasksPrefix) ? path.indexOf('/', tasksPrefix.length()) : -1;
    if (slash < 0) {
      return OptionalInt.empty();
    }
    OptionalInt file = shape.fileNumber(path.substring(slash + 1));
    return file.isPresent() && source(file.getAsInt()).equals(path) ? file : OptionalInt.empty();
  }

  /** The number of the file that lies at {@code path} after the commit. */
  OptionalInt ofDestination(String path) {
    return path.startsWith(tablePrefix)
        ? shape.fileNumber(path.substring(tablePrefix.length()))
        : OptionalInt.empty();
  }

  /** The number of the partition that has its directory at {@code path}. */
  OptionalInt ofPartition(String path) {
    return path.startsWith(tablePrefix)
        ? shape.partitionNumber(path.substring(tablePrefix.length()))
        : OptionalInt.empty();
  }

  /** The number of the task whose attempt has its directory at {@code path}. */
  OptionalInt ofAttemptDirectory(String path) {
    return task(path, tasksPrefix + ATTEMPT, this::attemptDirectory);
  }

  /** The number of the task whose manifest is at {@code path}. */
  OptionalInt ofManifest(String path) {
    return task(path, manifestsPrefix + TASK, this::manifestPath);
  }

  /** What the task commit of {@code task} would have saved. */
  TaskManifest manifest(int task) {
    List<FileEntry> files = new ArrayList<>();
    Set<String> partitions = new TreeSet<>();
    long bytes = 0;
    for (int k = 0; k < shape.filesPerTask(); k++) {
      int file = task * shape.filesPerTask() + k;
      files.add(
          new FileEntry(
              new Path(SCHEME, STORE, source(file)),
              new Path(SCHEME, STORE, destination(file)),
              ScaleFiles.length(file),
              ScaleFiles.etag(file),
              0));
      partitions.add(shape.partition(shape.partitionOf(file)));
      bytes += ScaleFiles.length(file);
    }
    IOStatisticsSnapshot statistics = new IOStatisticsSnapshot();
    statistics.counters().put(StatisticNames.COMMITTER_TASK_FILE_COUNT, (long) files.size());
    statistics.counters().put(StatisticNames.COMMITTER_TASK_FILE_SIZE, bytes);
    return new TaskManifest(
        JOB_UUID,
        0,
        taskName(task),
        attemptName(task),
        paths.taskAttemptDirectory(attemptName(task)),
        files,
        directories(partitions),
        Map.of(),
        statistics);
  }

  private static List<TaskManifest.Directory> directories(Set<String> partitions) {
    Set<String> years = new TreeSet<>();
    partitions.forEach(partition -> years.add(partition.substring(0, partition.indexOf('/'))));
    List<TaskManifest.Directory> directories = new ArrayList<>();
    years.forEach(year -> directories.add(directory(year, 1)));
    partitions.forEach(partition -> directories.add(directory(partition, 2)));
    return directories;
  }

  private static TaskManifest.Directory directory(String path, int level) {
    return new TaskManifest.Directory(new Path(TABLE, path), level);
  }

  private OptionalInt task(String path, String before, IntFunction<String> inverse) {
    int start = before.length();
    int end = start;
    while (end < path.length() && Character.isDigit(path.charAt(end))) {
      end++;
    }
    if (!path.startsWith(before) || end == start || end - start > 9) {
      return OptionalInt.empty();
    }
    int task = Integer.parseInt(path, start, end, 10);
    return task < shape.tasks() && inverse.apply(task).equals(path)
        ? OptionalInt.of(task)
        : OptionalInt.empty();
  }

  private static String padded(int task) {
    String digits = Integer.toString(task);
    return "0".repeat(Math.max(0, 6 - digits.length())) + digits;
  }
}
