// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileList;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.manifest.TaskManifest;
import io.manifestcommitter.store.StorePaths;
import io.manifestcommitter.testing.DirectFiles;
import io.manifestcommitter.testing.DirectFiles.LocalFiles;
import io.manifestcommitter.testing.DirectFiles.MemoryFiles;
import io.manifestcommitter.testing.HadoopCalls;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;

/**
 * One job of the Hadoop protocol. What tasks write, and what the table holds, goes past the
 * committer.
 */
final class HadoopJobHarness extends HadoopCalls {
  static final JobID JOB = new JobID("202601010000", 7);
  static final String JOB_NAME = "job_202601010000_0007";
  static final String JOB_DIRECTORY = "_temporary/manifest_" + JOB_NAME;

  final DirectFiles files;

  private HadoopJobHarness(Configuration conf, Path table, DirectFiles files, JobID id) {
    super(bind(conf, table.toUri().getScheme()), table, id);
    this.files = files;
  }

  /** A job that writes to a local directory, with four threads. */
  static HadoopJobHarness local(File table) {
    Configuration conf = new Configuration();
    conf.set(CommitterConfig.IO_THREADS, "4");
    Path path = StorePaths.resolve(new Path("file:/"), table.getPath().substring(1));
    return new HadoopJobHarness(conf, path, new LocalFiles(table), JOB);
  }

  /**
   * A job that writes to {@code /table} in memory.
   *
   * @param scheme decides the traits of the store; or names one that renames by copying
   * @param store names the store, for {@link #state}
   */
  static HadoopJobHarness memory(String scheme, String store) {
    HadoopJobHarness job =
        memory(new Path(MemoryFileSystem.scheme(scheme) + "://" + store + "/table"), JOB);
    MemoryFileSystem.configuration(scheme)
        .forEach(setting -> job.conf.set(setting.getKey(), setting.getValue()));
    return job;
  }

  /**
   * A job that writes to a table in memory, with one thread so that its requests come in one order,
   * and with one try of each manifest so that nothing pauses.
   */
  static HadoopJobHarness memory(Path table, JobID id) {
    Configuration conf = MemoryFileSystem.configuration();
    conf.set(CommitterConfig.IO_THREADS, "1");
    conf.set("mapreduce.manifest.committer.manifest.save.attempts", "1");
    MemoryStoreState state = MemoryFileSystem.state(table.toUri().getAuthority());
    return new HadoopJobHarness(conf, table, new MemoryFiles(state, table.toUri().getPath()), id);
  }

  /** Another job into the same table, with a copy of this one's options. */
  HadoopJobHarness another(int number) {
    return new HadoopJobHarness(
        new Configuration(conf), table, files, new JobID("202601010000", number));
  }

  /** The store in memory behind the table. */
  MemoryStoreState state() {
    return MemoryFileSystem.state(table.toUri().getAuthority());
  }

  /** The whole job, of a task for each of these contents. */
  @SafeVarargs
  final void run(Map<String, String>... contents) throws IOException {
    runTasks(contents);
    commitJob();
  }

  /** The same, up to its commit. */
  @SafeVarargs
  final void runTasks(Map<String, String>... contents) throws IOException {
    setupJob();
    for (int task = 0; task < contents.length; task++) {
      runTask(task, 0, contents[task]);
    }
  }

  /** Sets up a task attempt, lets it write, and commits it. */
  void runTask(int task, int attempt, Map<String, String> content) throws IOException {
    PathOutputCommitter committer = setupTask(task, attempt);
    writeTask(task, attempt, content);
    committer.commitTask(context(task, attempt));
  }

  /** What a task attempt writes, past the committer. */
  void writeTask(int task, int attempt, Map<String, String> content) throws IOException {
    String work = workDirectory(task, attempt);
    for (Map.Entry<String, String> file : content.entrySet()) {
      write(work + "/" + file.getKey(), file.getValue());
    }
  }

  /** Where a task attempt writes, relative to the table. */
  String workDirectory(int task, int attempt) throws IOException {
    return StorePaths.relative(table, committer(task, attempt).getWorkPath());
  }

  /** The directory of this job, of all its attempts, relative to the table. */
  String jobDirectory() {
    return "_temporary/manifest_" + jobId();
  }

  /** The id under which the job stages and reports. */
  String jobId() {
    return conf.get("spark.sql.sources.writeJobUUID", id.toString());
  }

  void write(String relative, String text) throws IOException {
    files.write(relative, text.getBytes(StandardCharsets.UTF_8));
  }

  /** A path below the table. */
  Path path(String relative) {
    return StorePaths.resolve(table, relative);
  }

  /** The files that a reader of the table sees, with their content. */
  NavigableMap<String, String> visible() throws IOException {
    NavigableMap<String, String> visible = files.files();
    visible.keySet().removeIf(path -> path.startsWith("_"));
    return visible;
  }

  /** The directories that a reader of the table sees. */
  NavigableSet<String> visibleDirectories() throws IOException {
    NavigableSet<String> visible = files.directories();
    visible.removeIf(path -> path.startsWith("_"));
    return visible;
  }

  /** The names directly in a directory of the table; empty for the table itself. */
  NavigableSet<String> namesIn(String relative) throws IOException {
    NavigableSet<String> paths = new TreeSet<>(files.files().keySet());
    paths.addAll(files.directories());
    String prefix = relative.isEmpty() ? "" : relative + "/";
    NavigableSet<String> names = new TreeSet<>();
    for (String path : paths) {
      if (path.startsWith(prefix) && path.indexOf('/', prefix.length()) < 0) {
        names.add(path.substring(prefix.length()));
      }
    }
    return names;
  }

  boolean exists(String relative) throws IOException {
    return files.files().containsKey(relative) || files.directories().contains(relative);
  }

  String text(String relative) throws IOException {
    return new String(files.bytes(relative), StandardCharsets.UTF_8);
  }

  SuccessReport report() throws IOException {
    return SuccessReport.parse(files.bytes("_SUCCESS"), "_SUCCESS");
  }

  /** The complete list of the last job's files, with their sizes in bytes. */
  Map<String, Long> listedFiles() throws IOException {
    Map<String, Long> sizes = new TreeMap<>();
    try (FileList list =
        FileList.read(new ByteArrayInputStream(files.bytes("_SUCCESS.files")), "_SUCCESS.files")) {
      assertThat(list.table).isEqualTo(table);
      Optional<FileList.Entry> next = list.next();
      while (next.isPresent()) {
        sizes.put(next.get().path, next.get().size);
        next = list.next();
      }
    }
    return sizes;
  }

  /** The manifest of a committed task, relative to the table. */
  String manifestOf(int task) {
    return jobDirectory()
        + "/"
        + JobPaths.attemptName(conf.getInt("mapreduce.job.application.attempt.id", 0))
        + "/manifests/"
        + new TaskID(id, TaskType.MAP, task)
        + "-manifest.json";
  }

  TaskManifest manifest(int task) throws IOException {
    return TaskManifest.parse(files.bytes(manifestOf(task)), manifestOf(task));
  }

  /** Replaces a task's manifest by one that says something else. */
  void forge(
      int task, String jobId, List<FileEntry> files, List<TaskManifest.Directory> directories)
      throws IOException {
    TaskManifest own = manifest(task);
    TaskManifest forged =
        new TaskManifest(
            jobId,
            own.jobAttemptNumber,
            own.taskId,
            own.taskAttemptId,
            own.taskAttemptDirectory,
            files,
            directories,
            Map.of(),
            new IOStatisticsSnapshot());
    this.files.write(manifestOf(task), forged.toJson());
  }
}
