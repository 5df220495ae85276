// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import io.manifestcommitter.testing.SparkCalls;
import java.io.IOException;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.Path;

/**
 * How many tasks a job has, how many files each writes, and how they spread over partitions: file
 * {@code k} of task {@code t} goes to partition {@code (t * files + k) % partitions}. Files are
 * named as Spark names them, and numbered {@code t * files + k}.
 */
final class JobShape {
  private static final String PREFIX = "part-";
  private static final String WRITER = "-3f0c2a4e-5d7b-4a51-9c1e-8b6f2d9a7c10";
  private static final String COUNTER = ".c";
  private static final String SUFFIX = ".snappy.parquet";

  private final String writer;
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
    this(tasks, filesPerTask, partitions, partitionName, WRITER);
  }

  private JobShape(
      int tasks,
      int filesPerTask,
      int partitions,
      IntFunction<String> partitionName,
      String writer) {
    this.writer = writer + COUNTER;
    this.tasks = tasks;
    this.filesPerTask = filesPerTask;
    this.partitions = new String[partitions];
    for (int p = 0; p < partitions; p++) {
      this.partitions[p] = partitionName.apply(p);
      partitionNumbers.put(this.partitions[p], p);
    }
  }

  /**
   * The same files under the names that a writer gives them.
   *
   * @param writer what stands between the number of the task and that of its file
   */
  JobShape namedBy(String writer) {
    return new JobShape(tasks, filesPerTask, partitions.length, this::partition, writer);
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

  /** The path of a partition below the table; empty for the table itself. */
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

  /** How many files a partition gets. */
  int filesIn(int partition) {
    return (files() - partition + partitions.length - 1) / partitions.length;
  }

  /** The path of file {@code file} below the table, and below its attempt's directory. */
  String path(int file) {
    String partition = partitions[partitionOf(file)];
    return (partition.isEmpty() ? "" : partition + "/") + name(file);
  }

  /** The name of a file, unique in its partition. */
  String name(int file) {
    String task = Integer.toString(file / filesPerTask);
    return PREFIX
        + "0".repeat(Math.max(0, 5 - task.length()))
        + task
        + writer
        + counter(file)
        + SUFFIX;
  }

  /**
   * Has one task of a write create its files, under the names that the protocol gives them.
   *
   * @param files gets each of them
   */
  SparkCalls.Attempt write(SparkCalls calls, int task, Writer files) throws IOException {
    SparkCalls.Attempt attempt = calls.attempt(task, 0);
    for (int file = task * filesPerTask; file < (task + 1) * filesPerTask; file++) {
      Path path = attempt.newFile(partition(partitionOf(file)), COUNTER + counter(file) + SUFFIX);
      if (!path.getName().equals(name(file))) {
        throw new IOException(path.getName() + " is not called " + name(file));
      }
      files.write(path.toUri().getPath(), file);
    }
    return attempt;
  }

  /** Writes the files of tasks. */
  interface Writer {
    /**
     * Writes one.
     *
     * @param path without scheme
     */
    void write(String path, int file) throws IOException;
  }

  private String counter(int file) {
    String part = Integer.toString(file % filesPerTask / partitions.length);
    return "0".repeat(Math.max(0, 3 - part.length())) + part;
  }

  /** The inverse of {@link #path}; empty for a path of no file. */
  OptionalInt fileNumber(String path) {
    int name = path.lastIndexOf('/') + 1;
    int written = path.indexOf(writer, name);
    int suffix = path.length() - SUFFIX.length();
    Integer partition = partitionNumbers.get(path.substring(0, Math.max(0, name - 1)));
    if (partition == null || written < 0 || !path.startsWith(PREFIX, name)) {
      return OptionalInt.empty();
    }
    int task = number(path, name + PREFIX.length(), written);
    int part = number(path, written + writer.length(), suffix);
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
