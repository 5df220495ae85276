// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.progress.CommitSnapshot;
import io.manifestcommitter.progress.CommitSnapshot.Kind;
import io.manifestcommitter.progress.Commits;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** What a commit shows of itself while it goes on, and in its report. */
class WatchedCommitTest {
  private final SparkJobHarness spark = new SparkJobHarness("gs");

  @Test
  void filesAreCountedWhileTheyArePublished() throws IOException {
    spark.oneThread().setUp(TableWrite.append());
    String[] files = new String[20];
    for (int i = 0; i < files.length; i++) {
      files[i] = "p=" + i % 2 + "/f" + i;
    }
    spark.commitTask(0, files);
    List<CommitSnapshot> seen = new CopyOnWriteArrayList<>();
    spark.state.gate(
        (client, operation, path) -> {
          if (operation.equals("rename") && path.contains("/f")) {
            seen.addAll(Commits.running());
          }
        });
    spark.commit();

    assertThat(seen).extracting(commit -> commit.done).startsWith(0L, 1L, 2L).endsWith(18L, 19L);
    assertThat(seen)
        .allSatisfy(
            commit -> {
              assertThat(commit.kind).isEqualTo(Kind.COMMIT);
              assertThat(commit.step).isEqualTo(StatisticNames.JOB_STAGE_RENAME_FILES);
              assertThat(commit.total).isEqualTo(20);
              assertThat(commit.jobId).isEqualTo(SparkJobHarness.JOB_ID);
              assertThat(commit.table).isEqualTo(spark.table.toString());
            });
    Map<String, Object> end = lastEnded();
    assertThat(end).containsEntry("state", "committed");
    assertThat((long) end.get("requests")).isGreaterThan(20);
    assertThat(end.get("steps").toString())
        .contains("seal_output", "prove_output", "lock_places", "plan", "write_journal")
        .contains("rename_files", "save_success_marker");
    assertThat(Commits.running()).isEmpty();
  }

  @Test
  void aFailureIsSeen() throws IOException {
    spark.setUp(TableWrite.append()).commitTask(0, "p=1/a");
    spark.state.onRequest(Fault.on("rename", Fate.FAILS_BEFORE, path -> path.endsWith("p=1/a")));
    assertThatThrownBy(spark::commit).isInstanceOf(IOException.class);
    assertThat(lastEnded()).containsEntry("state", "failed");
    assertThat(Commits.running()).isEmpty();
  }

  @Test
  void aRecoveryIsSeenAndReports() throws IOException {
    spark.with(CommitterConfig.SUMMARY_REPORT_DIRECTORY, spark.path("/reports").toString());
    spark.setUp(TableWrite.append()).commitTask(0, "p=1/a", "p=1/b");
    assertThat(spark.dies(Fault.deadAfter("rename", path -> path.endsWith("p=1/a")))).isTrue();
    spark.recover(Direction.AS_MARKED, /* force= */ true);
    assertThat(lastEnded()).containsEntry("kind", "recovery").containsEntry("state", "rolled_back");

    String saved = "/reports/summary-" + SparkJobHarness.JOB_ID + "-recovered.json";
    SuccessReport report = spark.report(saved);
    assertThat(report.success()).isFalse();
    assertThat(report.state()).isEqualTo("rolled_back");
    assertThat(report.diagnostics()).containsEntry("table", spark.table.toString());
  }

  @Test
  void aRecoveryThatCompletesAJobReportsItsFiles() throws IOException {
    spark.with(CommitterConfig.SUMMARY_REPORT_DIRECTORY, spark.path("/reports").toString());
    spark.old("/table/p=1/old");
    spark.setUp(TableWrite.replacing("/table")).commitTask(0, "p=1/a", "p=1/b");
    assertThat(spark.dies(Fault.deadFrom("delete", path -> path.endsWith("/table/p=1/old"))))
        .isTrue();
    spark.recover(Direction.AS_MARKED, /* force= */ true);
    assertThat(spark.visible())
        .containsKeys("/table/p=1/a", "/table/p=1/b")
        .doesNotContainKey("/table/p=1/old");

    String saved = "/reports/summary-" + SparkJobHarness.JOB_ID + "-recovered.json";
    SuccessReport report = spark.report(saved);
    assertThat(report.success()).isTrue();
    assertThat(report.state()).isEqualTo("completed");
    assertThat(report.statistics().counters())
        .containsEntry(StatisticNames.COMMITTER_FILES_COMMITTED, 2L);
  }

