// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static io.manifestcommitter.spark.SparkJobHarness.JOB_ID;
import static io.manifestcommitter.spark.SparkJobHarness.OUTPUT;
import static io.manifestcommitter.spark.SparkJobHarness.STAGING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.FileList;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.plan.JobPlan.PlanRejectedException;
import io.manifestcommitter.progress.Commits;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.TableWrite;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Job setup, commit and abort of the Spark protocol, on the traits of each store. */
class SparkJobTest {
  /** Operations of which a commit makes one. */
  private static final Map<String, Integer> FIRST = Map.of("mkdirs", 1, "delete", 1);

  @ParameterizedTest
  @ValueSource(strings = {"hdfs", "abfs", "gs", "mem"})
  void publishesExactlyWhatTheMessagesName(String scheme) throws IOException {
    SparkJobHarness spark = new SparkJobHarness(scheme).setUp(TableWrite.append());
    spark.commitTask(0, "p=1/a", "p=2/b").commitTask(1, "p=1/c", "d");
    spark.commitTask(2);
    spark.state.write(OUTPUT + "p=1/part-00000-" + JOB_ID + "-9", "of a killed attempt");
    spark.state.write(OUTPUT + "p=9/part-00000-" + JOB_ID + "-9", "of a killed attempt");

    spark.commit();

    assertThat(spark.visible())
        .isEqualTo(
            Map.of(
                "/table/p=1/a", "new p=1/a",
                "/table/p=2/b", "new p=2/b",
                "/table/p=1/c", "new p=1/c",
                "/table/d", "new d"));
    assertThat(spark.staging()).isEmpty();
    SuccessReport report = spark.report("/table/_SUCCESS");
    assertThat(report.jobId()).isEqualTo(JOB_ID);
    assertThat(report.success()).isTrue();
    assertThat(report.statistics().counters())
        .containsEntry("committer_files_committed", 4L)
        .containsEntry("committer_tasks_completed", 3L);
    assertThat(report.filenames())
        .containsExactlyInAnyOrder("/table/p=1/a", "/table/p=1/c", "/table/p=2/b", "/table/d");
  }

  @ParameterizedTest
  @ValueSource(strings = {"hdfs", "gs"})
  void makesAtMostNPlus3DPlus12RequestsIntoNewDirectories(String scheme) throws IOException {
    for (int years : new int[] {1, 2, 7}) {
      SparkJobHarness spark = new SparkJobHarness(scheme).setUp(TableWrite.append());
      int months = 12;
      int tasks = 3;
      for (int task = 0; task < tasks; task++) {
        List<String> files = new ArrayList<>();
        for (int year = 0; year < years; year++) {
          for (int month = 0; month < months; month++) {
            files.add("year=" + year + "/month=" + month + "/part-" + task);
          }
        }
        spark.commitTask(task, files.toArray(String[]::new));
      }
      spark.state.resetRequests();
      spark.commit();

      int n = tasks * years * months;
      int d = years + years * months;
      assertThat(spark.visible()).hasSize(n);
      assertThat(spark.state.requests()).hasSizeLessThanOrEqualTo(n + 3 * d + 12);
    }
  }

