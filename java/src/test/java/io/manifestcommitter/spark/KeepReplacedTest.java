// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.cli.Clean;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.read.WholeLooks;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What an overwrite replaces stays readable for who asks for it, until it is cleaned. */
class KeepReplacedTest {
  private static final String JOB = SparkJobHarness.JOB_ID;
  private static final String SECOND = "91b2c7aa-7d20-4a36-b1c3-5e0fd2a4be02";
  private static final String OLD = "/table/p=1/old";

  @ParameterizedTest
  @ValueSource(strings = {"abfs", "hdfs", "gs-folders", "mem"})
  void aTableIsReadAsItWasBeforeAJob(String scheme) throws IOException {
    SparkJobHarness spark = keeping(scheme).old(OLD, "/table/p=2/old");

    commit(spark, TableWrite.dynamic(), "p=1/a", "p=3/c");

    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/a", "/table/p=2/old", "/table/p=3/c");
    assertThat(before(spark, JOB)).containsExactlyInAnyOrder(OLD, "/table/p=2/old");
    assertThat(before(spark, null)).isEqualTo(spark.visible().keySet());

    // What comes later to what the job replaced is not of that time; elsewhere nobody knows.
    commit(spark.other(SECOND), TableWrite.append(), "p=1/late", "p=2/late");
    assertThat(before(spark, JOB))
        .containsExactlyInAnyOrder(OLD, "/table/p=2/old", "/table/p=2/late");
  }

  @ParameterizedTest
  @ValueSource(strings = {"abfs", "hdfs", "gs-folders", "mem"})
  void eachOfSeveralJobsKeepsWhatItReplaced(String scheme) throws IOException {
    SparkJobHarness spark = keeping(scheme).old(OLD);
    commit(spark, TableWrite.replacing("/table"), "p=1/a", "p=2/a");
    commit(spark.other(SECOND), TableWrite.replacing("/table"), "p=2/b");

    assertThat(spark.visible()).containsOnlyKeys("/table/p=2/b");
    assertThat(before(spark, JOB)).containsExactly(OLD);
    assertThat(before(spark, SECOND)).containsExactlyInAnyOrder("/table/p=1/a", "/table/p=2/a");
    assertThat(spark.recover(Direction.AS_MARKED, /* force= */ true)).isEmpty();
    assertThat(before(spark, JOB)).containsExactly(OLD);
  }

  @Test
  void filesOfATableWithoutPartitionsAreKept() throws IOException {
    SparkJobHarness spark = keeping("abfs").old("/table/old", "/table/older");
    commit(spark, TableWrite.replacing("/table"), "a");
    commit(spark.other(SECOND), TableWrite.append(), "b");

    assertThat(before(spark, JOB)).containsExactlyInAnyOrder("/table/old", "/table/older");
  }

  @Test
  void cleanRemovesItOnceItIsOldEnough() throws IOException {
    SparkJobHarness spark = keeping("hdfs").old(OLD);
    spark.with(CommitterConfig.HEARTBEAT_INTERVAL, "100ms");
    spark.with(CommitterConfig.HEARTBEAT_TIMEOUT, "500ms");
    commit(spark, TableWrite.replacing("/table"), "p=1/a");
    spark.state.passTime(TimeUnit.HOURS.toMillis(40));

    assertThat(clean(spark)).contains("\"removed\":false");
    assertThat(before(spark, JOB)).containsExactly(OLD);
    spark.state.passTime(TimeUnit.HOURS.toMillis(40));
    assertThat(clean(spark)).contains("\"removed\":true");

    assertThat(spark.staging()).isEmpty();
    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/a");
    assertThatThrownBy(() -> before(spark, JOB))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("keeps no replaced data", CommitterConfig.KEEP_REPLACED);
  }

  @Test
  void anAppendKeepsNothingAndIsNotRefused() throws IOException {
    for (String scheme : Set.of("abfs", "s3a", "gs")) {
      SparkJobHarness spark = keeping(scheme).old(OLD);
      commit(spark, TableWrite.append(), "p=1/a");
      assertThat(spark.staging()).as(scheme).isEmpty();
      assertThat(spark.visible()).as(scheme).containsOnlyKeys(OLD, "/table/p=1/a");
    }
  }

