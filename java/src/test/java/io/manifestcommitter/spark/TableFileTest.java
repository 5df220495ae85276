// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.cli.Clean;
import io.manifestcommitter.cli.Recover;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.MemoryStoreState.Snapshot;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An overwrite of a path that is a file, as Spark's {@code SaveLoadSuite} does it. */
class TableFileTest {
  private static final List<String> OLD = List.of("old");
  private static final List<String> NEW = List.of("new p=1/a", "new p=1/c", "new p=3/b");
  private static final String NEXT = "91b2c7aa-7d20-4a36-b1c3-5e0fd2a4be02";

  private SparkJobHarness spark;

  @ParameterizedTest
  @CsvSource({"hdfs,auto", "hdfs,off", "abfs,auto", "abfs,off", "gs,off"})
  void theFileStaysUntilTheCommit(String scheme, String directoryRename) throws IOException {
    begin(scheme, directoryRename);
    assertThat(spark.visible()).containsOnlyKeys("/table");

    spark.commit();

    assertThat(rows()).isEqualTo(NEW);
    assertThat(spark.state.exists("/table/_SUCCESS")).isTrue();
    assertThat(left()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"hdfs", "gs"})
  void aJobThatIsAbortedLeavesTheFile(String scheme) throws IOException {
    begin(scheme, "auto");
    spark.job().abort();
    assertThat(spark.state.files()).isEqualTo(Collections.singletonMap("/table", "old"));
    assertThat(left()).isEmpty();
  }

