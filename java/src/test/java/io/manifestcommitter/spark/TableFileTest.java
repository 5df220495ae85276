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
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An overwrite of a path that is a file, as Spark's {@code SaveLoadSuite} does it. */
class TableFileTest {
  private static final List<String> OLD = List.of("old");
  private static final List<String> NEW = List.of("new p=1/a", "new p=1/c", "new p=3/b");
  private static final String PARKED = "/.manifest-file-" + SparkJobHarness.JOB_ID;
  private static final String NEXT = "91b2c7aa-7d20-4a36-b1c3-5e0fd2a4be02";

  private SparkJobHarness spark;

  @ParameterizedTest
  @CsvSource({"hdfs,auto", "hdfs,off", "abfs,auto", "abfs,off"})
  void theFileIsKeptUntilTheCommit(String scheme, String directoryRename) throws IOException {
    begin(scheme, directoryRename);
    assertThat(spark.state.files()).containsEntry(PARKED, "old");

    spark.commit();

    assertThat(rows()).isEqualTo(NEW);
    assertThat(spark.state.exists("/table/_SUCCESS")).isTrue();
    assertThat(left()).isEmpty();
  }

  @Test
  void theFileGoesAlsoWhereTheStagingDirectoryIsToStay() throws IOException {
    spark = new SparkJobHarness("hdfs").with(CommitterConfig.CLEANUP_SKIPPED, "true");
    spark.old("/table").setUp(TableWrite.replacing("/table")).commitTask(0, "p=1/a");

    spark.commit();

    assertThat(spark.state.paths()).noneMatch(path -> path.contains(".manifest-file-"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"hdfs", "abfs"})
  void aJobThatIsAbortedLeavesTheFile(String scheme) throws IOException {
    begin(scheme, "auto");
    spark.job().abort();
    assertThat(spark.state.files()).isEqualTo(Collections.singletonMap("/table", "old"));
    assertThat(left()).isEmpty();
  }

  /** Between a look at the file and its rename, another job has moved it, and made its table. */
  @ParameterizedTest
  @ValueSource(strings = {"hdfs", "abfs"})
  void theTableOfAnotherJobIsNotKeptAside(String scheme) throws IOException {
    spark = new SparkJobHarness(scheme).old("/table");
    spark.state.before(
        "rename",
        path -> spark.state.isFile("/table"),
        path -> {
          spark.state.remove("/table");
          spark.state.write("/table/p=9/theirs", "theirs");
        });

    assertThatThrownBy(() -> spark.setUp(TableWrite.replacing("/table")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("run again");

    assertThat(spark.state.files()).containsOnlyKeys("/table/p=9/theirs");
  }

  @Test
  void anAppendToAFileIsRefused() throws IOException {
    spark = new SparkJobHarness("hdfs").old("/table");
    assertThatThrownBy(() -> spark.setUp(TableWrite.append()))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("/table is a file", "It was not touched");
    assertThat(spark.state.files()).containsOnlyKeys("/table");
  }

  @ParameterizedTest
  @ValueSource(strings = {"s3a", "gs"})
  void itIsRefusedWhereNoDirectoryCanBeMoved(String scheme) throws IOException {
    spark = new SparkJobHarness(scheme).old("/table");
    assertThatThrownBy(() -> spark.setUp(TableWrite.replacing("/table")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("It was not touched");
    assertThat(rows()).isEqualTo(OLD);
  }

  @ParameterizedTest
  @CsvSource({"hdfs,auto", "hdfs,off", "abfs,auto"})
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
  @Tag("sample")
  @ParameterizedTest
  @CsvSource({"hdfs,auto", "hdfs,off", "abfs,auto"})
  void oneFailureLeavesTheOldRowsOrMakesTheNewOnes(String scheme, String directoryRename)
      throws IOException {
    int requests = requests(scheme, directoryRename);
    int failed = 0;
    for (int at = 1; at <= requests; at++) {
      for (Fate fate : Fate.values()) {
        if (!fate.isTriedAt(at)) {
          continue;
        }
        prepare(scheme, directoryRename);
        spark.state.onRequest(Fault.at(at, fate));
        List<String> expected = NEW;
        String context = at + " " + fate;
        Optional<Throwable> failure = setUp();
        if (!failure.isPresent()) {
          failure = spark.commitOrAbort();
        }
        if (failure.isPresent()) {
          expected = OLD;
          failed++;
        }
        context += " " + failure + " " + spark.state.requests();
        spark.state.noFault();
        if (fate.breaks() && !left().isEmpty()) {
          assertThat(failure.isPresent() || rows().equals(NEW)).as(context).isTrue();
          recoverAndClean(context);
          continue;
        }
        assertThat(rows()).as(context).isEqualTo(expected);
        assertThat(spark.state.isFile("/table")).as(context).isEqualTo(expected.equals(OLD));
        assertThat(left()).as(context).isEmpty();
      }
    }
    assertThat(failed).isPositive();
  }

  /** The driver dies at every request; then what may come. */
  @Tag("sample")
  @ParameterizedTest
  @CsvSource({"hdfs,auto", "hdfs,off", "abfs,auto"})
  void theFileIsNotLostWheneverADriverDies(String scheme, String directoryRename)
      throws IOException {
    int requests = requests(scheme, directoryRename);
    int parked = 0;
    for (int at = 1; at <= requests; at++) {
      for (Fate last : List.of(Fate.FAILS_BEFORE, Fate.FAILS_AFTER, Fate.HALF_DONE)) {
        prepare(scheme, directoryRename);
        spark.state.onRequest(Fault.deadFrom(at, last));
        if (!setUp().isPresent()) {
          try {
            spark.commit();
          } catch (IOException e) {
            assertThat(e).hasMessageContaining("/");
          }
        }
        spark.state.noFault();
        String context = at + " " + last + " " + spark.state.paths();
        parked += spark.state.exists(PARKED) ? 1 : 0;
        Snapshot died = spark.state.snapshot();
        recoverAndClean(context);

        spark.state.restore(died);
        spark.state.passTime(3_600_000);
        SparkJobHarness next = spark.other(NEXT).setUp(TableWrite.replacing("/table"));
        next.commitTask(0, "p=1/next");
        next.commit();
        assertThat(rows()).as(context).containsExactly("new p=1/next");
        assertThat(spark.state.exists(PARKED)).as(context).isEqualTo(isParked(died));
      }
    }
    assertThat(parked).as("deaths that leave the file beside its place").isPositive();
  }

  private boolean isParked(Snapshot then) {
    Snapshot now = spark.state.snapshot();
    spark.state.restore(then);
    boolean isParked = spark.state.exists(PARKED);
    spark.state.restore(now);
    return isParked;
  }

  /** Afterwards the file is at its place, or can be moved there, or the new rows are. */
  private void recoverAndClean(String context) throws IOException {
    String table = spark.table.toString();
    boolean wasParked = spark.state.exists(PARKED);
    spark.state.passTime(3_600_000);
    try {
      Recover.ofSession(spark.conf, table, /* finish= */ false, /* force= */ true);
    } catch (FileNotFoundException e) {
      assertThat(wasParked).as(context).isTrue();
    }
    try {
      Clean.ofSession(Recoveries.watchingBriefly(spark.conf), table, "1m", false, false, false);
    } catch (FileNotFoundException e) {
      assertThat(wasParked).as(context).isTrue();
    }
    assertThat(spark.state.exists(PARKED)).as(context).isEqualTo(wasParked);
    if (!rows().equals(NEW) && wasParked) {
      assertThat(spark.state.files()).as(context).isEqualTo(Map.of(PARKED, "old"));
    } else {
      assertThat(rows()).as(context).isIn(OLD, NEW);
    }
    List<String> left = left();
    // Perhaps the directory beside it, with nothing else in it.
    left.removeIf(PARKED::startsWith);
    assertThat(left).as(context).isEmpty();
  }

  /** The error says where it is, also if the job cannot put it back. */
  @Test
  void aFileThatCannotReturnIsNamed() throws IOException {
    begin("hdfs", "auto");
    spark.state.onRequest(
        Fault.on(
            "rename", Fate.FAILS_BEFORE, path -> path.contains("journal") || path.equals(PARKED)));
    assertThatThrownBy(spark::commit)
        .satisfies(
            e ->
                assertThat(List.of(e.getSuppressed()))
                    .anySatisfy(each -> assertThat(each).hasMessageContaining(PARKED)));
    spark.job().abort();
    spark.state.noFault();
    assertThat(spark.state.files()).isEqualTo(Map.of(PARKED, "old"));
  }

  /** Most stores would move the file into what another job has made at its place. */
  @Test
  void aFileDoesNotReturnIntoAnothersTable() throws IOException {
    begin("hdfs", "auto");
    spark.state.onRequest(
        (number, operation, path) -> {
          if (path.contains("journal") && operation.equals("rename")) {
            spark.state.write("/table/p=9/foreign", "foreign");
            return Fate.FAILS_BEFORE;
          }
          return Fate.NORMAL;
        });
    assertThatThrownBy(spark::commit).isInstanceOf(IOException.class);
    spark.state.noFault();
    spark.job().abort();
    assertThat(spark.state.files())
        .isEqualTo(Map.of(PARKED, "old", "/table/p=9/foreign", "foreign"));
  }

  private int requests(String scheme, String directoryRename) throws IOException {
    prepare(scheme, directoryRename);
    assertThat(setUp()).isEmpty();
    spark.commit();
    return spark.state.requests().size();
  }

  private void begin(String scheme, String directoryRename) throws IOException {
    prepare(scheme, directoryRename);
    assertThat(setUp()).isEmpty();
  }

  private void prepare(String scheme, String directoryRename) throws IOException {
    spark = new SparkJobHarness(scheme).with(CommitterConfig.DIRECTORY_RENAME, directoryRename);
    spark.oneThread().old("/table");
    spark.state.resetRequests();
  }

  /** What it failed with. */
  private Optional<Throwable> setUp() throws IOException {
    try {
      spark.setUp(TableWrite.replacing("/table"));
    } catch (IOException | LinkageError e) {
      return Optional.of(e);
    }
    spark.commitTask(0, "p=1/a", "p=3/b").commitTask(1, "p=1/c");
    return Optional.empty();
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
