// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import static io.manifestcommitter.manifest.Manifests.SAMPLE;
import static java.nio.charset.StandardCharsets.UTF_16;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class TaskManifestTest {
  private static final String ORIGIN = "abfs://c@a/t/manifests/task_1-manifest.json";

  @Test
  void theJsonHasHadoopsFields() throws IOException {
    JsonNode json = new ObjectMapper().readTree(SAMPLE.toJson());

    assertThat(json.fieldNames())
        .toIterable()
        .containsExactly(
            "type",
            "version",
            "jobId",
            "jobAttemptNumber",
            "taskID",
            "taskAttemptID",
            "taskAttemptDir",
            "files",
            "directories",
            "extraData",
            "iostatistics");
    assertThat(json.get("files").get(0).toString())
        .isEqualTo(
            "{\"s\":\"abfs://c@a.dfs.core.windows.net/t/_temporary/tasks/a%201/d=1/f%201\","
                + "\"d\":\"abfs://c@a.dfs.core.windows.net/t/d=1/f%201\","
                + "\"z\":1234567890123,\"e\":\"\\\"0x8DC\\\"\",\"m\":1700000000000}");
    assertThat(json.get("files").get(1).fieldNames()).toIterable().containsExactly("s", "d", "z");
    assertThat(json.get("directories").get(0).toString())
        .isEqualTo("{\"d\":\"abfs://c@a.dfs.core.windows.net/t/d=1\",\"t\":0,\"l\":1}");
    assertThat(json.get("extraData").get(TaskManifest.CHECKSUM_KEY).asText())
        .matches("[0-9a-f]{8}");
    assertThat(json.get("iostatistics").toString())
        .isEqualTo(
            "{\"counters\":{\"committer_files_committed\":2,\"op_rename\":2},"
                + "\"gauges\":{\"stage.job.setup.heap.memory\":12345},"
                + "\"minimums\":{\"op_rename.min\":0},\"maximums\":{\"op_rename.max\":17},"
                + "\"meanstatistics\":{\"op_rename.mean\":{\"samples\":2,\"sum\":17}}}");
  }

  @Test
  void aManifestOfTwoFilesIsSmall() throws IOException {
    String longest = "abfs://container@account.dfs.core.windows.net/warehouse/flights";

    // Hadoop's own has 19.9 kB in the first case.
    assertThat(manifestOfTwoFiles("file:/data/flights").toJson().length).isLessThan(1500);
    assertThat(manifestOfTwoFiles(longest).toJson().length).isLessThan(2000);
  }

  private static TaskManifest manifestOfTwoFiles(String table) throws IOException {
    String job = "job_1700000000000_0001";
    String attempt = "attempt_1700000000000_0001_m_000003_0";
    String work = table + "/_temporary/manifest_" + job + "/00/tasks/" + attempt;
    StatisticsRecorder recorder = new StatisticsRecorder();
    recorder.time(StatisticNames.TASK_STAGE_COMMIT, () -> "scanned");
    recorder.sample(StatisticNames.COMMITTER_TASK_FILE_COUNT, 2);
    List<FileEntry> files = new ArrayList<>();
    List<TaskManifest.Directory> directories = new ArrayList<>();
    for (int month = 1; month <= 2; month++) {
      String name = "/month=" + month + "/part-m-00003.snappy.parquet";
      files.add(
          new FileEntry(
              new Path(work + name), new Path(table + name), 123456, "0x8DC0123456789AB", 0));
      directories.add(new TaskManifest.Directory(new Path(table + "/month=" + month), 1));
    }
    return new TaskManifest(
        job,
        0,
        "task_1700000000000_0001_m_000003",
        attempt,
        new Path(work),
        files,
        directories,
        Map.of(),
        recorder.snapshot());
  }

  @Test
  void aManifestOfHadoopsCommitterIsReadByToolsOnly() throws IOException {
    byte[] json = Samples.hadoopTaskManifest();

    TaskManifest manifest = TaskManifest.parseForeign(json, ORIGIN);

    assertThat(manifest.jobId).isEqualTo("job_1");
    assertThat(manifest.taskAttemptId).isEqualTo("attempt_1");
    assertThat(manifest.taskAttemptDirectory).isEqualTo(new Path("file:/t/a b%c"));
    assertThat(manifest.files)
        .containsExactly(
            new FileEntry(new Path("file:/t/src é"), new Path("file:/t/x=1/d:1"), 10, null, 0),
            new FileEntry(new Path("file:/t/src2"), new Path("file:/t/x=1/d2#?"), 10, "e", 0));
    assertThat(manifest.directories)
        .extracting(directory -> directory.path)
        .containsExactly(new Path("file:/t/x=1"));
    assertThat(manifest.extraData).containsExactly(Map.entry("k", "v"));
    assertThat(manifest.statistics.counters()).containsExactly(Map.entry("c", 1L));
    assertThat(manifest.statistics.minimums()).isEmpty();
    assertThatThrownBy(() -> TaskManifest.parse(json, ORIGIN))
        .isInstanceOf(CorruptManifestException.class)
        .hasMessageContainingAll(ORIGIN, "no checksum");
  }

  @Test
  void toolsVerifyAChecksumThatIsThere() {
    byte[] json = Manifests.text(SAMPLE).replace("\"z\":0", "\"z\":1").getBytes(UTF_8);

    assertThatThrownBy(() -> TaskManifest.parseForeign(json, ORIGIN))
        .isInstanceOf(CorruptManifestException.class)
        .hasMessageContainingAll(ORIGIN, "checksum");
  }

  @Test
  void whiteSpaceAndUnknownFieldsDoNotMatter() throws IOException {
    String json = Manifests.text(SAMPLE);
    String spaced = " " + json.replace(",\"jobId\"", ", \"new\":[{\"a\":[1.5,null]}],\n\"jobId\"");

    assertThat(Manifests.text(TaskManifest.parse(spaced.getBytes(UTF_8), ORIGIN)))
        .isEqualTo(Manifests.text(SAMPLE));
  }

  /**
   * Each is a change of the sample's text: what is replaced, by what, and what the message has to
   * say.
   */
  static List<List<String>> damages() {
    return List.of(
        List.of("\"z\":0", "\"z\":1", "checksum"),
        List.of("\"z\":0", "\"z\":-1", "negative"),
        List.of("\"z\":0", "\"z\":0.5", "whole number"),
        List.of("\"z\":0", "\"z\":\"0\"", "whole number"),
        List.of("\"z\":0", "\"z\":99999999999999999999", "range"),
        List.of("\"z\":0", "\"z\":null", "'z' is missing"),
        List.of("\"z\":0", "\"z\":0,\"z\":0", "Duplicate"),
        List.of(",\"m\":1700000000000", "", "checksum"),
        List.of(",\"m\":1700000000000", ",\"q\":1700000000000", "checksum"),
        List.of("\"files\":[", "\"files\":[[],", "not an object"),
        List.of("\"files\":[", "\"files\":{\"a\":[", "not an array"),
        List.of("\"files\":", "\"filez\":", "checksum"),
        List.of("\"t\":0", "\"t\":9", "of type 9"),
        List.of("\"t\":0", "\"t\":4", "checksum"),
        List.of("\"l\":1", "\"l\":4294967297", "range"),
        List.of("\"version\":1", "\"version\":2", "version 2"),
        List.of("TaskManifest/1", "TaskManifest/2", "TaskManifest/2"),
        List.of("\"jobAttemptNumber\":1", "\"jobAttemptNumber\":-1", "negative"),
        List.of("\"jobId\":", "\"jobID\":", "'jobId' is missing"),
        List.of("job_202401011200_0001\"", "\"", "no job id"),
        List.of("\"note\":", "\"nöte\":", "checksum"),
        List.of("\"op_rename.max\":17", "\"op_rename.max\":18", "checksum"),
        List.of("\"samples\":2,", "", "'samples' is missing"),
        List.of("/t/d=1/f%201", "/t/../d=1/f%201", "'..'"),
        List.of("/t/d=1/f%201", "/t/%2e%2e/f%201", "'..'"),
        List.of("/t/d=1/f%201", "/t/./f%201", "'.'"),
        List.of("/t/d=1/f%201", "/t//f%201", "empty"),
        List.of("/t/d=1/f%201", "/t/d=1/f 1", "not a URI"),
        List.of("/t/d=1/f%201", "/t/d=1/f%201?x", "query"),
        List.of("/t/d=1/f%201", "/t/d=1/f%2", "not a URI"),
        List.of("abfs://c@a.dfs.core.windows.net/t/d=2\"", "\"", "not absolute"),
        List.of("abfs://c@a.dfs.core.windows.net/t/d=2\"", "t/d=2\"", "not absolute"),
        List.of("abfs://c@a.dfs.core.windows.net/t/d=2\"", "abfs:t/d=2\"", "not absolute"),
        List.of("abfs://c@a.dfs.core.windows.net/t/d=2/", "/", "checksum"));
  }

  @ParameterizedTest
  @MethodSource("damages")
  void aChangeIsNoticed(List<String> damage) {
    String json = Manifests.text(SAMPLE);
    String changed = json.replace(damage.get(0), damage.get(1));
    assertThat(changed).isNotEqualTo(json);

    assertThatThrownBy(() -> TaskManifest.parse(changed.getBytes(UTF_8), ORIGIN))
        .isExactlyInstanceOf(CorruptManifestException.class)
        .hasMessageStartingWith(ORIGIN)
        .hasMessageContainingAll(damage.get(2), "run the job again");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "{}",
        "[]",
        "null",
        "1",
        "\"text\"",
        "not json",
        "<html></html>",
        "\u0000"
      })
  void somethingElseIsNoticed(String json) {
    assertCorrupt(json.getBytes(UTF_8));
  }

  @Test
  void somethingAfterTheEndIsNoticed() {
    assertCorrupt((Manifests.text(SAMPLE) + "x").getBytes(UTF_8));
    assertCorrupt((Manifests.text(SAMPLE) + "{}").getBytes(UTF_8));
    assertCorrupt((Manifests.text(SAMPLE) + Manifests.text(SAMPLE)).getBytes(UTF_8));
  }

  @Test
  void otherEncodingsAreNoticed() {
    assertCorrupt(Manifests.text(SAMPLE).getBytes(UTF_16));
    assertCorrupt(Manifests.text(SAMPLE).replace("ß", "\\ud800").getBytes(UTF_8));
  }

  @Test
  void absurdNestingIsNoticedWithoutDeepRecursion() {
    String deep = "{\"x\":" + "[".repeat(2_000_000);

    assertThatThrownBy(() -> TaskManifest.parse(deep.getBytes(UTF_8), ORIGIN))
        .isExactlyInstanceOf(CorruptManifestException.class)
        .hasMessageContaining("nested");
  }

  @Test
  void theChecksumsKeyIsReserved() {
    assertThatThrownBy(
            () ->
                new TaskManifest(
                    "j",
                    0,
                    "t",
                    "a",
                    new Path("file:/t"),
                    List.of(),
                    List.of(),
                    Map.of(TaskManifest.CHECKSUM_KEY, "00000000"),
                    new IOStatisticsSnapshot()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(TaskManifest.CHECKSUM_KEY);
  }

  private static void assertCorrupt(byte[] json) {
    assertThatThrownBy(() -> TaskManifest.parse(json, ORIGIN))
        .isExactlyInstanceOf(CorruptManifestException.class)
        .hasMessageStartingWith(ORIGIN);
    assertThatThrownBy(() -> TaskManifest.parseForeign(json, ORIGIN))
        .isExactlyInstanceOf(CorruptManifestException.class)
        .hasMessageStartingWith(ORIGIN);
  }
}