  @Test
  void anAppendToAFileIsRefused() throws IOException {
    spark = new SparkJobHarness("hdfs");
    spark.state.write("/table", "old");
    assertThatThrownBy(() -> spark.setUp(TableWrite.append()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("/table is a file")
        .hasMessageContaining("It was not touched");
    assertThat(spark.state.paths()).doesNotContain("/.manifest-file-table");
  }

  @Test
  void onS3ItIsRefusedSinceNothingCanBeMovedThere() throws IOException {
    spark = new SparkJobHarness("s3a");
    spark.state.write("/table", "old");
    assertThatThrownBy(() -> spark.setUp(TableWrite.replacing("/table")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("It was not touched");
    assertThat(rows()).isEqualTo(OLD);
  }

  @ParameterizedTest
  @CsvSource({"hdfs,auto", "hdfs,off", "gs,off"})
  void ofTwoJobsTheLastOneIsThere(String scheme, String directoryRename) throws IOException {
    begin(scheme, directoryRename);
    SparkJobHarness other = spark.other(NEXT).setUp(TableWrite.replacing("/table"));
    other.commitTask(0, "p=1/other");

    spark.commit();
    assertThat(rows()).isEqualTo(NEW);
    other.commit();

    assertThat(rows()).containsExactly("new p=1/other");
    assertThat(left()).isEmpty();
  }

  /** One fault at every request, in every way: the old file or the new rows, and no staging. */
  @ParameterizedTest
  @CsvSource({"hdfs,auto", "hdfs,off", "abfs,auto", "gs,off"})
  void oneFailureLeavesTheOldRowsOrMakesTheNewOnes(String scheme, String directoryRename)
      throws IOException {
    begin(scheme, directoryRename);
    spark.state.resetRequests();
    spark.commit();
    int requests = spark.state.requests().size();
    int failed = 0;
    for (int at = 1; at <= requests; at++) {
      for (Fate fate : Fate.values()) {
        if (!fate.isTriedAt(at)) {
          continue;
        }
        begin(scheme, directoryRename);
        spark.state.resetRequests();
        int wanted = at;
        spark.state.onRequest(Fault.at(wanted, fate));
        List<String> expected = NEW;
        String context = at + " " + fate;
        Optional<Throwable> failure = spark.commitOrAbort();
        if (failure.isPresent()) {
          expected = OLD;
          failed++;
        }
        context += " " + failure + " " + spark.state.requests();
        spark.state.noFault();
        if (fate.breaks() && !left().isEmpty()) {
          // The old file may be in the table then, as its data.
          spark.state.passTime(3_600_000);
          Recover.ofSession(spark.conf, spark.table.toString(), /* finish= */ false, true);
          Clean.ofSession(
              Recoveries.watchingBriefly(spark.conf),
              spark.table.toString(),
              "1m",
              false,
              false,
              false);
          assertThat(rows()).as(context).isIn(OLD, NEW);
          assertThat(failure.isPresent() || rows().equals(NEW)).as(context).isTrue();
          assertThat(left()).as(context).isEmpty();
          continue;
        }
        assertThat(rows()).as(context).isEqualTo(expected);
        assertThat(spark.state.isFile("/table")).as(context).isEqualTo(expected.equals(OLD));
        assertThat(left()).as(context).isEmpty();
      }
    }
    assertThat(failed).isPositive();
  }

  /** The driver dies at every request of the commit; then what may come. */
  @ParameterizedTest
  @CsvSource({"hdfs,auto", "hdfs,off", "abfs,auto", "gs,off"})
  void noRowIsLostOrDoubledWheneverADriverDies(String scheme, String directoryRename)
      throws IOException {
    begin(scheme, directoryRename);
    spark.state.resetRequests();
    spark.commit();
    int requests = spark.state.requests().size();
    int withoutTable = 0;
    for (int at = 1; at <= requests; at++) {
      for (Fate last : List.of(Fate.FAILS_BEFORE, Fate.FAILS_AFTER, Fate.HALF_DONE)) {
        begin(scheme, directoryRename);
        int wanted = at;
        spark.state.resetRequests();
        spark.state.onRequest(Fault.deadFrom(wanted, last));
        try {
          spark.commit();
        } catch (IOException e) {
          assertThat(e).hasMessageContaining("/");
        }
        spark.state.noFault();
        spark.state.passTime(3_600_000);
        String context = at + " " + last + " " + spark.state.paths();
        withoutTable += spark.state.exists("/table") ? 0 : 1;
        if (!rows().equals(NEW)) {
          assertThat(spark.state.files().values()).as(context).contains("old");
        }
        afterDeath(context);
      }
    }
    assertThat(withoutTable).as("deaths that leave nothing at the path").isPositive();
  }

  private void afterDeath(String context) throws IOException {
    Snapshot died = spark.state.snapshot();
    String table = spark.table.toString();

    Recover.ofSession(spark.conf, table, /* finish= */ false, /* force= */ true);
    List<String> recovered = rows();
    assertThat(recovered).as(context).isIn(OLD, NEW);
    Clean.ofSession(Recoveries.watchingBriefly(spark.conf), table, "1m", false, false, false);
    assertThat(left()).as(context).isEmpty();
    assertThat(rows()).as(context).isEqualTo(recovered);

    spark.state.restore(died);
    SparkJobHarness next = spark.other(NEXT).setUp(TableWrite.replacing("/table"));
    next.commitTask(0, "p=1/next");
    next.commit();
    assertThat(rows()).as(context).containsExactly("new p=1/next");

    spark.state.restore(died);
    next = spark.other(NEXT);
    List<String> both = new ArrayList<>(recovered);
    if (spark.state.isFile("/table")) {
      SparkJobHarness refused = next;
      assertThatThrownBy(() -> refused.setUp(TableWrite.append())).isInstanceOf(IOException.class);
    } else {
      next.setUp(TableWrite.append());
      next.commitTask(0, "p=1/next");
      next.commit();
      both.add("new p=1/next");
      Collections.sort(both);
    }
    assertThat(rows()).as(context).isEqualTo(both);
  }

  @Test
  void whatOthersWroteSinceIsNotMixedWithTheFile() throws IOException {
    spark = new SparkJobHarness("hdfs");
    spark.state.write("/.manifest-file-table/file", "old");
    spark.state.write("/table/p=1/foreign", "foreign");
    Recover.ofSession(spark.conf, spark.table.toString(), /* finish= */ false, /* force= */ true);
    assertThat(rows()).containsExactly("foreign");
    assertThat(spark.state.files()).containsKey("/.manifest-file-table/file");
  }

  private void begin(String scheme, String directoryRename) throws IOException {
    spark = new SparkJobHarness(scheme);
    spark.conf.set(CommitterConfig.DIRECTORY_RENAME, directoryRename);
    spark.conf.setInt(CommitterConfig.IO_THREADS, 1);
    spark.state.write("/table", "old");
    spark.setUp(TableWrite.replacing("/table"));
    spark.commitTask(0, "p=1/a", "p=3/b");
    spark.commitTask(1, "p=1/c");
  }

  /** As a reader of the path sees them, whether it is a file or a directory. */
  private List<String> rows() {
    Collection<String> contents = spark.visible().values();
    List<String> rows = new ArrayList<>(contents);
    Collections.sort(rows);
    return rows;
  }

  /** Whatever is there and neither the table nor its parents. */
  private List<String> left() {
    List<String> left = new ArrayList<>(spark.state.paths());
    left.removeIf(path -> !path.contains("/_manifest_") && !path.contains("/.manifest-file-"));
    return left;
  }
}
