// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage;

/**
 * One write through the Spark protocol, called as Spark calls it. Tasks create their files as
 * Spark's writers do: the directories come with them.
 */
public final class SparkWrite {
  private final String id = UUID.randomUUID().toString();
  private final Configuration conf;
  private final Path table;
  private final TableWrite kind;
  private final SparkCalls calls;
  private final List<TaskCommitMessage> messages = new ArrayList<>();
  private final NavigableMap<Path, Path> staged = new TreeMap<>();
  private boolean hasRows = true;

  /** How a write ended, always with the old table or the new one. */
  public enum End {
    /** It succeeded, and may have left something hidden that recovery cleaned up. */
    COMMITTED,
    /** It failed and rolled everything back. */
    ROLLED_BACK,
    /** It failed, and recovery rolled it back. */
    RECOVERED_BACK,
    /** It failed past its point of no return, and recovery completed it. */
    RECOVERED_FORWARD
  }

  private SparkWrite(Configuration conf, Path table, TableWrite kind) throws IOException {
    this.conf = conf;
    this.table = table;
    this.kind = kind;
    this.calls = SparkCalls.of(conf, table, id, kind.isDynamic());
    for (String place : kind.named()) {
      calls.replace(place.isEmpty() ? table : new Path(table, place));
    }
    calls.setUp();
  }

  /** A write of a kind, as {@link TableWrite#of} has it. */
  public static SparkWrite begin(Configuration conf, Path table, String kind) throws IOException {
    return new SparkWrite(conf, table, TableWrite.of(kind, ""));
  }

  /** A write that adds to a table. */
  public static SparkWrite append(Configuration conf, Path table) throws IOException {
    return begin(conf, table, "append");
  }

  /** A write that replaces what is at some paths: the table itself, partitions, locations. */
  public static SparkWrite overwrite(Configuration conf, Path table, Path... replaced)
      throws IOException {
    String[] places = new String[replaced.length];
    for (int i = 0; i < places.length; i++) {
      places[i] = replaced[i].equals(table) ? "" : replaced[i].toString();
    }
    return new SparkWrite(conf, table, TableWrite.replacing(places));
  }

  /** A write that replaces the partitions that it has rows for. */
  public static SparkWrite dynamicOverwrite(Configuration conf, Path table) throws IOException {
    return begin(conf, table, "dynamic");
  }

  /** What it makes of the table, whose files are by their relative paths; not of locations. */
  public NavigableMap<String, String> after(Map<String, String> before) {
    return withRows().after(before);
  }

  /** Whether it replaces what is at a path that is relative to the table. */
  public boolean replaces(String path) {
    return withRows().replaces(path);
  }

  private TableWrite withRows() {
    NavigableMap<String, String> rows = new TreeMap<>();
    for (Path file : staged.keySet()) {
      if (file.toString().startsWith(table + "/")) {
        String path = file.toString().substring(table.toString().length() + 1);
        rows.put(path, content(path.substring(0, Math.max(0, path.lastIndexOf('/')))));
      }
    }
    return kind.with(rows);
  }

  /** Of the job. */
  public String id() {
    return id;
  }

  /** Where the job's work is. */
  public Path staging() {
    return new Path(table, "_manifest_" + id);
  }

  /** Where each committed file is to go, and where it is before. */
  public NavigableMap<Path, Path> staged() {
    return staged;
  }

  /** From here on files are made without rows: what is told by their names costs no block. */
  public SparkWrite withoutRows() {
    hasRows = false;
    return this;
  }

  /** What is in a file that goes to a partition or location. */
  public String content(String partition) {
    return hasRows ? "new in " + partition : "";
  }

  /** A task that commits one file for each partition; "" is the table's own directory. */
  public SparkWrite task(int number, String... partitions) throws IOException {
    SparkCalls.Attempt attempt = calls.attempt(number, 0);
    for (String partition : partitions) {
      write(
          attempt.newFile(partition, ".txt"),
          partition.isEmpty() ? table : new Path(table, partition),
          content(partition));
    }
    messages.add(attempt.commitApproved());
    return this;
  }

  /** A task that commits one file to a custom location. */
  public SparkWrite taskAt(int number, Path location) throws IOException {
    SparkCalls.Attempt attempt = calls.attempt(number, 0);
    write(attempt.newFileAt(location, ".txt"), location, content(location.getName()));
    messages.add(attempt.commitApproved());
    return this;
  }

  /** An attempt of a task, set up, that Spark is never told of. */
  public SparkCalls.Attempt stray(int task, int attempt) throws IOException {
    return calls.attempt(task, attempt);
  }

  /** A file that such an attempt has begun to write. */
  public FSDataOutputStream openStray(int task, int attempt, String partition) throws IOException {
    Path file = stray(task, attempt).newFile(partition, ".txt");
    return file.getFileSystem(conf).create(file, false);
  }

  /** The job commit. */
  public void commit() {
    calls.commit(messages);
  }

  /** The job abort. */
  public void abort() {
    calls.abort();
  }

  private void write(Path file, Path destination, String content) throws IOException {
    TableFiles.write(file.getFileSystem(conf), file, content);
    staged.put(new Path(destination, file.getName()), file);
  }
}
