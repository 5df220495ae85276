// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.testing.DirectFiles.LocalFiles;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

/** What a job reports, and where. */
class ManifestCommitterReportTest extends LocalJobTest {
  private LocalFiles reports;

  @Test
  void theReportSaysWhatWasDone() throws Exception {
    job.run(Map.of("part-0", "a", "p=1/part-0", "bb"), Map.of("p=1/part-1", "ccc"), Map.of());

    SuccessReport report = job.report();
    assertThat(report.success()).isTrue();
    assertThat(report.jobId()).isEqualTo(HadoopJobHarness.JOB_NAME);
    assertThat(report.toJson()).asString().contains("\"jobIdSource\":\"JobID\"");
    assertThat(report.committer()).isEqualTo(ManifestCommitter.class.getName());
    assertThat(report.state()).isEqualTo("committed");
    assertThat(report.filenames())
        .hasSize(3)
        .allSatisfy(name -> assertThat(name).contains(job.table.toUri().getPath()))
        .anySatisfy(name -> assertThat(name).endsWith("/p=1/part-1"));
    assertThat(report.statistics().counters())
        .containsEntry(StatisticNames.COMMITTER_FILES_COMMITTED, 3L)
        .containsEntry(StatisticNames.COMMITTER_BYTES_COMMITTED, 6L)
        .containsEntry(StatisticNames.COMMITTER_TASKS_COMPLETED, 3L);
    assertThat(report.diagnostics()).containsKey("principal");
  }

  @Test
  void theListOfFilesIsComplete() throws Exception {
    job.setupJob();
    Map<String, String> many = new TreeMap<>();
    for (int i = 0; i < 150; i++) {
      many.put("p=" + i % 7 + "/part-" + i, "x".repeat(i));
    }
    job.runTask(0, 0, many);
    job.commitJob();

    assertThat(job.listedFiles())
        .isEqualTo(
            many.entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, e -> (long) e.getValue().length())));
    assertThat(job.report().filenames()).hasSize(SuccessReport.MAX_FILENAMES);
  }

  @Test
  void withoutTheMarkerNoReportIsLeft() throws Exception {
    job.conf.setBoolean(CommitterConfig.MARK_SUCCESSFUL_JOBS, false);
    job.run(Map.of("part-0", "a"));

    assertThat(job.namesIn("")).containsExactly("part-0");
  }

  @Test
  void theReportOfAnEarlierJobIsReplaced() throws Exception {
    job.run(Map.of("part-0", "a"));
    job.conf.set("spark.sql.sources.writeJobUUID", "second");
    job.run(Map.of("part-1", "bb"));

    assertThat(job.visible()).isEqualTo(Map.of("part-0", "a", "part-1", "bb"));
    assertThat(job.report().jobId()).isEqualTo("second");
    assertThat(job.listedFiles()).isEqualTo(Map.of("part-1", 2L));
    assertThat(job.namesIn(""))
        .containsExactlyInAnyOrder("part-0", "part-1", "_SUCCESS", "_SUCCESS.files");
  }

  @Test
  void aReportOfASuccessIsSavedInTheReportDirectory() throws Exception {
    reportTo("reports/of jobs");
    job.run(Map.of("part-0", "abc"));

    SuccessReport report = summary();
    assertThat(report.success()).isTrue();
    assertThat(report.jobId()).isEqualTo(HadoopJobHarness.JOB_NAME);
    assertThat(report.statistics().counters())
        .containsEntry(StatisticNames.COMMITTER_FILES_COMMITTED, 1L);
    assertThat(reports.files().keySet())
        .filteredOn(name -> !name.startsWith("_"))
        .containsExactly("summary-" + HadoopJobHarness.JOB_NAME + ".json");
  }

  @Test
  void aReportOfAFailureIsSavedInTheReportDirectory() throws Exception {
    reportTo("reports");
    job.write("part-0", "old");
    job.runTasks(Map.of("part-0", "new"));
    Throwable failure = catchThrowable(job::commitJob);

    SuccessReport report = summary();
    assertThat(report.success()).isFalse();
    assertThat(report.state()).isEqualTo("failed");
    assertThat(report.stage()).isEqualTo(StatisticNames.JOB_STAGE_RENAME_FILES);
    assertThat(report.diagnostics())
        .containsEntry("exception", failure.toString())
        .containsEntry("stage", StatisticNames.JOB_STAGE_RENAME_FILES)
        .containsKey("stacktrace");
    assertThat(report.statistics().counters())
        .containsEntry(StatisticNames.COMMITTER_COMMITS_ABORTED, 1L);
  }

  @Test
  void aReportDirectoryThatCannotBeMadeDoesNotFailTheJob() throws Exception {
    reportTo("a file/x");
    new LocalFiles(directory).write("a file", "in the way".getBytes(StandardCharsets.UTF_8));
    job.run(Map.of("part-0", "abc"));

    assertThat(job.visible()).isEqualTo(Map.of("part-0", "abc"));
    assertThat(new LocalFiles(directory).files()).containsEntry("a file", "in the way");
  }

  private void reportTo(String relative) {
    File reportDirectory = new File(directory, relative);
    reports = new LocalFiles(reportDirectory);
    job.conf.set(
        CommitterConfig.SUMMARY_REPORT_DIRECTORY,
        new Path("file", null, reportDirectory.getPath()).toString());
  }

  private SuccessReport summary() throws IOException {
    String name = "summary-" + HadoopJobHarness.JOB_NAME + ".json";
    return SuccessReport.parse(reports.bytes(name), name);
  }
}
