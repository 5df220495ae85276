// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.connectors.EmulatedStore.Emulators;
import io.manifestcommitter.connectors.EmulatedStore.OwnFileSystems;
import io.manifestcommitter.emulator.Emulator;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.store.FileUpload;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.Stores;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.logging.LogManager;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.util.VersionInfo;

/**
 * Counts at the emulators what the connectors of this class path send for each call of a {@link
 * FileSystem}, and for each step of a job of the Hadoop protocol, and prints tables of it.
 */
public final class RequestCounts {
  private static final String HADOOP = "spark.hadoop.";
  private static final String CONNECTOR = HADOOP + "fs.";
  private static final byte[] CONTENT = new byte[100];

  /**
   * Google's connector asks at once whether a path is a file and whether it is a directory, and
   * takes the second question back if the first is answered before it is sent. At a store that is
   * not on the same machine it never is.
   */
  private static final Duration LATENCY = Duration.ofMillis(2);

  private final EmulatedStore store;
  private final Configuration conf;

  private RequestCounts(EmulatedStore store, Configuration conf) {
    // One after the other, so that no two threads make the same directory.
    conf.set(CommitterConfig.IO_THREADS, "1");
    this.store = store;
    this.conf = conf;
  }

  /** Prints the tables to standard output. Runs in the project's directory. */
  public static void main(String[] args) throws Exception {
    // Google's connector tells what it is doing there.
    LogManager.getLogManager().reset();
    Map<String, RequestCounts> columns = new LinkedHashMap<>();
    columns.put("abfs", new RequestCounts(EmulatedStore.ABFS, EmulatedStore.ABFS.conf()));
    columns.put("gs, as it comes", new RequestCounts(EmulatedStore.GS, EmulatedStore.GS.conf()));
    columns.put("gs, with gs.conf", new RequestCounts(EmulatedStore.GS, withGsConf()));
    Configuration files = withGsConf();
    files.set(CommitterConfig.GS_REQUESTS, "filesystem");
    files.set("fs.gs.checksum.type", "CRC32C");
    columns.put("gs, by FileSystem calls", new RequestCounts(EmulatedStore.GS, files));
    RequestCounts s3 =
        new RequestCounts(EmulatedStore.S3A, as(EmulatedStore.S3A, "spark-conf/s3.conf"));
    try {
      List<String> names = new ArrayList<>(columns.keySet());
      Map<String, Map<String, String>> calls = new LinkedHashMap<>();
      Map<String, Map<String, String>> steps = new LinkedHashMap<>();
      for (Map.Entry<String, RequestCounts> column : columns.entrySet()) {
        collect(calls, column.getKey(), OwnFileSystems.run(column.getValue()::calls));
        collect(steps, column.getKey(), OwnFileSystems.run(column.getValue()::steps));
      }
      // The Hadoop protocol does not write to S3.
      List<String> allNames = new ArrayList<>(names);
      allNames.add("s3a, with s3.conf");
      collect(calls, allNames.get(names.size()), OwnFileSystems.run(s3::calls));
      String version = VersionInfo.getVersion();
      print("Hadoop " + version + ": one call of the filesystem", "call", allNames, calls);
      print("Hadoop " + version + ": one step of a job", "step", names, steps);
    } finally {
      Emulators.stop();
    }
  }

  private static Configuration withGsConf() throws IOException {
    return as(EmulatedStore.GS, "spark-conf/gs.conf");
  }

  /** The connector's settings in a file for spark-submit. */
  private static Configuration as(EmulatedStore store, String file) throws IOException {
    Configuration conf = store.conf();
    for (String line : Files.readAllLines(Paths.get(file))) {
      if (line.startsWith(CONNECTOR)) {
        String[] setting = line.substring(HADOOP.length()).trim().split("\\s+", 2);
        conf.set(setting[0], setting[1]);
      }
    }
    return conf;
  }

  private static void collect(
      Map<String, Map<String, String>> table, String column, Map<String, String> cells) {
    cells.forEach(
        (row, cell) -> table.computeIfAbsent(row, name -> new TreeMap<>()).put(column, cell));
  }

  private static void print(
      String title, String what, List<String> columns, Map<String, Map<String, String>> rows) {
    System.out.println("### " + title);
    System.out.println();
    System.out.println("| " + what + " | " + String.join(" | ", columns) + " |");
    System.out.println("|---".repeat(columns.size() + 1) + "|");
    rows.forEach(
        (row, cells) ->
            System.out.println(
                "| "
                    + row
                    + " | "
                    + columns.stream()
                        .map(column -> cells.getOrDefault(column, ""))
                        .collect(Collectors.joining(" | "))
                    + " |"));
    System.out.println();
  }

