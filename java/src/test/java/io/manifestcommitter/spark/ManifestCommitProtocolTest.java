// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.store.UnsupportedStoreException;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.task.JobContextImpl;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.internal.io.FileCommitProtocol;
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage;
import org.apache.spark.internal.io.FileNameSpec;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Option;
import scala.collection.JavaConverters;

/**
 * The protocol class as Spark uses it: made by name, serialised into tasks of a real Spark that ask
 * the real coordinator.
 */
class ManifestCommitProtocolTest {
  private static final String JOB_ID = "9a4b5c6d-0000-4000-8000-000000000001";
  private static final String TABLE = "hdfs://protocol/table";
  private static JavaSparkContext spark;

  private final MemoryStoreState state = MemoryFileSystem.state("protocol");

  @BeforeAll
  static void startSpark() {
    spark =
        new JavaSparkContext(
            new SparkConf()
                .setMaster("local[1]")
                .setAppName("protocol")
                .set("spark.ui.enabled", "false")
                .set("spark.driver.host", "127.0.0.1")
                .set("spark.driver.bindAddress", "127.0.0.1"));
  }

  @AfterAll
  static void stopSpark() {
    spark.stop();
  }

  @BeforeEach
  void emptyStore() {
    state.clear();
  }

  @Test
  void tasksCommitWithoutAnyStoreRequest() {
    FileCommitProtocol protocol = begun(TABLE);

    List<TaskResult> results =
        spark.parallelize(List.of(0, 1, 2), 3).map(task -> runTask(protocol, task)).collect();

    assertThat(results).extracting(result -> result.requestsOfCommit).containsOnly(0);
    commit(protocol, results);
    assertThat(state.files().keySet())
        .filteredOn(path -> path.contains("/p=1/"))
        .hasSize(3)
        .allMatch(
            path ->
                path.matches(
                    "/table/p=1/x-part-0000\\d-" + JOB_ID + "-\\d+_00003\\.c000\\.parquet"));
    assertThat(state.paths()).noneMatch(path -> path.contains("_manifest_"));
  }

  @Test
  void anAbortedAttemptIsNotPublished() {
    FileCommitProtocol protocol = begun(TABLE);
    List<TaskResult> results =
        spark
            .parallelize(List.of(0), 1)
            .map(
                task -> {
                  TaskAttemptContext context = begun(protocol, task, 0);
                  write(protocol, context);
                  protocol.abortTask(context);
                  return runTask(protocol, task);
                })
            .collect();
    state.resetRequests();
    commit(protocol, results);
    assertThat(state.files().keySet()).filteredOn(path -> path.contains("/p=1/")).hasSize(1);
  }

  /** The job's cleanup comes first; a create makes the directories again. */
  @Test
  void anAttemptThatAbortsAfterItsJobLeavesNothing() throws Exception {
    FileCommitProtocol protocol = begun(TABLE);
    TaskAttemptContext late = begun(protocol, 0, 0);
    protocol.abortJob(job(MemoryFileSystem.configuration()));
    assertThat(state.paths()).noneMatch(path -> path.contains("_manifest_"));

    write(protocol, late);
    Path location = new Path(TABLE.replace("/table", "/elsewhere"));
    Path there = new Path(fileAt(protocol, late, location.toString()));
    there.getFileSystem(late.getConfiguration()).create(there).close();
    state.write("/elsewhere/_manifest_" + JOB_ID + "/00/output/other", "of another attempt");
    protocol.abortTask(late);

    assertThat(state.paths())
        .filteredOn(path -> path.contains("_manifest_"))
        .allMatch(path -> path.startsWith("/elsewhere/"))
        .contains("/elsewhere/_manifest_" + JOB_ID + "/00/output/other");
  }