  /** Setup refuses it where the store tells, and the plan where a place does. */
  @Test
  void whatDoesNotMoveAsideIsRefusedWithNothingChanged() throws IOException {
    for (String scheme : Set.of("s3a", "gs")) {
      SparkJobHarness spark = keeping(scheme).old(OLD);
      for (TableWrite write : Set.of(TableWrite.dynamic(), TableWrite.replacing("/table"))) {
        assertThatThrownBy(() -> spark.setUp(write))
            .hasMessageContainingAll("cannot keep what it replaces", CommitterConfig.KEEP_REPLACED);
      }
      assertThat(spark.visible()).as(scheme).containsOnlyKeys(OLD);
      assertThat(spark.staging()).as(scheme).isEmpty();
    }
    SparkJobHarness spark = keeping("abfs").byFile().old(OLD);
    spark.setUp(TableWrite.dynamic()).commitTask(0, "p=1/a");
    assertThat(spark.commitOrAbort().orElseThrow())
        .hasMessageContainingAll("cannot be kept", "is deleted where it is", "/table/p=1");
    assertThat(spark.visible()).containsOnlyKeys(OLD);
    assertThat(spark.staging()).isEmpty();
  }

  @Test
  void whatAHeldJobOrOneElsewhereReplacesIsNotKept() throws IOException {
    SparkJobHarness held = keeping("abfs").old(OLD).with(CommitterConfig.PUBLISH, "hold");
    assertThatThrownBy(() -> held.setUp(TableWrite.dynamic()))
        .hasMessageContainingAll("cannot keep what it replaces", "It is held");
    commit(held, TableWrite.append(), "p=1/a");
    assertThat(held.visible()).containsOnlyKeys(OLD);

    SparkJobHarness elsewhere = keeping("abfs").old("/elsewhere/old", OLD);
    elsewhere.setUp(TableWrite.replacing("/elsewhere")).commitTaskAt(0, "/elsewhere", "a");
    assertThat(elsewhere.commitOrAbort().orElseThrow())
        .hasMessageContainingAll("cannot be kept", "partitions outside of the table");
    assertThat(elsewhere.visible()).containsOnlyKeys("/elsewhere/old", OLD);
  }

  /** Its recovery removes what it replaced, as of any job. */
  @Test
  void aJobThatDiesKeepsNothingOnceItIsRecovered() throws IOException {
    SparkJobHarness spark = keeping("abfs").old(OLD);
    spark.setUp(TableWrite.dynamic()).commitTask(0, "p=1/a");
    boolean[] isCommitted = {false};
    assertThat(
            spark.dies(
                (number, operation, path) -> {
                  boolean isDead = isCommitted[0];
                  isCommitted[0] |= operation.equals("rename") && path.contains("/journal-planned");
                  return isDead ? Fate.FAILS_BEFORE : Fate.NORMAL;
                }))
        .isTrue();

    assertThat(spark.recover(Direction.AS_MARKED, /* force= */ true))
        .containsExactly(Recovery.Outcome.COMPLETED);

    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/a");
    assertThat(spark.staging()).isEmpty();
    assertThatThrownBy(() -> before(spark, JOB)).hasMessageContaining("keeps no replaced data");
  }

  private static SparkJobHarness keeping(String scheme) {
    return new SparkJobHarness(scheme).with(CommitterConfig.KEEP_REPLACED, "72h");
  }

  private static void commit(SparkJobHarness spark, TableWrite write, String... files)
      throws IOException {
    spark.setUp(write).commitTask(0, files).commit();
  }

  private static Set<String> before(SparkJobHarness spark, String job) throws IOException {
    return WholeLooks.before(spark.conf, spark.table, job).keySet();
  }

  private static String clean(SparkJobHarness spark) throws IOException {
    return Clean.ofSession(
        spark.conf,
        spark.table.toString(),
        "1h",
        /* dryRun= */ false,
        /* discardUnfinished= */ false,
        /* force= */ false);
  }
}
