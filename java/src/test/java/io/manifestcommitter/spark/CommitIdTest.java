// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.cli.Answers;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.progress.Commits;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.NoHeartbeatLeft;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Writes with an identity; OnceTest has the drivers that die and the ones that race. */
@ExtendWith(NoHeartbeatLeft.class)
class CommitIdTest {
  private static final String ID = "run 1";
  private static final String NEXT = "91b2c7aa-7d20-4a36-b1c3-5e0fd2a4be02";
  private static final String ENTRY = "/table/_manifest_/ids/id-run+1";

  @ParameterizedTest
  @ValueSource(strings = {"abfs", "hdfs", "gs", "s3a"})
  void aRepetitionPublishesNothingAndLeavesNothing(String scheme) throws IOException {
    SparkJobHarness spark = with(new SparkJobHarness(scheme), TableWrite.append(), "p=1/a");
    spark.commit();
    String report = spark.state.files().get("/table/_SUCCESS");
    SparkJobHarness again =
        with(
            spark.other(NEXT).with(CommitterConfig.SUMMARY_REPORT_DIRECTORY, reports(spark)),
            TableWrite.replacing("/table"),
            "p=1/b",
            "p=2/c");

    again.commit();
    again.job().abort();

    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/a");
    assertThat(spark.state.files()).containsEntry("/table/_SUCCESS", report);
    assertThat(spark.staging()).noneMatch(path -> path.contains(NEXT));
    SuccessReport told = again.report("/_reports/summary-" + NEXT + ".json");
    assertThat(told.success()).isTrue();
    assertThat(told.diagnostics())
        .containsEntry("commit.id", ID)
        .containsEntry("committed.by", SparkJobHarness.JOB_ID);
    assertThat(Commits.ofAllClassLoaders())
        .anySatisfy(
            commit ->
                assertThat(commit).containsEntry("jobId", NEXT).containsEntry("state", "skipped"));
  }

  /** It is over, and nobody may take it for alive. */
  @ParameterizedTest
  @ValueSource(strings = {"abfs", "hdfs", "gs", "s3a"})
  void aRepetitionThatCannotCleanUpEndsItsHeartbeat(String scheme) throws IOException {
    SparkJobHarness spark = with(new SparkJobHarness(scheme), TableWrite.append(), "p=1/a");
    spark.commit();
    SparkJobHarness again = with(spark.other(NEXT), TableWrite.append(), "p=1/b");
    AtomicInteger failed = new AtomicInteger();
    again.onRequest(
        Fault.on(
            "list",
            Fate.FAILS_BEFORE,
            path -> path.endsWith(NEXT + "/00/locations") && failed.incrementAndGet() > 0));

    // After which Spark calls nothing more.
    again.commit();

    again.noFault();
    assertThat(failed).hasPositiveValue();
    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/a");
  }

  private static String reports(SparkJobHarness spark) {
    return spark.path("/_reports").toString();
  }

  /** What it costs; a job without an identity makes as many requests as before. */
  @ParameterizedTest
  @CsvSource({"abfs,8", "hdfs,8", "gs,6", "s3a,5"})
  void anIdentityTakesAFewRequestsMore(String scheme, int more) throws IOException {
    List<Integer> numbers = new ArrayList<>();
    for (String id : List.of("", ID)) {
      SparkJobHarness spark = new SparkJobHarness(scheme).old("/table/p=1/old").oneThread();
      spark.with(CommitterConfig.COMMIT_ID, id).setUp(TableWrite.append());
      spark.commitTask(0, "p=1/a");
      spark.state.resetRequests();
      spark.commit();
      numbers.add(spark.state.requests().size());
    }
    assertThat(numbers.get(1) - numbers.get(0)).as("%s", numbers).isEqualTo(more);
  }

  @Test
  void theTableSaysWhatItRemembersAndForgets() throws IOException {
    SparkJobHarness spark = with(new SparkJobHarness("abfs"), TableWrite.append(), "p=1/a");
    spark.commit();
    String table = spark.table.toString();
    assertThat(ids(spark, table, "", false))
        .contains("\"id\":\"run 1\"", "\"jobId\":\"" + SparkJobHarness.JOB_ID + "\"");
    assertThat(ids(spark, table, "run 2", false)).isEqualTo("[]");

    ids(spark, table, ID, /* forget= */ true);

    assertThat(spark.state.exists(ENTRY)).isFalse();
    with(spark.other(NEXT), TableWrite.append(), "p=1/b").commit();
    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/a", "/table/p=1/b");
    assertThatThrownBy(() -> ids(spark, table + "x", ID, false))
        .hasMessageContaining("There is nothing at");
  }

  /** By a driver that died just then: the next job of this identity recovers it before it asks. */
  @Test
  void anIdentityThatIsHalfNotedIsNotRemembered() throws IOException {
    SparkJobHarness spark = with(new SparkJobHarness("abfs"), TableWrite.append(), "p=1/a");
    spark.commit();
    spark.state.write(ENTRY, "{");
    assertThat(ids(spark, spark.table.toString(), ID, false)).isEqualTo("[]");
  }

  @Test
  void anOverwriteLeavesTheIdentitiesOfTheTable() throws IOException {
    SparkJobHarness spark = with(new SparkJobHarness("gs"), TableWrite.append(), "p=1/a");
    spark.commit();
    SparkJobHarness next = spark.other(NEXT).with(CommitterConfig.COMMIT_ID, "");
    next.setUp(TableWrite.replacing("/table")).commitTask(0, "p=2/b");

    next.commit();

    assertThat(spark.visible()).containsOnlyKeys("/table/p=2/b");
    assertThat(spark.state.exists(ENTRY)).isTrue();
  }

  @Test
  void aDamagedEntryFailsTheJobAndNamesItsFile() throws IOException {
    SparkJobHarness spark = with(new SparkJobHarness("abfs"), TableWrite.append(), "p=1/a");
    spark.state.write(ENTRY, "");

    assertThat(spark.commitOrAbort().orElseThrow())
        .hasMessageContainingAll(ENTRY, "delete the file and run the job again");
    assertThat(spark.visible()).isEmpty();
  }

  private static String ids(SparkJobHarness spark, String table, String id, boolean forget)
      throws IOException {
    String given = "{\"commitId\":\"" + id + "\",\"forget\":" + forget + "}";
    return Answers.value(spark.conf, "ids", table, given);
  }

  private static SparkJobHarness with(SparkJobHarness spark, TableWrite write, String... files)
      throws IOException {
    spark.with(CommitterConfig.COMMIT_ID, ID).setUp(write);
    return spark.commitTask(0, files);
  }
}