  @Test
  void theReportTellsWhatBecameOfEachPartition() throws IOException {
    spark.old("/table/p=1/old", "/table/p=2/old").setUp(TableWrite.replacing("/table/p=1"));
    spark.commitTask(0, "p=1/a", "p=1/b", "p=2/c", "p=3/d");
    spark.commit();

    SuccessReport report = spark.report("/table/_SUCCESS");
    assertThat(report.diagnostics())
        .containsEntry("write", "overwrite of partitions")
        .containsEntry("table", spark.table.toString())
        .containsKeys("started", "steps", "principal", "hadoop.version", "spark.version");
    assertThat(report.diagnostics().get("partitions"))
        .matches(
            "\\[\\{\"path\":\"p=1\",\"outcome\":\"replaced\",\"files\":2,\"bytes\":\\d+},"
                + "\\{\"path\":\"p=2\",\"outcome\":\"appended to\",\"files\":1,\"bytes\":\\d+},"
                + "\\{\"path\":\"p=3\",\"outcome\":\"created\",\"files\":1,\"bytes\":\\d+}]");
    assertThat(report.statistics().counters())
        .containsEntry(StatisticNames.COMMITTER_PARTITIONS_CREATED, 1L)
        .containsEntry(StatisticNames.COMMITTER_PARTITIONS_REPLACED, 1L)
        .containsEntry(StatisticNames.COMMITTER_PARTITIONS_APPENDED, 1L)
        .containsKeys(StatisticNames.OP_RENAME, StatisticNames.OP_LIST_STATUS);
    assertThat(report.diagnostics().get("steps"))
        .matches("\\[(\\{\"name\":\"[a-z_]+\",\"start\":\\d+,\"millis\":\\d+},?)+]")
        .contains("\"seal_output\"", "\"lock_places\"", "\"plan\"", "\"rename_files\"");
  }

  @Test
  void whoWatchesSeesTheFiguresOfTheReport() throws IOException {
    spark.setUp(TableWrite.append()).commitTask(0, "p=1/a", "p=2/b");
    spark.commit();

    SuccessReport report = spark.report("/table/_SUCCESS");
    Map<String, Object> end = lastEnded();
    long requests = StatisticsRecorder.requests(report.statistics());
    assertThat(end)
        .containsEntry("reportedRequests", requests)
        .containsEntry("reportedMillis", StatisticsRecorder.commitMillis(report.statistics()));
    assertThat((long) end.get("requests")).as("with those after it").isGreaterThan(requests);
    assertThat((long) end.get("millis")).isGreaterThanOrEqualTo((long) end.get("reportedMillis"));
    JsonNode steps = new ObjectMapper().readTree(report.diagnostics().get("steps"));
    assertThat(steps).isNotEmpty();
    for (JsonNode step : steps) {
      String mean = "job_stage_" + step.get("name").asText() + ".mean";
      assertThat(step.get("millis").asLong())
          .as(mean)
          .isEqualTo(report.statistics().meanStatistics().get(mean).getSum());
      assertThat(step.get("start").asLong() + step.get("millis").asLong())
          .isLessThanOrEqualTo((long) end.get("reportedMillis"));
    }
  }

  @Test
  void aReportNamesTheLargestAndTheSmallestPartitions() throws IOException {
    spark.setUp(TableWrite.append());
    String[] files = new String[62 * 63 / 2];
    int n = 0;
    for (int p = 1; p <= 62; p++) {
      for (int f = 0; f < p; f++) {
        files[n++] = String.format("p=%02d/%04d", p, f);
      }
    }
    spark.commitTask(0, files);
    spark.commit();

    SuccessReport report = spark.report("/table/_SUCCESS");
    List<String> named = new ArrayList<>();
    new ObjectMapper()
        .readTree(report.diagnostics().get("partitions"))
        .forEach(one -> named.add(one.get("path").asText()));
    assertThat(named).hasSize(50).startsWith("p=01", "p=02").contains("p=10", "p=23", "p=62");
    assertThat(named).doesNotContain("p=11", "p=22");
  }

  private static Map<String, Object> lastEnded() {
    List<Map<String, Object>> ended = Commits.ofAllClassLoaders();
    return ended.get(ended.size() - 1);
  }
}