  // Calls.

  private Map<String, String> calls() throws IOException {
    Path root = store.newRoot("calls");
    FileSystem fs = root.getFileSystem(conf);
    // What a connector asks once, it has asked after this.
    fs.mkdirs(new Path(root, "d/e"));
    touch(fs, new Path(root, "d/f"));
    Map<String, String> cells = new LinkedHashMap<>();
    cells.put("getFileStatus, file", count(() -> fs.getFileStatus(new Path(root, "d/f"))));
    cells.put("getFileStatus, directory", count(() -> fs.getFileStatus(new Path(root, "d"))));
    cells.put("getFileStatus, nothing", count(() -> exists(fs, new Path(root, "d/none"))));
    cells.put("listStatus", count(() -> fs.listStatus(new Path(root, "d"))));
    cells.put("listStatusIterator", count(() -> iterate(fs, new Path(root, "d"))));
    cells.put("mkdirs, parent is there", count(() -> fs.mkdirs(new Path(root, "d/new"))));
    cells.put("mkdirs, 3 are missing", count(() -> fs.mkdirs(new Path(root, "d/x/y/z"))));
    cells.put("mkdirs, is there", count(() -> fs.mkdirs(new Path(root, "d/e"))));
    cells.put("create with overwrite, write, close", count(() -> touch(fs, new Path(root, "d/g"))));
    cells.put("the same over a file", count(() -> touch(fs, new Path(root, "d/g"))));
    cells.put("open, read, close", count(() -> read(fs, new Path(root, "d/g"))));
    cells.put(
        "rename a file", count(() -> fs.rename(new Path(root, "d/g"), new Path(root, "d/e/h"))));
    cells.put(
        "rename onto a file",
        count(() -> renameOntoFile(fs, new Path(root, "d/f"), new Path(root, "d/e/h"))));
    for (int i = 0; i < 10; i++) {
      touch(fs, new Path(root, "ten/f" + i));
    }
    cells.put(
        "rename a directory of 10 files",
        count(() -> fs.rename(new Path(root, "ten"), new Path(root, "d/ten"))));
    cells.put("delete a file", count(() -> fs.delete(new Path(root, "d/e/h"), false)));
    cells.put("delete nothing", count(() -> fs.delete(new Path(root, "d/none"), false)));
    cells.put("delete an empty directory", count(() -> fs.delete(new Path(root, "d/new"), false)));
    cells.put(
        "delete a directory of 10 files", count(() -> fs.delete(new Path(root, "d/ten"), true)));
    if (store == EmulatedStore.S3A) {
      uploads(cells, new Path(root, "d/upload"));
    }
    return cells;
  }

  private void uploads(Map<String, String> cells, Path file) throws IOException {
    File local = File.createTempFile("request-counts", null);
    try {
      Files.write(local.toPath(), CONTENT);
      Store uploading = new Stores(conf).all();
      FileUpload upload = uploading.newUpload(local, file);
      List<StoreEntry> uploaded = new ArrayList<>();
      cells.put("upload a file, of one part", count(() -> uploaded.add(upload.finish())));
      StoreEntry entry = uploaded.get(0);
      FileEntry toComplete = FileEntry.uploaded(file.getParent(), file.getName(), entry.identity());
      cells.put(
          "complete an upload",
          count(() -> uploading.publish(toComplete).orThrow("Could not complete")));
    } finally {
      Files.delete(local.toPath());
    }
  }

  private static void touch(FileSystem fs, Path file) throws IOException {
    try (OutputStream out = fs.create(file, true)) {
      out.write(CONTENT);
    }
  }

  private static void read(FileSystem fs, Path file) throws IOException {
    try (FSDataInputStream in = fs.open(file)) {
      in.readFully(0, new byte[CONTENT.length]);
    }
  }

  private static void exists(FileSystem fs, Path path) throws IOException {
    if (fs.exists(path)) {
      throw new IOException(path + " is there");
    }
  }

  /** Some connectors answer false, some throw. */
  private static void renameOntoFile(FileSystem fs, Path source, Path destination)
      throws IOException {
    try {
      if (fs.rename(source, destination)) {
        throw new IOException(destination + " was replaced");
      }
    } catch (FileAlreadyExistsException e) {
      return;
    }
  }

  private static void iterate(FileSystem fs, Path directory) throws IOException {
    RemoteIterator<?> entries = fs.listStatusIterator(directory);
    while (entries.hasNext()) {
      entries.next();
    }
  }

  /** The requests of one call, and of which kinds. */
  private String count(Step step) throws IOException {
    Map<String, Long> counts = measure(step);
    return Cost.total(counts) + (counts.isEmpty() ? "" : ": " + Cost.kinds(counts));
  }

