// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileList;
import io.manifestcommitter.manifest.Samples;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.manifest.TaskManifest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;
import org.apache.hadoop.fs.statistics.MeanStatistic;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ManifestPrinterTest {
  private static final SuccessReport REPORT =
      SuccessReport.builder()
          .at(Instant.parse("2024-01-02T03:04:05Z"))
          .hostname("node1")
          .committer("manifest committer 1")
          .job("0b0f-41e", "spark.sql.sources.writeJobUUID")
          .filenames(paths(12).stream())
          .statistics(statistics())
          .ended("committed", "committer_commit_job")
          .build();

  @TempDir private Path directory;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private Path success;

  @BeforeEach
  void aTable() throws IOException {
    success = Files.write(directory.resolve("_SUCCESS"), REPORT.toJson());
  }

  @Test
  void aReportIsPrintedAsItStands() throws IOException {
    assertThat(run(success)).isZero();

    String title = "Job report file:" + success + ": job 0b0f-41e succeeded\n";
    assertThat(output()).startsWith(title + "{\n  \"name\" : ");
    assertThat(new ObjectMapper().readTree(output().substring(title.length())))
        .isEqualTo(new ObjectMapper().readTree(REPORT.toJson()));
    assertThat(errors()).isEmpty();
  }

  @Test
  void aReportCanBeJsonBesideWhatIsForPeople() throws IOException {
    assertThat(run("--json-reports", fileList(2).toString(), success.toString())).isZero();

    assertThat(output())
        .startsWith("List of files file:")
        .contains("\n{\"path\":\"file:" + success + "\",\"kind\":\"success_report\",\"content\":");
  }

  @Test
  void aDirectoryStandsForItsReport() {
    assertThat(run(directory)).isZero();

    assertThat(output()).startsWith("Job report file:" + success);
  }

  @Test
  void aFailureIsPrintedWithItsCause() throws IOException {
    Exception cause = new IOException("disk\tfull");
    Path report =
        Files.write(
            directory.resolve("summary-job.json"),
            SuccessReport.builder()
                .ended("", "job_stage_rename_files")
                .failed(cause)
                .build()
                .toJson());

    assertThat(run(report)).isZero();

    assertThat(output())
        .startsWith("Job report file:" + report + ": job (without id) FAILED")
        .contains(row("stage", "job_stage_rename_files"))
        .contains(row("exception", "java.io.IOException: disk\\tfull"))
        .contains("\\n\\tat io.manifestcommitter.cli.ManifestPrinterTest.");
  }

  @Test
  void reportsOfOtherCommittersArePrinted() throws IOException {
    Path hadoop = Files.write(directory.resolve("h"), Samples.hadoopFailureReport());
    Path s3a = Files.write(directory.resolve("s"), Samples.s3aReport());

    assertThat(run(hadoop, s3a)).isZero();

    assertThat(output())
        .contains(": job job_1 ", row("jobIdSource", "JobID"), row("committer", "magic"))
        .contains("\"file:/t/x%201\"", "\"/table/part-0 0\"", "\"files_created\" : 2");
  }

  @Test
  void aTaskManifestIsPrinted() throws IOException {
    Path ours = Files.write(directory.resolve("task_1-manifest.json"), manifest().toJson());
    Path hadoop = Files.write(directory.resolve("x"), Samples.hadoopTaskManifest());

    assertThat(run(ours, hadoop)).isZero();

    assertThat(output())
        .contains("Task manifest file:" + ours)
        .contains(row("jobId", "job_7"), row("taskAttemptID", "attempt_7"))
        .contains(row("s", "file:/t/line%0Abreak"), "\"z\" : 2048", row("d", "file:/t"))
        .contains(row("note", "n"), row("taskAttemptID", "attempt_1"));
  }

  @Test
  void aListOfFilesIsPrinted() throws IOException {
    Path list = fileList(12);

    assertThat(run(list)).isZero();

    assertThat(output())
        .startsWith("List of files file:" + list)
        .contains(row("jobId", "job"), row("table", "file:/t"), "\"files\" : 12")
        .contains("\"bytes\" : 66")
        .contains("    d=1/f0 (0 bytes)")
        .contains("    d=1/f11 (11 bytes)");
  }

  @Test
  void jsonIsOneLineForEachPath() throws IOException {
    Path manifest = Files.write(directory.resolve("m"), manifest().toJson());
    Path hadoop = Files.write(directory.resolve("h"), Samples.hadoopFailureReport());
    Path missing = directory.resolve("missing");

    assertThat(
            run(
                "--json",
                directory.toString(),
                manifest.toString(),
                hadoop.toString(),
                fileList(2).toString(),
                missing.toString()))
        .isEqualTo(1);
    assertThat(run("--json", "--missing-ok", missing.toString())).isZero();

    List<JsonNode> lines = new ArrayList<>();
    for (String line : output().split("\n", -1)) {
      if (!line.isEmpty()) {
        lines.add(new ObjectMapper().readTree(line));
      }
    }
    assertThat(lines).hasSize(6).endsWith(lines.get(4));
    assertThat(lines.get(0).get("path").asText()).isEqualTo("file:" + success);
    assertThat(lines.get(0).get("kind").asText()).isEqualTo("success_report");
    assertThat(lines.get(0).get("content")).isEqualTo(new ObjectMapper().readTree(REPORT.toJson()));
    assertThat(lines.get(1).get("kind").asText()).isEqualTo("task_manifest");
    assertThat(lines.get(1).get("content"))
        .isEqualTo(new ObjectMapper().readTree(manifest().toJson()));
    assertThat(lines.get(2).get("content"))
        .isEqualTo(new ObjectMapper().readTree(Samples.hadoopFailureReport()));
    assertThat(lines.get(3).get("kind").asText()).isEqualTo("file_list");
    assertThat(lines.get(3).get("content").toString())
        .isEqualTo(
            "{\"jobId\":\"job\",\"table\":\"file:/t\",\"files\":2,\"bytes\":1,\"entries\":["
                + "{\"path\":\"d=1/f0\",\"size\":0},{\"path\":\"d=1/f1\",\"size\":1,\"etag\":\"e\"}]}");
    assertThat(lines.get(4).get("path").asText()).isEqualTo(missing.toString());
    assertThat(lines.get(4).get("error").asText()).contains("nothing at");
  }

  @Test
  void aPathThatFailsDoesNotStopTheOthers() throws IOException {
    Path missing = directory.resolve("missing");
    Path empty = Files.createFile(directory.resolve("empty"));
    Path noise = Files.write(directory.resolve("noise"), new byte[] {1, 2, 3});
    Path cut = Files.write(directory.resolve("cut"), Arrays.copyOf(REPORT.toJson(), 200));
    byte[] manifest = manifest().toJson();
    manifest[manifest.length / 2] ^= 1;
    Path flipped = Files.write(directory.resolve("flipped"), manifest);
    Path list = fileList(3);
    Path cutList =
        Files.write(directory.resolve("cutList"), Arrays.copyOf(Files.readAllBytes(list), 60));
    Path noReport = Files.createDirectory(directory.resolve("table"));

    assertThat(run(missing, empty, noise, cut, flipped, cutList, noReport, success)).isEqualTo(1);

    assertThat(errors().lines())
        .hasSize(7)
        .allMatch(line -> line.startsWith("ManifestPrinter: "))
        .anyMatch(line -> line.contains("nothing at file:" + missing + ": check the path"))
        .anyMatch(
            line -> line.contains(empty + " is empty") && line.contains("FileOutputCommitter"))
        .anyMatch(line -> line.contains(noise + " is not a file of a manifest committer"))
        .anyMatch(line -> line.contains(cut + " is not a committer's job report"))
        .anyMatch(line -> line.contains(flipped.toString()))
        .anyMatch(line -> line.contains(cutList + " is not a complete list"))
        .anyMatch(line -> line.contains("no _SUCCESS in") && line.contains("marksuccessfuljobs"));
    assertThat(output()).startsWith("Job report file:" + success).doesNotContain("List of files");
  }

  @Test
  void pathsThatCannotBeUsedAreExplained() {
    assertThat(run("a:b", "nosuchscheme://host/x")).isEqualTo(1);

    assertThat(errors())
        .contains("a:b cannot be used as a path")
        .contains("There is no FileSystem for nosuchscheme:// on the class path")
        .contains("It is in the connector of nosuchscheme://. Put it on the class path");
    assertThat(output()).isEmpty();
  }

  @Test
  void wrongUsageIsExplained() {
    assertThat(run(new String[0])).isEqualTo(2);
    assertThat(run("--json")).isEqualTo(2);
    assertThat(run("--nonsense", success.toString())).isEqualTo(2);
    assertThat(run("")).isEqualTo(2);
    assertThat(run("-D")).isEqualTo(2);
    assertThat(run("-Dkey", success.toString())).isEqualTo(2);

    assertThat(output()).isEmpty();
    assertThat(errors())
        .contains("a path is missing", "there is no option --nonsense", "-D needs key=value")
        .contains("Usage: ManifestPrinter [--json]");
  }

  /** As the Python package does, which has a usage of its own. */
  @Test
  void underAnotherProgramMessagesBearItsName() {
    System.setProperty("manifest.committer.called", "manifest-committer print");
    try {
      assertThat(run("--nonsense", success.toString())).isEqualTo(2);
      assertThat(run("nosuchscheme://host/x")).isEqualTo(1);
    } finally {
      System.clearProperty("manifest.committer.called");
    }

    assertThat(errors().lines())
        .hasSize(2)
        .allMatch(line -> line.startsWith("manifest-committer print: "))
        .anyMatch(line -> line.endsWith("there is no option --nonsense"))
        .anyMatch(line -> line.contains("Put it, by --class-path, on the class path"));
  }

  @Test
  void helpIsNoError() {
    assertThat(run("--help")).isZero();

    assertThat(output()).startsWith("Usage: ManifestPrinter [--json]").contains("Exit code");
    assertThat(errors()).isEmpty();
  }

  @Test
  void optionsOfHadoopReachTheFilesystem() {
    String dataRoot = directory.toUri().toString();

    assertThat(run("-D", "fs.defaultFS=file:///", success.toString())).isZero();
    assertThat(run("-Dfs.defaultFS=nosuchscheme://host", success.toString())).isEqualTo(1);
    assertThat(run("-Dfs.defaultFS=nosuchscheme://host", dataRoot)).isZero();

    assertThat(errors()).contains("nosuchscheme");
  }

  @Test
  void optionsOfSparkSubmitReachTheFilesystem() {
    System.setProperty("spark.hadoop.fs.defaultFS", "nosuchscheme://host");
    try {
      assertThat(run(success)).isEqualTo(1);
    } finally {
      System.clearProperty("spark.hadoop.fs.defaultFS");
    }

    assertThat(errors()).contains("nosuchscheme");
  }

  @Test
  void aPathMayLookLikeAnOption() {
    assertThat(run("--", "--json")).isEqualTo(1);

    assertThat(errors()).matches("ManifestPrinter: There is nothing at file:.*/--json: .*\\s+");
  }

  private Path fileList(int count) throws IOException {
    List<FileEntry> files = new ArrayList<>();
    for (org.apache.hadoop.fs.Path path : paths(count)) {
      files.add(new FileEntry(path, path, files.size(), files.size() == 1 ? "e" : null, 0));
    }
    Path list = directory.resolve("_SUCCESS.files");
    try (OutputStream stream = Files.newOutputStream(list)) {
      FileList.write(stream, "job", new org.apache.hadoop.fs.Path("file:/t"), count, files);
    }
    return list;
  }

  private static TaskManifest manifest() {
    org.apache.hadoop.fs.Path table = new org.apache.hadoop.fs.Path("file:/t");
    org.apache.hadoop.fs.Path file = new org.apache.hadoop.fs.Path(table, "line\nbreak");
    return new TaskManifest(
        "job_7",
        1,
        "task_7",
        "attempt_7",
        table,
        List.of(new FileEntry(file, file, 2048, null, 0)),
        List.of(new TaskManifest.Directory(table, 0)),
        Map.of("note", "n"),
        new IOStatisticsSnapshot());
  }

  private static IOStatisticsSnapshot statistics() {
    IOStatisticsSnapshot statistics = new IOStatisticsSnapshot();
    statistics.counters().put("committer_files_committed", 1234L);
    statistics.counters().put("commit_file_rename", 1234L);
    statistics.counters().put("op_delete", 0L);
    statistics.gauges().put("stage.job.heap.memory", 77L);
    statistics.minimums().put("commit_file_rename.min", 3L);
    statistics.maximums().put("commit_file_rename.max", 80L);
    statistics.meanStatistics().put("commit_file_rename.mean", new MeanStatistic(1234, 12340));
    return statistics;
  }

  private static List<org.apache.hadoop.fs.Path> paths(int count) {
    List<org.apache.hadoop.fs.Path> paths = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      paths.add(new org.apache.hadoop.fs.Path("file:/t/d=1/f" + i));
    }
    return paths;
  }

  private static String row(String name, String value) {
    return "\"" + name + "\" : \"" + value + "\"";
  }

  private int run(Path... paths) {
    return run(Arrays.stream(paths).map(Path::toString).toArray(String[]::new));
  }

  private int run(String... args) {
    return new ManifestPrinter(new PrintStream(out, true, UTF_8), new PrintStream(err, true, UTF_8))
        .run(args);
  }

  private String output() {
    return out.toString(UTF_8);
  }

  private String errors() {
    return err.toString(UTF_8);
  }
}