  @Test
  void setupMakesAtMostThreeRequests() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("abfs").old("/table/p=1/old");
    spark.setUp(TableWrite.replacing("/table"));
    assertThat(spark.state.requests()).hasSizeLessThanOrEqualTo(3);
  }

  @ParameterizedTest
  @ValueSource(strings = {"hdfs", "gs"})
  void anOverwriteReplacesWhatItWasAskedTo(String scheme) throws IOException {
    SparkJobHarness spark = new SparkJobHarness(scheme);
    spark.old("/table/p=1/old", "/table/p=1/sub/deep/old", "/table/p=2/old");
    spark.state.write("/table/_temporary/other/file", "of a running job");
    spark.state.write("/table/p=1/_manifest_other/00/output/file", "of a running job");
    spark.state.write("/table/_SUCCESS", "{}");
    spark.setUp(TableWrite.replacing("/table")).commitTask(0, "p=1/a");
    assertThat(spark.visible()).hasSize(3);

    spark.commit();

    assertThat(spark.visible()).isEqualTo(Map.of("/table/p=1/a", "new p=1/a"));
    assertThat(spark.state.paths())
        .contains("/table/_temporary/other/file", "/table/p=1/_manifest_other/00/output/file")
        .doesNotContain("/table/p=2", "/table/p=1/sub");
    assertThat(spark.report("/table/_SUCCESS").jobId()).isEqualTo(JOB_ID);
  }

  @ParameterizedTest
  @ValueSource(strings = {"hdfs", "gs", "mem"})
  void aFileUnderTheNameOfAnOldOneIsNotDeletedAsOld(String scheme) throws IOException {
    SparkJobHarness spark = new SparkJobHarness(scheme).byFile().old("/table/p=2/old");
    spark.with(CommitterConfig.DELETE_TARGET_FILES, "true");
    // So that no heartbeat moves the store's clock between the two files.
    spark.oneThread().setUp(TableWrite.replacing("/table")).commitTask(0, "p=1/a");
    // As long as the new one and of the same moment: by what some stores tell, the same file.
    spark.state.passTime(-1);
    spark.state.write("/table/p=1/a", "old p=1/a");
    spark.commit();
    assertThat(spark.visible()).isEqualTo(Map.of("/table/p=1/a", "new p=1/a"));
  }

  @Test
  void aDynamicOverwriteReplacesThePartitionsItWritesTo() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("gs").old("/table/p=1/old");
    spark.state.write("/table/p=2/old", "kept");
    spark.old("/elsewhere/old").setUp(TableWrite.dynamic()).commitTask(0, "p=1/a", "p=3/b");
    spark.commitTaskAt(1, "/elsewhere", "c");

    spark.commit();

    assertThat(spark.visible())
        .isEqualTo(
            Map.of(
                "/table/p=1/a", "new p=1/a",
                "/table/p=2/old", "kept",
                "/table/p=3/b", "new p=3/b",
                "/elsewhere/c", "new c"));
    assertThat(spark.staging()).isEmpty();
  }

  @Test
  void recordedPathsThatContainOneAnotherAreMerged() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("hdfs").byFile().old("/table/p=1/old");
    spark.setUp(TableWrite.replacing("/table", "/table/p=1")).commitTask(0, "p=1/a");
    spark.state.resetRequests();
    spark.commit();
    assertThat(spark.visible()).isEqualTo(Map.of("/table/p=1/a", "new p=1/a"));
    assertThat(spark.state.requests()).filteredOn("delete /table/p=1/old"::equals).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "off"})
  void whatAppearsAfterThePlanIsNotDeleted(String directoryRename) throws IOException {
    SparkJobHarness spark = new SparkJobHarness("hdfs");
    spark.with(CommitterConfig.DIRECTORY_RENAME, directoryRename);
    spark.old("/table/p=1/old", "/table/p=1/rewritten");
    spark.setUp(TableWrite.replacing("/table")).commitTask(0, "p=2/a");
    spark.state.before(
        "rename",
        path -> path.contains("/p=2"),
        path -> {
          spark.state.write("/table/p=1/appended", "of another job");
          spark.state.remove("/table/p=1/rewritten");
          spark.state.write("/table/p=1/rewritten", "of another job");
        });

    spark.commit();

    assertThat(spark.visible())
        .isEqualTo(
            Map.of(
                "/table/p=2/a", "new p=2/a",
                "/table/p=1/appended", "of another job",
                "/table/p=1/rewritten", "of another job"));
  }

  /** Neither the listing of {@code gs} nor that of any other store without etags tells more. */
  @ParameterizedTest
  @CsvSource({"gs,NONE", "gs,CRC32C", "mem,NONE"})
  void aFileThatAnotherProgramWroteAgainWithTheSameLengthIsNotDeleted(
      String scheme, String checksums) throws IOException {
    SparkJobHarness spark = new SparkJobHarness(scheme).with("fs.gs.checksum.type", checksums);
    spark.old("/table/p=1/old", "/table/p=1/rewritten");
    spark.setUp(TableWrite.replacing("/table")).commitTask(0, "p=2/a");
    spark.state.before(
        "rename",
        path -> path.contains("/p=2"),
        path -> spark.state.write("/table/p=1/rewritten", "new"));

    spark.commit();

    assertThat(spark.visible())
        .isEqualTo(Map.of("/table/p=2/a", "new p=2/a", "/table/p=1/rewritten", "new"));
  }

  @Test
  void customLocationsAreStagedSealedAndCleaned() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("hdfs").old("/elsewhere/old");
    spark.setUp(TableWrite.replacing("/table", "/elsewhere", "/never-written"));
    spark.old("/never-written/old").commitTask(0, "p=1/a").commitTaskAt(1, "/elsewhere", "b");
    spark.commit();
    assertThat(spark.visible())
        .isEqualTo(Map.of("/table/p=1/a", "new p=1/a", "/elsewhere/b", "new b"));
    assertThat(spark.staging()).isEmpty();
  }

  @Test
  void abortCleansLocationsOfAttemptsThatNeverReported() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("hdfs").old("/elsewhere/old");
    SparkJob job = spark.setUp(TableWrite.append()).job();
    spark.commitTaskAt(1, "/elsewhere", "b");
    job.abort();
    assertThat(spark.visible()).isEqualTo(Map.of("/elsewhere/old", "old"));
    assertThat(spark.staging()).isEmpty();
  }

  @Test
  void aLocationThatHoldsTheTableIsRefused() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("hdfs").old("/table/old");
    spark.setUp(TableWrite.append());
    spark.message(new TaskMessage(JOB_ID, 0).add(spark.path("/").toString(), "a").bytes());
    assertThatThrownBy(spark::commit).hasMessageContaining("holds the table");
    assertThat(spark.visible()).isEqualTo(Map.of("/table/old", "old"));
  }

  @Test
  void aMissingFileFailsTheJobAndNamesTaskAndFile() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("abfs").setUp(TableWrite.append());
    spark.commitTask(0, "p=1/a").commitTask(7, "p=1/b", "p=2/c");
    spark.state.remove(OUTPUT + "p=1/b");
    spark.state.remove(OUTPUT + "p=2");
    assertThatThrownBy(spark::commit)
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContaining("p=1/b of task 7")
        .hasMessageContainingAll("p=2/c of task 7", CommitterConfig.MISSING_FILES);
    assertThat(spark.visible()).isEmpty();
  }

  @Test
  void aMissingFileMayBeAWarning() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("abfs").with(CommitterConfig.MISSING_FILES, "warn");
    spark.setUp(TableWrite.append()).commitTask(0, "p=1/a", "p=1/b");
    spark.state.remove(OUTPUT + "p=1/b");
    spark.commit();
    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/a");
    assertThat(spark.report("/table/_SUCCESS").diagnostics())
        .extractingByKey("warning.1")
        .asString()
        .contains("p=1/b");
  }

  @Test
  void aPartitionWhoseFilesAreAllMissingIsNotReplaced() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("abfs").with(CommitterConfig.MISSING_FILES, "warn");
    spark.old("/table/p=1/old", "/table/p=2/old");
    spark.setUp(TableWrite.dynamic()).commitTask(0, "p=1/a", "p=2/b");
    spark.state.remove(OUTPUT + "p=2/b");
    spark.commit();
    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/a", "/table/p=2/old");
  }

  @Test
  void messagesThatCannotBeTrustedPublishNothing() throws IOException {
    for (Object bad : new Object[] {"text", null, new byte[] {1, 2, 3}}) {
      SparkJobHarness spark = new SparkJobHarness("hdfs").setUp(TableWrite.append());
      spark.commitTask(0, "a");
      spark.message(bad);
      assertThatThrownBy(spark::commit)
          .isInstanceOf(CorruptManifestException.class)
          .hasMessageContainingAll("commit message 2 of 2", JOB_ID);
      assertThat(spark.visible()).isEmpty();
    }
  }

  @Test
  void aFileWhereAPartitionHasToGoIsRefused() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("hdfs");
    spark.state.write("/table/p=1", "a file");
    spark.setUp(TableWrite.append()).commitTask(0, "p=1/a", "p=2/b");
    assertThatThrownBy(spark::commit)
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContaining("/table/p=1");
    assertThat(spark.visible()).isEqualTo(Map.of("/table/p=1", "a file"));
  }

  @Test
  void tablesOfOtherFormatsAreRefusedInSetup() {
    for (String marker : List.of("/table/_delta_log/0.json", "/table/metadata/v1.metadata.json")) {
      SparkJobHarness spark = new SparkJobHarness("hdfs");
      spark.state.write(marker, "theirs");
      assertThatThrownBy(() -> spark.setUp(TableWrite.replacing("/table")))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("/table");
      assertThat(spark.state.files()).isEqualTo(Map.of(marker, "theirs"));
      assertThat(spark.staging()).isEmpty();
    }
  }

  /** In a directory with the sticky bit, where nobody may rename what belongs to somebody else. */
  @ParameterizedTest
  @ValueSource(strings = {"_SUCCESS", "_SUCCESS.files"})
  void aReportThatMayNotBeMovedAsideIsRefusedInSetup(String report) throws IOException {
    SparkJobHarness spark = new SparkJobHarness("hdfs");
    spark.state.write("/table/" + report, "theirs");
    spark.state.giveAwaySticky("/table");

    for (TableWrite write : List.of(TableWrite.append(), TableWrite.replacing("/table"))) {
      assertThatThrownBy(() -> spark.setUp(write))
          .hasMessageContaining("/table/" + report)
          .hasMessageContaining("Nothing was touched")
          .hasMessageContaining("/table belongs to somebody:others with rwxrwxrwt")
          .hasMessageContaining(report + " belongs to somebody")
          .hasMessageContaining(CommitterConfig.MARK_SUCCESSFUL_JOBS + "=false");
      assertThat(spark.state.files()).isEqualTo(Map.of("/table/" + report, "theirs"));
      assertThat(spark.staging()).isEmpty();
    }

    spark.with(CommitterConfig.MARK_SUCCESSFUL_JOBS, "false");
    spark.setUp(TableWrite.append()).commitTask(0, "p=1/a");
    spark.commit();
    assertThat(spark.visible()).isEqualTo(Map.of("/table/p=1/a", "new p=1/a"));
    assertThat(spark.state.files()).containsEntry("/table/" + report, "theirs");
  }

  @Test
  void aReportThatIsMovedAsideCostsSetupNoRequestMore() throws IOException {
    SparkJobHarness without = new SparkJobHarness("hdfs");
    without.state.mkdirs("/table/p=1");
    int requests = requestsOfSetup(without);

    SparkJobHarness own = new SparkJobHarness("hdfs");
    own.state.mkdirs("/table/p=1");
    own.state.giveAwaySticky("/table");
    own.state.write("/table/_SUCCESS", "own");
    own.state.write("/table/_SUCCESS.files", "own");
    assertThat(requestsOfSetup(own)).isEqualTo(requests);

    SparkJobHarness foreign = new SparkJobHarness("hdfs");
    foreign.state.write("/table/_SUCCESS", "theirs");
    foreign.state.giveAwaySticky("/table");
    foreign.state.openToAll("/table");
    assertThat(requestsOfSetup(foreign)).isEqualTo(requests + 1);
  }

  private static int requestsOfSetup(SparkJobHarness spark) throws IOException {
    // So that the first sign of life is among them.
    spark.oneThread().setUp(TableWrite.append());
    return spark.state.requests().size();
  }

  /** One that another user puts there while the tasks run. */
  @Test
  void aReportThatCannotBeMovedAsideFailsTheCommitWithTheWayOut() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("hdfs");
    spark.state.write("/table/_SUCCESS", "own");
    spark.setUp(TableWrite.append()).commitTask(0, "p=1/a");
    spark.state.hold("/table/_SUCCESS");

    assertThatThrownBy(spark::commit)
        .hasMessageContaining("/table/_SUCCESS")
        .hasMessageContaining(CommitterConfig.MARK_SUCCESSFUL_JOBS + "=false");
    spark.job().abort();
    assertThat(spark.visible()).isEmpty();
  }

  @Test
  void aFailedSetupLeavesNothing() {
    for (Fate fate : Fate.values()) {
      for (String refused : new String[] {"mkdirs", "create"}) {
        if (fate == Fate.NORMAL) {
          continue;
        }
        SparkJobHarness spark = new SparkJobHarness("hdfs");
        // So that setup waits for the first sign of life.
        spark.oneThread();
        spark.state.onRequest(
            (number, operation, path) -> operation.equals(refused) ? fate : Fate.NORMAL);
        assertThatThrownBy(() -> spark.setUp(TableWrite.append()))
            .isInstanceOf(fate.breaks() ? NoSuchMethodError.class : IOException.class);
        assertThat(spark.state.paths()).as("%s %s", refused, fate).containsExactly("/");
      }
    }
  }

  @Test
  void abortRemovesTheTableDirectoryThatOnlyThisJobMade() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("hdfs");
    SparkJob job = spark.setUp(TableWrite.append()).job();
    spark.state.write(OUTPUT + "a", "x");
    job.abort();
    assertThat(spark.state.paths()).containsExactly("/");

    SparkJobHarness shared = new SparkJobHarness("hdfs");
    SparkJob second = shared.setUp(TableWrite.append()).job();
    shared.state.write("/table/other", "of another job");
    second.abort();
    assertThat(shared.state.files()).containsOnlyKeys("/table/other");

    SparkJobHarness existing = new SparkJobHarness("hdfs");
    existing.state.mkdirs("/table");
    existing.setUp(TableWrite.append()).job().abort();
    assertThat(existing.state.paths()).containsExactly("/", "/table");
  }

  @Test
  void abortAfterACommitDoesNothing() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("hdfs").setUp(TableWrite.append());
    spark.commitTask(0, "a");
    spark.commit();
    spark.state.resetRequests();
    spark.job().abort();
    assertThat(spark.state.requests()).isEmpty();
    assertThat(spark.visible()).containsOnlyKeys("/table/a");
  }

  @Test
  void everyJobLeavesOneSummaryHoweverItEnded() throws IOException {
    for (String end : List.of("committed", "failed", "aborted")) {
      SparkJobHarness spark = new SparkJobHarness("hdfs");
      spark.with(CommitterConfig.SUMMARY_REPORT_DIRECTORY, spark.path("/reports").toString());
      spark.setUp(TableWrite.append()).commitTask(0, "a");
      if (end.equals("committed")) {
        spark.commit();
      } else if (end.equals("failed")) {
        spark.message("nonsense");
        assertThatThrownBy(spark::commit).isInstanceOf(CorruptManifestException.class);
      }
      spark.job().abort();
      SuccessReport summary = spark.report("/reports/summary-" + JOB_ID + ".json");
      assertThat(summary.state()).isEqualTo(end);
      assertThat(summary.success()).isEqualTo(end.equals("committed"));
      assertThat(summary.diagnostics().containsKey("exception")).isNotEqualTo(summary.success());
      assertThat(summary.diagnostics().containsKey("stacktrace")).isEqualTo(end.equals("failed"));
      assertThat(String.valueOf(summary.diagnostics().get("exception")).contains("driver's log"))
          .isEqualTo(end.equals("aborted"));
      assertThat(spark.state.files().containsKey("/reports/_summary-" + JOB_ID + ".json.files"))
          .isEqualTo(summary.success());
    }
  }

  @Test
  void abortNeverThrows() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("hdfs").setUp(TableWrite.append());
    spark.state.onRequest((number, operation, path) -> Fate.FAILS_BEFORE);
    spark.job().abort();
    spark.state.noFault();
    assertThat(spark.staging()).contains(STAGING);
  }

  @Test
  void whatCannotBeRolledBackIsNamedAndTheStagingRootKept() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("hdfs").byFile().setUp(TableWrite.append());
    spark.commitTask(0, "p=1/a", "p=1/b");
    spark.state.onRequest(
        (number, operation, path) ->
            (operation.equals("rename") && path.endsWith("/b")) || operation.equals("delete")
                ? Fate.FAILS_BEFORE
                : Fate.NORMAL);
    assertThatThrownBy(spark::commit)
        .satisfies(
            e ->
                assertThat(e.getSuppressed())
                    .anySatisfy(s -> assertThat(s).hasMessageContaining("could not roll back")));
    spark.job().abort();
    spark.state.noFault();
    assertThat(spark.staging()).contains(STAGING);
  }

  @Test
  void aReportThatAnotherJobMovesFirstAndReplacesGivesWayToo() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("abfs");
    spark.state.write("/table/_SUCCESS", "of another job");
    spark.setUp(TableWrite.append()).commitTask(0, "p=1/a");
    int[] moved = {0};
    spark.state.onRequest(
        (number, operation, path) -> {
          if (operation.equals("rename") && path.equals("/table/_SUCCESS") && moved[0] < 4) {
            moved[0]++;
            spark.state.remove("/table/_SUCCESS");
          } else if (operation.equals("status")
              && path.equals("/table/_SUCCESS")
              && moved[0] > 0
              && !spark.state.exists("/table/_SUCCESS")) {
            spark.state.write("/table/_SUCCESS", "of a third job, " + moved[0]);
          }
          return Fate.NORMAL;
        });

    spark.commit();

    assertThat(moved[0]).isEqualTo(4);
    assertThat(spark.state.files().get("/table/_SUCCESS")).contains(JOB_ID);
  }

  @Test
  void aReportThatAnotherJobReplacesWhileAFailedJobReadsItStays() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("abfs").setUp(TableWrite.append());
    spark.commitTask(0, "p=1/a");
    int[] reads = {0};
    spark.state.onRequest(
        (number, operation, path) -> {
          boolean isOurs =
              operation.equals("rename") && path.equals(STAGING + "/00/old/0/_SUCCESS");
          if (isOurs) {
            spark.state.write("/table/_SUCCESS", "of another job");
          }
          boolean isRead = operation.equals("open") && path.equals("/table/_SUCCESS");
          return isOurs || (isRead && ++reads[0] <= 2) ? Fate.FAILS_BEFORE : Fate.NORMAL;
        });

    assertThatThrownBy(spark::commit).hasMessageContaining("report");
    spark.job().abort();

    assertThat(reads[0]).isEqualTo(3);
    assertThat(spark.visible()).isEmpty();
    assertThat(spark.staging()).isEmpty();
    assertThat(spark.state.files()).containsEntry("/table/_SUCCESS", "of another job");
  }

  @Test
  void aReportThatAnotherJobPutsThereMeanwhileGivesWay() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("hdfs").setUp(TableWrite.append());
    spark.commitTask(0, "p=1/a");
    Map<String, Integer> times = new HashMap<>();
    spark.state.before(
        "rename",
        path ->
            path.startsWith(STAGING + "/00/old/0/_SUCCESS")
                && times.merge(path, 1, Integer::sum) <= 5,
        path -> spark.state.write(path.replace(STAGING + "/00/old/0", "/table"), "of another job"));
    spark.commit();
    assertThat(times).hasSize(2).allSatisfy((path, tries) -> assertThat(tries).isEqualTo(6));
    assertThat(spark.state.files().get("/table/_SUCCESS")).contains(JOB_ID);
    assertThat(spark.staging()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"hdfs", "abfs", "gs", "mem", "s3a-conditional"})
  void reportAndListAreOfOneJobWhereAnotherOneEndsMeanwhile(String scheme) throws IOException {
    SparkJobHarness spark = new SparkJobHarness(scheme).setUp(TableWrite.append());
    SparkJobHarness other = spark.other(DriverJob.NEXT);
    other.waiting(
        waiting -> {
          spark.state.passTime(4000);
          spark.state.write(STAGING + "/heartbeat", "alive");
        });
    other.setUp(TableWrite.append());
    spark.commitTask(0, "p=1/a");
    other.commitTask(0, "p=1/b");
    AtomicInteger times = new AtomicInteger();
    AtomicReference<String> failure = new AtomicReference<>();
    spark.state.gate(
        (client, operation, path) -> {
          // The list is in place then, and the report not yet, or a part of its copy.
          boolean isReport =
              path.equals(STAGING + "/00/old/0/_SUCCESS -> /table/_SUCCESS")
                  || (operation.equals("write") && path.equals("/table/_SUCCESS"));
          if (isReport && times.getAndIncrement() == 0) {
            failure.set(Failures.of(other::commit));
          }
        });

    spark.commit();

    assertThat(failure.get()).isEmpty();
    assertThat(spark.state.files().get("/table/_SUCCESS")).contains(JOB_ID);
    try (FileList list =
        FileList.read(
            new ByteArrayInputStream(spark.state.bytes("/table/_SUCCESS.files")), "list")) {
      assertThat(list.jobId).isEqualTo(JOB_ID);
      assertThat(list.next()).map(file -> file.path).hasValue("p=1/a");
    }
    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/a", "/table/p=1/b");
    assertThat(spark.state.paths()).noneMatch(path -> path.contains("_manifest_"));
  }

  @Test
  void aFailedJobLeavesTheReportThatAnotherJobPutThereMeanwhile() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("hdfs");
    spark.state.write("/table/_SUCCESS", "the last report");
    spark.setUp(TableWrite.append()).commitTask(0, "p=1/a");
    spark.state.onRequest(
        (number, operation, path) -> {
          if (operation.equals("rename") && path.equals(STAGING + "/00/old/0/_SUCCESS")) {
            spark.state.write("/table/_SUCCESS", "of another job");
            return Fate.FAILS_BEFORE;
          }
          return operation.equals("rename") && path.equals("/table/_SUCCESS")
              ? Fate.FAILS_BEFORE
              : Fate.NORMAL;
        });
    // The report that is there already cannot be moved aside, so ours cannot be put in place.
    spark.state.write("/table/_SUCCESS", "the last report");
    assertThatThrownBy(spark::commit).hasMessageContaining("report");
    spark.job().abort();
    assertThat(spark.visible()).isEmpty();
    assertThat(spark.staging()).isEmpty();
    assertThat(spark.state.files()).containsKey("/table/_SUCCESS");
  }

  @Test
  void aDirectoryThatAFailedJobTookBackIsMadeAgain() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("hdfs");
    spark.state.mkdirs("/table/p=1");
    spark.setUp(TableWrite.append()).commitTask(0, "p=1/a");
    spark.state.before(
        "rename", 1, path -> path.endsWith("/p=1/a"), () -> spark.state.remove("/table/p=1"));
    spark.commit();
    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/a");
  }

  @Test
  void oldDataThatCannotBeRemovedIsAnErrorThatNamesIt() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("hdfs").byFile().old("/table/p=1/old");
    spark.setUp(TableWrite.replacing("/table")).commitTask(0, "p=1/a");
    spark.state.onRequest(Fault.on("delete", Fate.FAILS_BEFORE, path -> path.endsWith("/old")));
    assertThatThrownBy(spark::commit)
        .hasMessageContainingAll("/table/p=1/old", "new data of job " + JOB_ID + " is complete");
    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/a", "/table/p=1/old");
  }

  @Test
  void oldDataThatIsOutOfSightButCannotBeRemovedFailsNothing() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("hdfs").old("/table/p=1/old");
    spark.setUp(TableWrite.replacing("/table")).commitTask(0, "p=1/a");
    spark.state.onRequest(Fault.on("delete", Fate.FAILS_BEFORE, path -> true));
    spark.commit();
    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/a");
    assertThat(spark.state.files().get("/table/_SUCCESS")).contains(JOB_ID);
    assertThat(spark.staging()).contains(STAGING);
  }

  @ParameterizedTest
  @ValueSource(strings = {"list", "mkdirs", "rename", "create", "write"})
  void anInterruptRollsBackWhatIsVisibleAndIsSetAgain(String during) throws IOException {
    SparkJobHarness spark = interruptedDuring(during);
    assertThatThrownBy(spark::commit).isInstanceOf(InterruptedIOException.class);
    assertThat(Thread.interrupted()).isTrue();
    spark.job().abort();
    assertThat(spark.visible()).isEqualTo(Map.of("/table/p=0/old", "old"));
    assertThat(spark.staging()).isEmpty();
  }

  @Test
  void anInterruptPastThePointOfNoReturnLetsTheCommitEnd() throws IOException {
    SparkJobHarness spark = interruptedDuring("delete");
    spark.commit();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/a", "/table/p=1/b", "/table/p=1/c");
    assertThat(spark.staging()).isEmpty();
  }

  /** Before its journal, while it publishes, and past its point of no return. */
  @ParameterizedTest
  @CsvSource({
    "hdfs, append",
    "hdfs, overwrite",
    "abfs, overwrite",
    "gs, append",
    "gs, overwrite",
    "mem, overwrite",
    "s3a, append",
    "s3a, overwrite"
  })
  void aCancelTellsAtEachRequestWhatBecomesOfTheCommit(String store, String write)
      throws IOException {
    Set<Boolean> answers = new TreeSet<>();
    for (int at = 1; ; at++) {
      SparkJobHarness spark = new SparkJobHarness(store).old("/table/p=0/old").oneThread();
      spark.setUp(write.equals("append") ? TableWrite.append() : TableWrite.replacing("/table"));
      spark.commitTask(0, "p=1/a", "p=1/b", "p=2/c");
      Map<String, String> before = spark.visible();
      AtomicReference<Boolean> answer = new AtomicReference<>();
      AtomicInteger seen = new AtomicInteger();
      int request = at;
      spark.state.onRequest(
          (number, operation, path) -> {
            if (!path.endsWith("/heartbeat") && seen.incrementAndGet() == request) {
              answer.set(Commits.cancel(JOB_ID));
            }
            return Fate.NORMAL;
          });
      Optional<Throwable> failure = spark.commitOrAbort();
      spark.state.noFault();
      if (answer.get() == null) {
        break;
      }
      answers.add(answer.get());
      assertThat(Commits.cancel(JOB_ID)).as("it is over").isFalse();
      if (answer.get()) {
        assertThat(failure).as("request " + at).containsInstanceOf(InterruptedIOException.class);
        assertThat(failure.get()).hasMessage("The commit was cancelled");
        assertThat(spark.visible()).as("request " + at).isEqualTo(before);
      } else {
        assertThat(failure).as("request " + at).isEmpty();
        assertThat(spark.visible()).containsKeys("/table/p=1/a", "/table/p=1/b", "/table/p=2/c");
      }
      assertThat(spark.staging()).as("request " + at).isEmpty();
    }
    assertThat(answers).as("too late at the last requests only").hasSize(2);
  }

  @Test
  void aCancelEndsAWaitForAnotherJob() throws IOException {
    SparkJobHarness dead = new SparkJobHarness("hdfs").setUp(TableWrite.replacing("/table"));
    dead.commitTask(0, "p=1/a");
    String jobId = "11111111-2222-4333-8444-555555555555";
    SparkJobHarness waiting = dead.other(jobId);
    List<Boolean> answers = new ArrayList<>();
    waiting.waiting(
        other -> {
          assertThat(answers).as("looks after it was cancelled").isEmpty();
          answers.add(Commits.cancel(jobId));
        });
    waiting.setUp(TableWrite.replacing("/table")).commitTask(0, "p=1/b");
    assertThat(dead.dies(Fault.deadFrom("rename", path -> path.contains("sealed")))).isTrue();
    assertThat(waiting.commitOrAbort()).containsInstanceOf(InterruptedIOException.class);
    assertThat(answers).containsExactly(true);
    assertThat(waiting.staging()).noneMatch(path -> path.contains(jobId));
  }

  /**
   * An overwrite whose driver is interrupted, and knows it, while the second such request of its
   * commit is under way.
   */
  private static SparkJobHarness interruptedDuring(String operation) throws IOException {
    SparkJobHarness spark = new SparkJobHarness("hdfs").old("/table/p=0/old").oneThread();
    spark.setUp(TableWrite.replacing("/table")).commitTask(0, "p=1/a", "p=1/b", "p=1/c");
    Thread driver = Thread.currentThread();
    AtomicInteger seen = new AtomicInteger();
    spark.state.before(
        operation,
        path -> seen.incrementAndGet() == FIRST.getOrDefault(operation, 2),
        path -> {
          // Twice: when the driver has taken the second interrupt, it has acted on the first.
          for (int time = 0; time < 2; time++) {
            driver.interrupt();
            while (driver.isInterrupted()) {
              Thread.onSpinWait();
            }
          }
        });
    return spark;
  }
}
