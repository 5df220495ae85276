// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.faults;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.emulator.Onto;
import io.manifestcommitter.faults.FaultyStore.Kind;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.Recovery.Outcome;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.testing.HadoopCalls;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.SparkWrite;
import io.manifestcommitter.testing.TableFiles;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What stores are known for, through the real connectors: a job that says that it succeeded has
 * exactly its rows in the table. After one that failed the table is the old one, or what the error
 * advises makes it so.
 */
@Execution(ExecutionMode.CONCURRENT)
class FaultsIT {
  private static final NavigableMap<String, String> OLD =
      new TreeMap<>(Map.of("p=1/old", "old 1\n", "p=9/old", "old 9\n"));

  /** What goes wrong with the first request that makes something of the job visible. */
  enum Fault {
    /** Done, and the connection dropped. */
    LOST,
    /** Done, and answered as a request that was sent again is. */
    NOT_FOUND,
    /** Done, and answered after the client has given up. */
    STALLED,
    /** Refused, more often than the connector asks. */
    BUSY;

    private FaultRule rule(Kind store) {
      String operation = store == Kind.GS_FOLDERS ? "folder-rename" : store.publishes();
      FaultRule.When when = FaultRule.on(operation).path("/table-\\d+/p=");
      return switch (this) {
        case LOST -> when.applyThenDrop();
        case NOT_FOUND -> when.applyThenFail(404);
        case STALLED ->
            when.applyThenStall(Duration.ofMillis(FaultyStore.SHORT_READ_TIMEOUT * 3 / 2));
        default -> when.times(store.tries() + 1).refuse(503);
      };
    }
  }

  /** How a job writes. */
  enum Writes {
    /** In the Hadoop protocol. */
    HADOOP,
    /** In the Spark protocol; the same for an overwrite. */
    APPEND,
    OVERWRITE
  }

  static Stream<Arguments> jobs() {
    return Stream.of(Kind.values())
        .flatMap(
            store ->
                Stream.of(Writes.values())
                    .filter(writes -> serves(store, writes))
                    .map(writes -> Arguments.of(store, writes)));
  }

  static Stream<Arguments> jobsAndFaults() {
    return jobs()
        .map(Arguments::get)
        .flatMap(
            job -> Stream.of(Fault.values()).map(fault -> Arguments.of(job[0], job[1], fault)));
  }

  /** The Hadoop protocol renames: on S3 it is refused, and into folders it renames files alone. */
  private static boolean serves(Kind store, Writes writes) {
    return writes != Writes.HADOOP || (store != Kind.S3A && store != Kind.GS_FOLDERS);
  }

  @ParameterizedTest
  @MethodSource("jobsAndFaults")
  void whatPassesMakesNoJobFail(Kind kind, Writes writes, Fault fault) throws Exception {
    boolean isLate = fault == Fault.STALLED;
    assumeThat(!isLate || kind.hasShortReadTimeout()).as("a client that gives up").isTrue();
    try (FaultyStore store = isLate ? FaultyStore.impatient(kind) : FaultyStore.open(kind)) {
      assertSucceeds(store, writes, fault.rule(kind));
    }
  }

  /** The repeated rename of a directory meets the directory that the first one made. */
  @ParameterizedTest
  @EnumSource(Onto.class)
  void whateverARenameOntoADirectoryDoes(Onto onto) throws Exception {
    try (FaultyStore store = FaultyStore.open(Kind.ABFS)) {
      store.onExistingDirectory(onto);
      assertSucceeds(store, Writes.OVERWRITE, Fault.BUSY.rule(Kind.ABFS));
      assertSucceeds(store, Writes.OVERWRITE, Fault.LOST.rule(Kind.ABFS));
    }
  }

  private static void assertSucceeds(FaultyStore store, Writes writes, FaultRule rule)
      throws Exception {
    Job job = store.run(() -> new Job(store, writes));
    store.run(List.of(rule), job::commit);
    assertThat(rule.applied()).isPositive();
    store.run(job::assertCommitted);
  }

  @ParameterizedTest
  @MethodSource("jobs")
  void whatIsRefusedForGoodLeavesTheTableAsItWas(Kind kind, Writes writes) throws Exception {
    try (FaultyStore store = FaultyStore.open(kind)) {
      Job job = store.run(() -> new Job(store, writes));
      List<FaultRule> rules = List.of(refused(kind.publishes()), refused("folder-rename"));

      Throwable failure = catchThrowable(() -> store.run(rules, job::commit));

      assertThat(failure).hasStackTraceContaining("p=2");
      store.run(
          () -> {
            job.abort();
            job.assertOld();
            return null;
          });
    }
  }