  /** Else the write cannot be repeated with ErrorIfExists, and Ignore skips it. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anAttemptThatAbortsAfterItsJobLeavesATableOnlyIfItWasThere(boolean wasThere)
      throws Exception {
    Configuration conf = MemoryFileSystem.configuration();
    if (wasThere) {
      new Path(TABLE).getFileSystem(conf).mkdirs(new Path(TABLE));
    }
    FileCommitProtocol protocol = protocol(TABLE, false);
    protocol.setupJob(job(conf));
    TaskAttemptContext late = begun(protocol, 0, 0);
    protocol.abortJob(job(conf));
    write(protocol, late);
    protocol.abortTask(late);

    assertThat(state.exists("/table")).isEqualTo(wasThere);
  }

  /** It cannot tell whether the job failed or committed no file. */
  @Test
  void anAttemptThatAbortsAfterItsJobLeavesATableWithoutReport() throws Exception {
    Configuration conf = MemoryFileSystem.configuration();
    conf.setBoolean(CommitterConfig.MARK_SUCCESSFUL_JOBS, false);
    FileCommitProtocol protocol = protocol(TABLE, false);
    protocol.setupJob(job(conf));
    TaskAttemptContext late = task(0, 0);
    late.getConfiguration().setBoolean(CommitterConfig.MARK_SUCCESSFUL_JOBS, false);
    protocol.setupTask(late);
    commit(protocol, conf, List.of());
    write(protocol, late);
    protocol.abortTask(late);

    assertThat(state.paths()).contains("/table").noneMatch(path -> path.contains("_manifest_"));
  }

  /** Others write there: its directories are the job's. */
  @Test
  void anAttemptThatAbortsBeforeItsJobLeavesTheDirectories() throws Exception {
    Configuration conf = MemoryFileSystem.configuration();
    // The setup waits for the job's first sign of life, by which the attempt knows that it lives.
    conf.setInt(CommitterConfig.IO_THREADS, 1);
    FileCommitProtocol protocol = protocol(TABLE, false);
    protocol.setupJob(job(conf));
    TaskAttemptContext context = begun(protocol, 0, 0);
    write(protocol, context);

    protocol.abortTask(context);

    assertThat(state.directories()).contains("/table/_manifest_" + JOB_ID + "/00/output/p=1");
  }

  @Test
  void deletionsAreOnlyRecordedAndAFailedSetupTouchesNothing() throws Exception {
    state.write("/table/p=1/old", "old");
    state.write("/table/_delta_log/0.json", "{}");
    Configuration conf = MemoryFileSystem.configuration();
    FileCommitProtocol protocol = protocol(TABLE, false);
    FileSystem fs = new Path(TABLE).getFileSystem(conf);
    assertThat(protocol.deleteWithJob(fs, new Path(TABLE), true)).isTrue();
    assertThatThrownBy(() -> protocol.setupJob(job(conf))).hasMessageContaining("_delta_log");
    protocol.abortJob(job(conf));
    assertThat(state.files()).containsOnlyKeys("/table/p=1/old", "/table/_delta_log/0.json");
  }

