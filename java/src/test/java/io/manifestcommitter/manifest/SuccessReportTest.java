// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.time.Instant;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.MeanStatistic;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SuccessReportTest {
  private static final String ORIGIN = "gs://bucket/t/_SUCCESS";

  private static final SuccessReport FULL =
      SuccessReport.builder()
          .at(Instant.ofEpochMilli(1700000000123L))
          .hostname("node1")
          .committer("manifest")
          .description("a \"job\"")
          .job("0b0f-41e", "spark.sql.sources.writeJobUUID")
          .diagnostic("principal", "mitä")
          .filenames(Stream.of(new Path("gs://bucket/t/d=1/f 1")))
          .statistics(Manifests.sampleStatistics())
          .ended("committed", "committer_commit_job")
          .build();

  @Test
  void aReportIsReadBackEqual() throws IOException {
    assertThat(SuccessReport.parse(FULL.toJson(), ORIGIN).toJson()).isEqualTo(FULL.toJson());
  }

  @Test
  void aReportOfNothingIsReadBackEqual() throws IOException {
    SuccessReport empty = SuccessReport.builder().build();

    assertThat(SuccessReport.parse(empty.toJson(), ORIGIN).toJson()).isEqualTo(empty.toJson());
    assertThat(empty.success()).isTrue();
  }

  @Test
  void theJsonHasHadoopsFields() throws IOException {
    JsonNode json = new ObjectMapper().readTree(FULL.toJson());

    assertThat(json.fieldNames())
        .toIterable()
        .containsExactly(
            "name",
            "timestamp",
            "success",
            "date",
            "hostname",
            "committer",
            "description",
            "jobId",
            "jobIdSource",
            "diagnostics",
            "filenames",
            "iostatistics",
            "state",
            "stage");
    assertThat(json.get("timestamp").asLong()).isEqualTo(1700000000123L);
    assertThat(json.get("date").asText()).isEqualTo("2023-11-14T22:13:20.123Z");
    assertThat(json.get("filenames").get(0).asText()).isEqualTo("gs://bucket/t/d=1/f%201");
    assertThat(new ObjectMapper().readTree(SuccessReport.builder().build().toJson()).fieldNames())
        .toIterable()
        .doesNotContain("metrics", "iostatistics", "state", "stage", "date");
  }

  @Test
  void onlyTheFirstHundredFilesAreNamed() {
    Stream<Path> files = Manifests.files(101).stream().map(FileEntry::destination);

    assertThat(SuccessReport.builder().filenames(files).build().filenames())
        .hasSize(100)
        .startsWith("file:/t/d=1/f0")
        .endsWith("file:/t/d=1/f99");
  }

  @Test
  void aFailureIsNotedEvenIfItsMessageIsNotUnicode() throws IOException {
    SuccessReport report =
        SuccessReport.builder().failed(new IOException("cannot write \ud800 here")).build();

    SuccessReport read = SuccessReport.parse(report.toJson(), ORIGIN);

    assertThat(read.success()).isFalse();
    assertThat(read.diagnostics().get("exception"))
        .isEqualTo("java.io.IOException: cannot write ? here");
    assertThat(read.diagnostics().get("stacktrace")).contains("\tat io.manifestcommitter.");
  }

  @Test
  void aReportOfHadoopsManifestCommitterIsRead() throws IOException {
    SuccessReport report = SuccessReport.parse(Samples.hadoopFailureReport(), ORIGIN);

    assertThat(report.success()).isFalse();
    assertThat(report.jobId()).isEqualTo("job_1");
    assertThat(report.hostname()).isEqualTo("node1");
    assertThat(report.stage()).isEqualTo("job_stage_rename_files");
    assertThat(report.filenames()).containsExactly("file:/t/x%201");
    assertThat(report.diagnostics().get("exception")).isEqualTo("java.io.IOException: bad");
    assertThat(report.statistics().counters()).containsExactly(Map.entry("c", 1L));
    assertThat(report.statistics().meanStatistics())
        .containsExactly(Map.entry("op_rename.mean", new MeanStatistic(2, 7)));
  }

  @Test
  void aReportOfAnS3aCommitterIsRead() throws IOException {
    SuccessReport report = SuccessReport.parse(Samples.s3aReport(), ORIGIN);

    assertThat(report.success()).isTrue();
    assertThat(report.committer()).isEqualTo("magic");
    assertThat(report.description()).isEmpty();
    assertThat(report.filenames()).containsExactly("/table/part-0 0", "/table/part-1");
  }

  @Test
  void anEmptyFileIsSaidToBeAnotherCommitters() {
    assertThatThrownBy(() -> SuccessReport.parse(new byte[0], ORIGIN))
        .isInstanceOf(CorruptManifestException.class)
        .hasMessageStartingWith(ORIGIN)
        .hasMessageContainingAll("empty", "FileOutputCommitter");
  }

  @Test
  void anArrayOfTheWrongTypeIsRefusedAtItsFirstItem() {
    String many = "{\"name\":[" + "{},".repeat(4_000_000) + "{}]}";

    assertThatThrownBy(() -> SuccessReport.parse(many.getBytes(UTF_8), ORIGIN))
        .hasMessageContaining("an item of 'name' is not a string (near character 9)");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "[]",
        "{\"name\":\"other\"}",
        "{\"name\":1}",
        "{\"name\":\"org.apache.hadoop.fs.s3a.commit.files.SuccessData/1\"",
        "{\"name\":\"org.apache.hadoop.fs.s3a.commit.files.SuccessData/1\"}}",
        "{\"name\":\"org.apache.hadoop.fs.s3a.commit.files.SuccessData/1\",\"success\":\"yes\"}",
        "{\"name\":\"org.apache.hadoop.fs.s3a.commit.files.SuccessData/1\",\"filenames\":{}}",
        "{\"name\":\"org.apache.hadoop.fs.s3a.commit.files.SuccessData/1\",\"filenames\":[1]}",
        "{\"name\":\"org.apache.hadoop.fs.s3a.commit.files.SuccessData/1\",\"metrics\":{\"a\":\"\"}}",
        "not json"
      })
  void somethingElseIsNoticed(String json) {
    assertThatThrownBy(() -> SuccessReport.parse(json.getBytes(UTF_8), ORIGIN))
        .isExactlyInstanceOf(CorruptManifestException.class)
        .hasMessageStartingWith(ORIGIN)
        .hasMessageContaining("not a committer's job report");
  }
}