  /** The second partition is refused, and so is the deletion of the first, which rolls it back. */
  @ParameterizedTest
  @EnumSource(Kind.class)
  void whatCannotBeRolledBackIsRepairedAsTheErrorSays(Kind kind) throws Exception {
    try (FaultyStore store = FaultyStore.open(kind)) {
      Job job = store.run(() -> new Job(store, Writes.APPEND));
      List<FaultRule> rules =
          List.of(
              refused(kind.publishes()),
              refused("folder-rename"),
              refusedAt("delete", "/table-\\d+/p="),
              refusedAt("delete-many", ""));

      Throwable failure = catchThrowable(() -> store.run(rules, job::commit));

      assertThat(Failures.trace(failure)).contains("manifest-committer recover " + job.table);
      store.run(
          () -> {
            Recovery recovery = Recoveries.of(job.conf, /* force= */ true);
            assertThat(Recoveries.all(recovery, job.table, Recovery.Direction.AS_MARKED))
                .containsExactly(Outcome.ROLLED_BACK);
            job.assertOld();
            return null;
          });
    }
  }

  private static FaultRule refused(String operation) {
    return refusedAt(operation, "/table-\\d+/p=2");
  }

  private static FaultRule refusedAt(String operation, String path) {
    return FaultRule.on(operation).path(path).always().refuse(403);
  }

  /** Adds a file to a partition of the table and one to a new partition. */
  static final class Job {
    private static final String[] PARTITIONS = {"p=1", "p=2"};

    private final Path table;
    private final Configuration conf;
    private final FileSystem fs;
    private final HadoopCalls hadoop;
    private final SparkWrite spark;

    /** A job whose only task is committed. */
    Job(FaultyStore store, Writes writes) throws IOException {
      this.table = store.newTable();
      this.conf = store.conf();
      this.fs = table.getFileSystem(conf);
      for (Map.Entry<String, String> file : OLD.entrySet()) {
        TableFiles.write(fs, new Path(table, file.getKey()), file.getValue());
      }
      hadoop = new HadoopCalls(conf, table, new JobID("202601010000", 1));
      if (writes == Writes.HADOOP) {
        spark = null;
        runHadoopTask();
      } else {
        spark = SparkWrite.begin(conf, table, writes == Writes.OVERWRITE ? "static" : "append");
        spark.task(0, PARTITIONS);
      }
    }

    private void runHadoopTask() throws IOException {
      hadoop.setupJob();
      PathOutputCommitter task = hadoop.setupTask(0, 0);
      for (String partition : PARTITIONS) {
        TableFiles.write(fs, new Path(task.getWorkPath(), partition + "/new"), "new");
      }
      task.commitTask(hadoop.context(0, 0));
    }

    Void commit() throws IOException {
      if (spark == null) {
        hadoop.commitJob();
      } else {
        spark.commit();
      }
      return null;
    }

    void abort() throws IOException {
      if (spark == null) {
        hadoop.abortJob();
      } else {
        spark.abort();
      }
    }

    Void assertCommitted() throws IOException {
      Map<String, String> expected = new TreeMap<>(OLD);
      for (String partition : PARTITIONS) {
        expected.put(partition + "/new", "new");
      }
      assertThat(visible()).isEqualTo(spark == null ? expected : spark.after(OLD));
      assertThat(report().jobId()).isEqualTo(spark == null ? hadoop.id.toString() : spark.id());
      return null;
    }

    /** How many of its renames were found done although the store had denied them. */
    long recovered() throws IOException {
      return report()
          .statistics()
          .counters()
          .getOrDefault(StatisticNames.OP_COMMIT_FILE_RENAME_RECOVERED, 0L);
    }

    private SuccessReport report() throws IOException {
      String text = TableFiles.read(fs, new Path(table, "_SUCCESS"));
      return SuccessReport.parse(text.getBytes(UTF_8), "_SUCCESS");
    }

    /** As if there had been no job. */
    void assertOld() throws IOException {
      assertThat(visible()).isEqualTo(OLD);
      assertThat(fs.exists(new Path(table, "_SUCCESS"))).isFalse();
      assertThat(TableFiles.staging(fs, table)).isEmpty();
    }

    private NavigableMap<String, String> visible() throws IOException {
      NavigableMap<String, String> visible = TableFiles.visible(fs, table);
      visible.keySet().removeIf(path -> path.endsWith("/"));
      return visible;
    }
  }
}