  @Test
  void anOptionThatIsMistypedIsRefusedBeforeAnythingIsWritten() throws Exception {
    state.write("/table/p=1/old", "old");
    Configuration conf = MemoryFileSystem.configuration();
    conf.set("directory.rename", "off");
    FileCommitProtocol protocol = protocol(TABLE, false);
    protocol.deleteWithJob(new Path(TABLE).getFileSystem(conf), new Path(TABLE), true);
    state.resetRequests();

    assertThatThrownBy(() -> protocol.setupJob(job(conf)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("write " + CommitterConfig.DIRECTORY_RENAME, "changed nothing");
    protocol.abortJob(job(conf));

    assertThat(state.requests()).isEmpty();
    assertThat(state.paths()).contains("/table/p=1/old");
  }

  @Test
  void anAncestorOfTheTableIsNotReplaced() throws Exception {
    state.write("/table/p=1/old", "old");
    Configuration conf = MemoryFileSystem.configuration();
    FileCommitProtocol protocol = protocol(TABLE, false);
    FileSystem fs = new Path(TABLE).getFileSystem(conf);
    protocol.deleteWithJob(fs, new Path("hdfs://protocol/"), true);
    assertThatThrownBy(() -> protocol.setupJob(job(conf))).hasMessageContaining("holds the table");
    assertThat(state.files()).containsOnlyKeys("/table/p=1/old");
  }

  @ParameterizedTest
  @CsvSource({"/table/p=1", "/elsewhere"})
  void aPathByAnotherNameOfTheStoreIsWhereItIs(String location) throws Exception {
    state.write(location + "/old", "old");
    state.write("/table/p=2/old", "old");
    Configuration conf = MemoryFileSystem.configuration();
    FileCommitProtocol protocol = protocol("abfs://protocol/table", false);
    Path byOtherName = new Path("abfss://protocol" + location);
    protocol.deleteWithJob(byOtherName.getFileSystem(conf), byOtherName, true);
    protocol.setupJob(job(conf));
    List<TaskResult> results =
        spark
            .parallelize(List.of(0), 1)
            .map(
                task -> {
                  TaskAttemptContext context = begun(protocol, task, 1);
                  write(context, fileAt(protocol, context, "abfss://protocol" + location));
                  return new TaskResult((byte[]) protocol.commitTask(context).obj(), 0);
                })
            .collect();
    TaskOutput sent = TaskOutput.parse(results.get(0).message, "the message");
    assertThat(sent.next().location).isEqualTo("abfs://protocol" + location);
    commit(protocol, results);
    assertThat(state.files().keySet())
        .filteredOn(path -> path.startsWith(location + "/"))
        .hasSize(1)
        .noneMatch(path -> path.endsWith("/old"));
    assertThat(state.exists("/table/p=2/old")).isTrue();
    assertThat(state.paths()).noneMatch(path -> path.contains("_manifest_"));
  }

  @ParameterizedTest
  @CsvSource({"outside, true", "table/inside, true", "outside, false"})
  void anAttemptThatOverwritesALocationThatIsALinkFails(
      String link, boolean isDynamic, @TempDir java.nio.file.Path directory) throws Exception {
    java.nio.file.Path location = directory.resolve(link);
    Files.createDirectories(location.getParent());
    Files.createSymbolicLink(location, Files.createDirectory(directory.resolve("behind")));
    FileCommitProtocol protocol = begun("file:" + directory + "/table", isDynamic);
    TaskAttemptContext context = task(0, 1);
    if (!isDynamic) {
      context.getConfiguration().set(CommitterConfig.CONFLICT_MODE, "replace");
    }
    protocol.setupTask(context);
    assertThatThrownBy(() -> fileAt(protocol, context, "file:" + location))
        .hasMessageContaining(location + " is a symbolic link");
    protocol.abortTask(context);
    protocol.abortJob(job(MemoryFileSystem.configuration()));
    assertThat(location).isSymbolicLink();
    assertThat(directory.resolve("behind")).isEmptyDirectory();
  }

  @Test
  void theTableByAnotherNameIsNotALocation() throws Exception {
    state.write("/table/p=1/old", "old");
    FileCommitProtocol protocol = begun("abfs://protocol/table");
    TaskAttemptContext context = begun(protocol, 0, 1);
    for (String above : List.of("abfss://protocol/table", "abfss://protocol/")) {
      assertThatThrownBy(() -> fileAt(protocol, context, above))
          .hasMessageContaining("holds the table");
    }
    protocol.abortJob(job(MemoryFileSystem.configuration()));
    assertThat(state.files()).containsOnlyKeys("/table/p=1/old");
  }

  @Test
  void storesThatAreNotServedAreRefusedWithTheChoice() {
    String table = "s3a://bucket--use1-az4--x-s3/table";
    FileCommitProtocol protocol = protocol(table, false);
    assertThatThrownBy(() -> protocol.setupJob(job(MemoryFileSystem.configuration())))
        .isInstanceOf(UnsupportedStoreException.class)
        .hasMessageContaining(table)
        .hasMessageContaining("general purpose bucket")
        .hasMessageContainingAll(CommitterConfig.UNSUPPORTED_SCHEME, "by copying");
  }

  /** Spark completes a location without a host by the one of the table. */
  @ParameterizedTest
  @CsvSource({
    "file://protocol/x, file:/x, so Spark takes it for file://protocol/x",
    "nofs://host/x, nofs://host/x, No FileSystem for scheme"
  })
  void aLocationThatCannotBeOpenedIsNamed(String given, String named, String why) {
    FileCommitProtocol protocol = begun(TABLE);
    TaskAttemptContext context = begun(protocol, 0, 1);
    assertThatThrownBy(() -> fileAt(protocol, context, given))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("The partition location " + named + " of the table " + TABLE)
        .hasMessageContaining(why)
        .hasMessageContaining("Set the partition's location to a directory on the table's store");
    protocol.abortTask(context);
    protocol.abortJob(job(MemoryFileSystem.configuration()));
    assertThat(state.files()).isEmpty();
  }

  @Test
  void aDynamicOverwriteHasNoFilesOutsidePartitions() {
    FileCommitProtocol protocol = begun(TABLE, true);
    TaskAttemptContext context = begun(protocol, 0, 0);
    assertThatThrownBy(
            () -> protocol.newTaskTempFile(context, Option.empty(), new FileNameSpec("", ".x")))
        .hasMessageContaining("dynamic partition overwrite");
  }

  private static FileCommitProtocol protocol(String table, boolean isDynamic) {
    return FileCommitProtocol.instantiate(
        ManifestCommitProtocol.class.getName(), JOB_ID, table, isDynamic);
  }

  private static FileCommitProtocol begun(String table) {
    return begun(table, false);
  }

  private static FileCommitProtocol begun(String table, boolean isDynamic) {
    FileCommitProtocol protocol = protocol(table, isDynamic);
    protocol.setupJob(job(MemoryFileSystem.configuration()));
    return protocol;
  }

  private static TaskAttemptContext begun(FileCommitProtocol protocol, int task, int attempt) {
    TaskAttemptContext context = task(task, attempt);
    protocol.setupTask(context);
    return context;
  }

  private static void commit(FileCommitProtocol protocol, List<TaskResult> results) {
    commit(protocol, MemoryFileSystem.configuration(), results);
  }

  private static void commit(
      FileCommitProtocol protocol, Configuration conf, List<TaskResult> results) {
    List<TaskCommitMessage> messages = new ArrayList<>();
    results.forEach(result -> messages.add(new TaskCommitMessage(result.message)));
    protocol.commitJob(
        job(conf), JavaConverters.asScalaBufferConverter(messages).asScala().toSeq());
  }

  private static TaskResult runTask(FileCommitProtocol protocol, int task) throws Exception {
    TaskAttemptContext context = begun(protocol, task, 1);
    write(protocol, context);
    MemoryStoreState state = MemoryFileSystem.state("protocol");
    state.resetRequests();
    TaskCommitMessage message = protocol.commitTask(context);
    return new TaskResult((byte[]) message.obj(), state.requests().size());
  }

  private static String fileAt(
      FileCommitProtocol protocol, TaskAttemptContext context, String location) {
    return protocol.newTaskTempFileAbsPath(context, location, new FileNameSpec("", ".parquet"));
  }

  private static void write(FileCommitProtocol protocol, TaskAttemptContext context)
      throws Exception {
    write(
        context,
        protocol.newTaskTempFile(
            context, Option.apply("p=1"), new FileNameSpec("x-", "_00003.c000.parquet")));
  }

  private static void write(TaskAttemptContext context, String path) throws Exception {
    Path file = new Path(path);
    try (OutputStream out = file.getFileSystem(context.getConfiguration()).create(file)) {
      out.write("content".getBytes(StandardCharsets.UTF_8));
    }
  }

  private static JobContext job(Configuration conf) {
    return new JobContextImpl(conf, new JobID("job", 1));
  }

  private static TaskAttemptContext task(int task, int attempt) {
    return new TaskAttemptContextImpl(
        MemoryFileSystem.configuration(),
        new TaskAttemptID(new TaskID(new JobID("job", 1), TaskType.MAP, task), attempt));
  }

  /** What a task sent, and how many store requests its commit made. */
  private record TaskResult(byte[] message, int requestsOfCommit) implements java.io.Serializable {
    private static final long serialVersionUID = 1L;
  }
}
