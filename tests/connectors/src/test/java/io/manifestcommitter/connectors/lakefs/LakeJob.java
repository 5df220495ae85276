// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors.lakefs;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.emulator.Door;
import io.manifestcommitter.testing.SparkCalls;
import io.manifestcommitter.testing.TableFiles;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage;

/** A write through the Spark protocol. Its driver comes through one door, all tasks by another. */
final class LakeJob {
  /** What is in the table before. */
  static final NavigableMap<String, String> OLD =
      new TreeMap<>(Map.of("p=1/old-1", "a", "p=1/old-2", "bb", "p=2/old", "ccc", "p=9/old", "dd"));

  final String id = UUID.randomUUID().toString();
  final Door door;
  final Door tasks;
  final Kind kind;

  private final Lake lake;
  private final Configuration ofTasks;
  private final SparkCalls calls;
  private final List<TaskCommitMessage> messages = new ArrayList<>();
  private final NavigableMap<String, String> rows = new TreeMap<>();

  /** How a job writes. */
  enum Kind {
    APPEND("append", "p=1 p=3"),
    APPEND_ELSEWHERE("append", "p=4"),
    STATIC("static", "p=1 p=3"),
    DYNAMIC("dynamic", "p=1 p=3"),
    DYNAMIC_ELSEWHERE("dynamic", "p=2"),
    PARTITION("partition", "p=1"),
    ONCE("append", "p=1 p=3"),
    HELD("append", "p=1 p=3"),
    HELD_STATIC("static", "p=1 p=3");

    private final String write;
    private final String partitions;

    Kind(String write, String partitions) {
      this.write = write;
      this.partitions = partitions;
    }

    boolean isHeld() {
      return this == HELD || this == HELD_STATIC;
    }

    boolean isAppend() {
      return write.equals("append");
    }
  }

  /** A job that nothing was called for yet. */
  LakeJob(Lake lake, Kind kind, Map<String, String> settings) throws IOException {
    this.lake = lake;
    this.door = lake.door();
    this.tasks = lake.door();
    this.kind = kind;
    Configuration conf = lake.conf(door);
    this.ofTasks = lake.conf(tasks);
    if (kind.isHeld()) {
      conf.set(CommitterConfig.PUBLISH, "hold");
    }
    if (kind == Kind.ONCE) {
      conf.set(CommitterConfig.COMMIT_ID, "batch-7");
    }
    settings.forEach(conf::set);
    settings.forEach(ofTasks::set);
    TableWrite write = TableWrite.of(kind.write, "");
    this.calls = SparkCalls.of(conf, lake.table(), id, write.isDynamic());
    for (String place : write.named()) {
      calls.replace(place.isEmpty() ? lake.table() : new Path(lake.table(), place));
    }
  }

  LakeJob(Lake lake, Kind kind) throws IOException {
    this(lake, kind, Map.of());
  }

  LakeJob setUp() throws IOException {
    calls.setUp();
    return this;
  }

  /** Two tasks, which write to all partitions each. */
  LakeJob runTasks() throws IOException {
    return runTask(0, 0).runTask(1, 0);
  }

  /** An attempt that commits, and of which the driver hears. */
  LakeJob runTask(int task, int attempt) throws IOException {
    return end(write(task, attempt));
  }

  /** An attempt that commits, with a file for each of these partitions. */
  LakeJob runTask(int task, String... partitions) throws IOException {
    return end(write(task, 0, partitions));
  }

  /** Commits an attempt, and hears of it. */
  LakeJob end(Written written) throws IOException {
    messages.add(written.attempt.commitApproved());
    rows.putAll(written.rows);
    return this;
  }

  /** An attempt that has written its files, and has not committed. */
  Written write(int task, int attempt) throws IOException {
    return write(task, attempt, kind.partitions.split(" ", -1));
  }

  private Written write(int task, int number, String... partitions) throws IOException {
    Written written = new Written(calls.attempt(task, number, ofTasks));
    for (String partition : partitions) {
      Path file = written.attempt.newFile(partition, ".txt");
      String content = "new in " + partition + " of " + task + "." + number;
      TableFiles.write(file.getFileSystem(ofTasks), file, content);
      written.rows.put(partition + "/" + file.getName(), content);
    }
    return written;
  }

  void commit() {
    calls.commit(messages);
  }

  void abort() {
    calls.abort();
  }

  /** From setup to commit. */
  LakeJob run() throws IOException {
    setUp().runTasks().commit();
    return this;
  }

  /** What the tasks wrote that the driver knows of. */
  NavigableMap<String, String> rows() {
    return rows;
  }

  /** What it makes of a table. */
  NavigableMap<String, String> after(Map<String, String> before) {
    return TableWrite.of(kind.write, "").with(rows).after(before);
  }

  /** Whether a reader of the branch sees a file of this job. */
  boolean isVisible() {
    return lake.sizes().keySet().stream().anyMatch(path -> path.contains(id));
  }

  /** The files of an attempt. */
  static final class Written {
    final SparkCalls.Attempt attempt;
    final NavigableMap<String, String> rows = new TreeMap<>();

    private Written(SparkCalls.Attempt attempt) {
      this.attempt = attempt;
    }
  }
}
