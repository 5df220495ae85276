package io.manifestcommitter.bench;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.IntFunction;

/**
 * How many tasks a job has, how many files each writes, and how they spread over partitions: file
 * {@code k} of task {@code t} goes to partition {@code (t * files + k) % partitions}. Files are
 * named as Spark names them, and numbered {@code t * files + k}.
 */
final class JobShape {
  private static final String PREFIX = "part-";
  private static final String WRITER = "-3f0c2a4e-5d7b-4a51-9c1e-8b6f2d9a7c10.c";
  private static final String SUFFIX = ".snappy.parquet";

  private final int tasks;
  private final int filesPerTask;
  private final String[] partitions;
  private final Map<String, Integer> partitionNumbers = new HashMap<>();

  /**
   * A shape.
   *
   * @param partitionName the path of a partition below the table
   */
  JobShape(int tasks, int filesPerTask, int partitions, IntFunction<String> partitionName) {
    this.tasks = tasks;
    this.filesPerTask = filesPerTask;
    this.partitions = new String[partitions];
    for (int p = 0; p < partitions; p++) {
      this.partitions[p] = partitionName.apply(p);
      partitionNumbers.put(this.partitions[p], p);
    }
  }

  /** The name of leaf {@code p} of a table partitioned by year and month. */
  static String yearAndMonth(int p, int monthsPerYear) {
    return String.format(
        Locale.ROOT, "year=%d/month=%02d", 1980 + p / monthsPerYear, p % monthsPerYear + 1);
  }

  int tasks() {
    return tasks;
  }

  int filesPerTask() {
    return filesPerTask;
  }

  int partitions() {
    return partitions.length;
  }

  int files() {
    return Math.multiplyExact(tasks, filesPerTask);
  }

  /** The path of a partition below the table. */
  String partition(int partition) {
    return partitions[partition];
  }

  /** The number of a partition, empty for a path that is none. */
  OptionalInt partitionNumber(String path) {
    Integer partition = partitionNumbers.get(path);
    return partition == null ? OptionalInt.empty() : OptionalInt.of(partition);
  }

  /** The partition of a file. */
  int partitionOf(int file) {
    return file % partitions.length;
  }

  /** The path of file {@code file} below the table, and below its attempt's directory. */
  String path(int file) {
    String task = Integer.toString(file / filesPerTask);
    String part = Integer.toString(file % filesPerTask / partitions.length);
    return partitions[partitionOf(file)]
        + "/"
        + PREFIX
        + "0".repeat(Math.max(0, 5 - task.length()))
        + task
        + WRITER
        + "0".repeat(Math.max(0, 3 - part.length()))
        + part
        + SUFFIX;
  }

  /** The inverse of {@link #path}; empty for a path of no file. */
  OptionalInt fileNumber(String path) {
    int name = path.lastIndexOf('/') + 1;
    int writer = path.indexOf(WRITER, name);
    int suffix = path.length() - SUFFIX.length();
    Integer partition = name == 0 ? null : partitionNumbers.get(path.substring(0, name - 1));
    if (partition == null || writer < 0 || !path.startsWith(PREFIX, name)) {
      return OptionalInt.empty();
    }
    int task = number(path, name + PREFIX.length(), writer);
    int part = number(path, writer + WRITER.length(), suffix);
    if (task < 0 || task >= tasks || part < 0) {
      return OptionalInt.empty();
    }
    int firstFile = task * filesPerTask;
    long k =
        (long) part * partitions.length + Math.floorMod(partition - firstFile, partitions.length);
    return k < filesPerTask && path(firstFile + (int) k).equals(path)
        ? OptionalInt.of(firstFile + (int) k)
        : OptionalInt.empty();
  }

  private static int number(String text, int start, int end) {
    try {
      return start < end ? Integer.parseInt(text, start, end, 10) : -1;
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "%,d tasks × %,d files into %,d partitions",
        tasks,
        filesPerTask,
        partitions.length);
  }
}