  // Steps.

  private Map<String, String> steps() throws IOException {
    Map<String, String> cells = new LinkedHashMap<>();
    cells.put("setupJob", count(() -> job().setupJob()));
    cells.put("setupTask", setupTask());
    cells.put("task commit", Cost.ofTask(this::taskCommit).toString());
    cells.put("task abort", Cost.ofTask(this::taskAbort).toString());
    cells.put("job commit, new directories", jobCommit(Table.EMPTY));
    cells.put("job commit, directories that are there", jobCommit(Table.DIRECTORIES));
    cells.put("job commit, replacing files of the same names", jobCommit(Table.FILES));
    cells.put("of it the cleanup", Cost.ofJob(this::cleanup).toString());
    cells.put("job abort", Cost.ofJob(this::jobAbort).toString());
    return cells;
  }

  private String jobCommit(Table table) throws IOException {
    return Cost.ofJob(shape -> jobCommit(shape, table)).toString();
  }

  private String setupTask() throws IOException {
    HadoopProtocolJob job = job();
    job.setupJob();
    return count(() -> job.setupTask(0, 0));
  }

  private Map<String, Long> taskCommit(Shape shape) throws IOException {
    HadoopProtocolJob job = job();
    job.setupJob();
    // Of a job of many tasks: that the parents are made once is not this task's cost.
    run(job, new Shape(1, 1, 1), 1);
    job.setupTask(0, 0);
    write(job, 0, shape);
    return measure(() -> job.commitTask(0, 0));
  }

  private Map<String, Long> taskAbort(Shape shape) throws IOException {
    HadoopProtocolJob job = job();
    job.setupJob();
    job.setupTask(0, 0);
    write(job, 0, shape);
    return measure(() -> job.abortTask(0, 0));
  }

  private Map<String, Long> jobCommit(Shape shape, Table table) throws IOException {
    Path path = store.newRoot("table");
    FileSystem fs = path.getFileSystem(conf);
    fs.mkdirs(path);
    HadoopProtocolJob job = HadoopProtocolJob.into(path, conf);
    for (int file = 0; file < shape.files(); file++) {
      Path old = new Path(path, shape.nameOf(file));
      if (table == Table.DIRECTORIES) {
        fs.mkdirs(old.getParent());
      } else if (table == Table.FILES) {
        touch(fs, old);
      }
    }
    if (table == Table.FILES) {
      job = job.with(CommitterConfig.DELETE_TARGET_FILES, "true");
    }
    job.setupJob();
    run(job, shape, 0);
    return measure(job::commitJob);
  }

  private Map<String, Long> cleanup(Shape shape) throws IOException {
    HadoopProtocolJob job = job();
    job.setupJob();
    run(job, shape, 0);
    job.with(CommitterConfig.CLEANUP_SKIPPED, "true").commitJob();
    return measure(job::cleanup);
  }

  private Map<String, Long> jobAbort(Shape shape) throws IOException {
    HadoopProtocolJob job = job();
    job.setupJob();
    run(job, shape, 0);
    return measure(job::abortJob);
  }

  private HadoopProtocolJob job() throws IOException {
    Path path = store.newRoot("table");
    path.getFileSystem(conf).mkdirs(path);
    return HadoopProtocolJob.into(path, conf);
  }

  /** Runs tasks that write the shape's files between them. */
  private static void run(HadoopProtocolJob job, Shape shape, int firstTask) throws IOException {
    for (int task = 0; task < shape.tasks(); task++) {
      job.setupTask(firstTask + task, 0);
      write(job, firstTask + task, shape);
      job.commitTask(firstTask + task, 0);
    }
  }

  /** Writes a task's share of the files. */
  private static void write(HadoopProtocolJob job, int task, Shape shape) throws IOException {
    for (int file = 0; file < shape.files(); file++) {
      if (shape.taskOf(file) == task % shape.tasks()) {
        job.write(task, shape.nameOf(file), CONTENT);
      }
    }
  }

  // Counting.

  private Map<String, Long> measure(Step step) throws IOException {
    Emulator emulator = store.emulator();
    emulator.latency(store == EmulatedStore.GS ? LATENCY : Duration.ZERO);
    emulator.log().clear();
    try {
      step.run();
    } finally {
      emulator.latency(Duration.ZERO);
    }
    return new TreeMap<>(emulator.log().counts());
  }

  /** What is in the table before the job. */
  private enum Table {
    EMPTY,
    DIRECTORIES,
    FILES
  }

  /** Something that sends requests. */
  @FunctionalInterface
  private interface Step {
    void run() throws IOException;
  }
}
