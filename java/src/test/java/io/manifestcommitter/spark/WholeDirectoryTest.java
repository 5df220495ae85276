// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.manifest.FileList;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.testing.SparkWrite;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FsShell;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Programs that take every file of a directory for data: the report is one, and its list. What
 * <i>docs/using/moving.md</i> tells their users.
 */
class WholeDirectoryTest {
  private static final String ROW = "new in ";

  @TempDir private Path directory;

  private final Configuration conf = new Configuration();
  private String table;

  @BeforeEach
  void openTable() {
    table = directory.resolve("table").toString();
  }

  @Test
  void theReportIsAmongTheDataUnlessTheDataIsNamed() throws Exception {
    write();
    assertThat(cat("*")).contains(ROW).contains("\"success\"");
    assertThat(merged("")).contains(ROW).contains("\"success\"");

    assertThat(cat("part-*")).isEqualTo(ROW);
    assertThat(merged("/part-*")).isEqualTo(ROW);
  }

  @Test
  void withoutAReportInTheTableEveryFileIsDataAndTheReportCanBeElsewhere() throws Exception {
    Path reports = directory.resolve("reports");
    conf.setBoolean(CommitterConfig.MARK_SUCCESSFUL_JOBS, false);
    conf.set(CommitterConfig.SUMMARY_REPORT_DIRECTORY, "file:" + reports);
    String job = write().id();

    assertThat(cat("*")).isEqualTo(ROW);
    assertThat(merged("")).isEqualTo(ROW);

    String report = "summary-" + job + ".json";
    SuccessReport told = SuccessReport.parse(Files.readAllBytes(reports.resolve(report)), report);
    assertThat(told.success()).isTrue();
    try (InputStream in = Files.newInputStream(reports.resolve("_" + report + ".files"));
        FileList list = FileList.read(in, report)) {
      assertThat(list.jobId).isEqualTo(job);
    }
  }

  private SparkWrite write() throws IOException {
    SparkWrite write = SparkWrite.append(conf, new org.apache.hadoop.fs.Path("file:" + table));
    write.task(0, "");
    write.commit();
    return write;
  }

  private String cat(String pattern) throws IOException {
    Process process = new ProcessBuilder("sh", "-c", "cat '" + table + "'/" + pattern).start();
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
  }

  private String merged(String pattern) throws Exception {
    Path merged = directory.resolve("merged");
    assertThat(new FsShell(conf).run(new String[] {"-getmerge", table + pattern, "" + merged}))
        .isZero();
    return Files.readString(merged, StandardCharsets.ISO_8859_1);
  }
}
