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
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportDataTest {
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
  void jobsAreListedTheOldestFirst() throws IOException {
    assertThat(run("history", directory.toString())).isZero();

    JsonNode jobs = new ObjectMapper().readTree(text(out)).get("jobs");
    assertThat(jobs.findValuesAsText("jobId")).containsExactly("a", "b", "c");
    assertThat(jobs.findValuesAsText("outcome"))
        .containsExactly("failed", "committed", "completed");
    JsonNode first = jobs.get(0);
    assertThat(first.get("table").asText()).isEqualTo("abfs://c@a/returns");
    assertThat(first.get("error").asText()).contains("the store is down");
    assertThat(first.get("success").asBoolean()).isFalse();
    assertThat(jobs.get(1).get("ended").asLong()).isEqualTo(NOON.toEpochMilli());
    assertThat(jobs.get(1).get("millis").asLong()).isEqualTo(1500);
    assertThat(jobs.get(1).get("files").asLong()).isEqualTo(1234);
  }

  @Test
  void aBrokenReportHidesNoOther() throws IOException {
    Files.writeString(directory.resolve("summary-e.json"), "{\"name\": 1");

    JsonNode found =
        new ObjectMapper()
            .readTree(Answers.value(new Configuration(), "history", directory.toString(), "{}"));

    assertThat(found.get("jobs")).hasSize(3);
    assertThat(found.get("problems").toString())
        .contains("summary-e.json is not a committer's job report");
  }

  @Test
  void whatIsNotThereIsTold() {
    String nowhere = directory.resolve("no").toString();
    String told = "There is nothing at file:" + nowhere + ": check the path";
    assertThat(run("report", nowhere)).isEqualTo(1);
    assertThat(text(err).trim()).isEqualTo("Ask: " + told);
    assertThat(run("history", nowhere, "--missing-ok")).isZero();
    assertThat(text(out).trim()).isEqualTo(told);
    assertThatThrownBy(() -> ReportData.history(new Configuration(), nowhere))
        .isInstanceOf(NothingThereException.class)
        .hasMessage(told);
  }

  @Test
  void aDirectoryOfReportsIsKnownByHavingNoSuccessMarker() throws IOException {
    assertThat(run("report", directory.toString())).isZero();
    assertThat(text(out)).contains("\"history\":");
    Files.copy(directory.resolve("summary-b.json"), directory.resolve("_SUCCESS"));
    out.reset();
    assertThat(run("report", directory.toString())).isZero();
    assertThat(text(out)).contains("\"report\":").doesNotContain("\"history\":");
    out.reset();
    assertThat(run("history", directory.toString())).isZero();
    assertThat(text(out)).contains("\"jobs\":");
    out.reset();
    assertThat(run("history", directory.resolve("summary-b.json").toString())).isZero();
    assertThat(text(out)).contains("\"jobId\":\"b\"").doesNotContain("\"jobId\":\"a\"");
  }

  @Test
  void aServerAnswersAlsoWhenItFails() throws IOException {
    Path file = directory.resolve("summary-a.json");
    JsonNode found = answer("find", "{\"path\": \"" + file + "\"}");
    assertThat(found.get("error").asText())
        .as("without a session")
        .contains("no session is at hand");
    assertThat(answer("find", "no json").has("error")).isTrue();
    assertThat(answer("recover", "{\"id\": \"1\"}").get("error").asText())
        .as("of what is done once, its own cause")
        .startsWith("java.lang.IllegalStateException: The server computes");
  }

  private static JsonNode answer(String what, String arguments) throws IOException {
    return new ObjectMapper().readTree(OnServer.call(what, arguments));
  }

  private int run(String question, String... arguments) {
    String[] all =
        Stream.concat(Stream.of("--question", question), Stream.of(arguments))
            .toArray(String[]::new);
    return new Ask(print(out), print(err)).run(all);
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
