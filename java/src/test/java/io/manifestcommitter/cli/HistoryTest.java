// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.manifest.SuccessReport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HistoryTest {
  private static final Instant NOON = Instant.parse("2026-02-03T12:00:00Z");

  @TempDir private Path directory;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @BeforeEach
  void makeReports() throws IOException {
    save("b", NOON, "abfs://c@a/sales", report().ended("committed", "job_stage_rename_files"));
    save(
        "a",
        NOON.minus(Duration.ofDays(2)),
        "abfs://c@a/returns",
        report().failed(new IOException("the store is down")).ended("failed", "job_stage_plan"));
    save("c", NOON.plusSeconds(60), "abfs://c@a/sales", report().ended("completed", "x"));
    Files.writeString(directory.resolve("_summary-d.json.tmp"), "half");
    Files.writeString(directory.resolve("notes.txt"), "no report");
    Files.createDirectory(directory.resolve("more.json"));
  }

  @Test
  void jobsAreListedTheOldestFirst() {
    assertThat(run()).isZero();
    List<String> lines = text(out).lines().collect(Collectors.toList());
    assertThat(lines).hasSize(5);
    assertThat(lines.get(1)).contains("2026-02-01T12:00:00Z", "failed", "abfs://c@a/returns");
    assertThat(lines.get(2)).contains("the store is down");
    assertThat(lines.get(3)).contains("2026-02-03T12:00:00Z", "committed", "1.5", "1,234");
    assertThat(lines.get(4)).contains("completed");
  }

  @Test
  void jobsAreChosen() throws IOException {
    assertThat(jobs("--failed")).containsExactly("a");
    assertThat(jobs("--table", "/sales")).containsExactly("b", "c");
    assertThat(jobs("--since", "2026-02-03")).containsExactly("b", "c");
    assertThat(jobs("--since", "2026-02-03T12:00:30Z")).containsExactly("c");
    assertThat(jobs("--since", "2026-02-03", "--failed")).isEmpty();
  }

  @Test
  void timesAreDatesTimesOrSpans() {
    assertThat(History.since("", NOON)).isEqualTo(Long.MIN_VALUE);
    assertThat(History.since("7d", NOON)).isEqualTo(NOON.minus(Duration.ofDays(7)).toEpochMilli());
    assertThat(History.since("36h", NOON))
        .isEqualTo(NOON.minus(Duration.ofHours(36)).toEpochMilli());
    assertThatThrownBy(() -> History.since("yesterday", NOON))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'yesterday' is no time such as 2026-01-31");
    assertThat(run("--since", "yesterday")).isEqualTo(2);
  }

  @Test
  void aBrokenReportHidesNoOther() throws IOException {
    Files.writeString(directory.resolve("summary-e.json"), "{\"name\": 1");
    assertThat(run("--json")).isEqualTo(1);
    assertThat(text(out).lines()).hasSize(3);
    assertThat(text(err)).contains("summary-e.json is not a committer's job report");
  }

  @Test
  void whatIsNotThereIsTold() {
    assertThat(new History(print(out), print(err)).run(directory.resolve("no").toString()))
        .isEqualTo(1);
    assertThat(text(err)).contains("There is no such directory: no job has reported there");
  }

  @Test
  void aPageOfADirectoryHasAllJobs() throws IOException {
    assertThat(new ReportData(print(out), print(err)).run(directory.toString())).isZero();
    JsonNode data = new ObjectMapper().readTree(text(out));
    assertThat(data.get("history").get("jobs")).hasSize(3);
  }

  @Test
  void aServerAnswersAlsoWhenItFails() throws IOException {
    Path file = directory.resolve("summary-a.json");
    JsonNode found = answer("find", "{\"path\": \"" + file + "\"}");
    assertThat(found.get("error").asText()).as("without Spark SQL").contains("SparkSession");
    assertThat(answer("nonsense", "{\"path\": \"x\"}").get("error").asText())
        .contains("nonsense is not known here");
    assertThat(answer("find", "no json").has("error")).isTrue();
  }

  private static JsonNode answer(String what, String arguments) throws IOException {
    return new ObjectMapper().readTree(OnServer.call(what, arguments));
  }

  private List<String> jobs(String... options) throws IOException {
    out.reset();
    List<String> with = new ArrayList<>(List.of(options));
    with.add("--json");
    assertThat(run(with.toArray(new String[0]))).isZero();
    List<String> jobs = new ArrayList<>();
    for (String line : text(out).lines().collect(Collectors.toList())) {
      jobs.add(new ObjectMapper().readTree(line).get("jobId").asText());
    }
    return jobs;
  }

  private int run(String... options) {
    List<String> arguments = new ArrayList<>(List.of(options));
    arguments.add(directory.toString());
    return new History(print(out), print(err)).run(arguments.toArray(new String[0]));
  }

  private static SuccessReport.Builder report() {
    StatisticsRecorder statistics = new StatisticsRecorder();
    statistics.count(StatisticNames.COMMITTER_FILES_COMMITTED, 1234);
    statistics.sample("committer_commit_job", 1500);
    return SuccessReport.builder().statistics(statistics.snapshot());
  }

  private void save(String job, Instant at, String table, SuccessReport.Builder report)
      throws IOException {
    Files.write(
        directory.resolve("summary-" + job + ".json"),
        report.at(at).job(job, "test").diagnostic("table", table).build().toJson());
  }

  private static PrintStream print(ByteArrayOutputStream bytes) {
    return new PrintStream(bytes, true, StandardCharsets.UTF_8);
  }

  private static String text(ByteArrayOutputStream bytes) {
    return bytes.toString(StandardCharsets.UTF_8);
  }
}
