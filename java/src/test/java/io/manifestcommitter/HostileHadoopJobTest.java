// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileList;
import io.manifestcommitter.manifest.TaskManifest;
import io.manifestcommitter.testing.Damage;
import io.manifestcommitter.testing.Fault;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a job of the Hadoop protocol reads: manifests, its commit mark, and the last job's list. */
class HostileHadoopJobTest {
  private static final String STORE = "hostile-hadoop";
  private static final Map<String, String> THEIRS =
      Map.of(
          "/victim/a", "theirs",
          "/table/_temporary/manifest_job_other/00/tasks/t/a", "theirs",
          "/table/_temporary/manifest_job_other/00/manifests/m", "theirs",
          "/table/_manifest_other/00/old/0/a", "theirs",
          "/table/p=1/old", "theirs");

  private HadoopJobHarness job;

  @BeforeEach
  void aJobBesideOthers() throws IOException {
    job = HadoopJobHarness.memory("abfs", STORE);
    job.state().clear();
    THEIRS.forEach(job.state()::write);
    job.runTasks(Map.of("p=1/a", "a", "p=2/b", "b"), Map.of("p=2/c", "c"));
  }

  @ParameterizedTest
  @CsvSource({
    "destination, /victim/b, outside the job's destination",
    "destination, /table2/b, outside the job's destination",
    "destination, /table/_temporary/manifest_job_other/00/manifests/n, in a staging directory",
    "destination, /table/_manifest_other/00/journal-planned-0, in a staging directory",
    "destination, /table/p=1/_manifest_other/00/a, in a staging directory",
    "source, /victim/a, outside the job's staging directory",
    "source, /table/p=1/old, outside the job's staging directory",
    "source, /table/_temporary/manifest_job_other/00/tasks/t/a, outside the job's staging",
    "directory, /victim, outside the job's destination",
    "directory, /table/_manifest_other, in a staging directory",
  })
  void aManifestThatLeadsElsewhereIsRefused(String field, String path, String why)
      throws IOException {
    TaskManifest task = job.manifest(0);
    FileEntry file = task.files.get(0);
    Path forged = new Path("abfs://" + STORE + path);
    Path source = field.equals("source") ? forged : file.source();
    Path destination = field.equals("destination") ? forged : file.destination();
    job.forge(
        0,
        task.jobId,
        List.of(new FileEntry(source, destination, file.size(), "", 0)),
        field.equals("directory")
            ? List.of(new TaskManifest.Directory(forged, 1))
            : task.directories);
    requireRefused(job.manifestOf(0), why);
  }

  /** What a path must not say is refused while the JSON is read. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "abfs://hostile-hadoop/table/../victim/a",
        "abfs://hostile-hadoop/table/%2e%2e/victim/a",
        "abfs://hostile-hadoop/table//a",
        "../a",
        "a",
        "mailto:a",
        "abfs://hostile-hadoop/table/a?b",
        ""
      })
  void aPathThatSaysOneThingAndMeansAnotherIsRefused(String path) throws IOException {
    String json = new String(job.files.bytes(job.manifestOf(0)), StandardCharsets.UTF_8);
    String forged = json.replaceFirst("\"d\" ?: ?\"[^\"]*\"", "\"d\" : \"" + path + "\"");
    assertThat(forged).isNotEqualTo(json);
    job.write(job.manifestOf(0), forged);
    requireRefused(job.manifestOf(0), "");
  }

  @Test
  void aManifestOfAnotherJobOrTaskIsRefused() throws IOException {
    job.forge(0, "job_other", job.manifest(0).files, List.of());
    requireRefused(job.manifestOf(0), "of job job_other");

    byte[] task = job.files.bytes(job.manifestOf(1));
    job.files.write(job.manifestOf(0), task);
    requireRefused(job.manifestOf(0), "belongs to task");
  }

  @ParameterizedTest
  @ValueSource(ints = {31, 100, 100_000})
  void nestingIsBounded(int depth) throws IOException {
    String json = new String(job.files.bytes(job.manifestOf(0)), StandardCharsets.UTF_8);
    String more = "{\"x\":" + "[".repeat(depth) + "]".repeat(depth) + ",";
    job.write(job.manifestOf(0), json.replaceFirst("\\{", more));
    if (depth < 32) {
      job.commitJob();
      assertThat(job.visible()).containsKey("p=2/b");
    } else {
      requireRefused(job.manifestOf(0), "nested more than");
    }
  }

  @Test
  void damagedManifestsAreRefused() throws IOException {
    byte[] intact = job.files.bytes(job.manifestOf(0));
    var ready = job.state().snapshot();
    for (long seed : Damage.seeds(30)) {
      job.state().restore(ready);
      job.files.write(job.manifestOf(0), Damage.of(intact, seed));
      String context = "-Dhostile.seed=" + seed;
      try {
        job.commitJob();
        assertThat(job.visible()).as(context).containsKeys("p=1/a", "p=2/b", "p=2/c");
      } catch (IOException e) {
        assertThat(e).as(context).hasMessageContaining(job.manifestOf(0));
        assertThat(job.visible()).as(context).containsOnlyKeys("p=1/old");
      } catch (RuntimeException | Error e) {
        throw new AssertionError(context, e);
      }
      requireTheirsUntouched(context);
    }
  }

  /** The first try died after it had renamed something; then its mark was damaged. */
  @ParameterizedTest
  @ValueSource(strings = {"", "{", "theirs", "of another job"})
  void aDamagedMarkMeansThatTheCommitMayHaveBegun(String content) throws IOException {
    dieAfterTheFirstRename();
    String mark = job.jobDirectory() + "/00/manifests/commit-started";
    assertThat(job.exists(mark)).isTrue();
    byte[] other =
        new TaskManifest(
                "job_other",
                0,
                "commit",
                "commit",
                job.table,
                List.of(),
                List.of(),
                Map.of(),
                new IOStatisticsSnapshot())
            .toJson();
    job.files.write(
        mark, content.startsWith("of") ? other : content.getBytes(StandardCharsets.UTF_8));
    var damaged = job.state().snapshot();

    job.abortJob();
    assertThat(job.visible()).containsOnlyKeys("p=1/old");
    assertThat(job.exists(job.jobDirectory())).isFalse();

    job.state().restore(damaged);
    job.commitJob();
    assertThat(job.visible()).containsOnlyKeys("p=1/old", "p=1/a", "p=2/b", "p=2/c");
    assertThat(job.report().jobId()).isEqualTo(job.jobId());
  }

  private void dieAfterTheFirstRename() throws IOException {
    job.state().onRequest(Fault.deadAfter("rename", path -> path.contains("/tasks/")));
    assertThatThrownBy(job::commitJob).isInstanceOf(IOException.class);
    job.state().noFault();
    assertThat(job.visible()).hasSize(2);
  }

  @ParameterizedTest
  @CsvSource({
    "abfs://hostile-hadoop/victim/a",
    "file:/etc/hostname",
    "_temporary/manifest_job_other/00/tasks/t/a",
    "_manifest_other/00/old/0/a",
    "../victim/a",
  })
  void aListOfFilesElsewhereTakesNothingBack(String path) throws IOException {
    job.commitJob();
    ByteArrayOutputStream list = new ByteArrayOutputStream();
    FileList.write(
        list, job.jobId(), job.table, 2, List.of(published("p=1/a"), published("p=2/FORGED")));
    job.files.write("_SUCCESS.files", withPath(list.toByteArray(), path));
    Map<String, String> before = new TreeMap<>(job.visible());

    job.conf.setInt("mapreduce.job.application.attempt.id", 2);
    assertThatThrownBy(job::setupJob)
        .hasMessageContaining("_SUCCESS.files")
        .hasMessageContaining(path.equals("../victim/a") ? "'..'" : "not of its output");
    assertThat(job.visible()).isEqualTo(before);
    requireTheirsUntouched(path);
  }

  private FileEntry published(String relative) {
    return new FileEntry(job.path("x"), job.path(relative), 1, "", 0);
  }

  /** The same list with another path in it, which the writer would refuse. */
  private static byte[] withPath(byte[] list, String path) throws IOException {
    try (var in = new java.util.zip.GZIPInputStream(new java.io.ByteArrayInputStream(list))) {
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      try (var gzip = new java.util.zip.GZIPOutputStream(out)) {
        gzip.write(text.replace("p=2/FORGED", path).getBytes(StandardCharsets.UTF_8));
      }
      return out.toByteArray();
    }
  }

  @Test
  void anAttemptIsNeverNegative() {
    assertThat(JobPaths.attemptOf("-1")).isEmpty();
    assertThat(JobPaths.attemptOf("01")).contains(1);
    assertThat(JobPaths.attemptOf("1")).isEmpty();
  }

  @Test
  void aDirectoryInPlaceOfTheReportIsTold() throws IOException {
    job.state().write("/table/_SUCCESS/data", "theirs");
    assertThatThrownBy(job.another(8)::setupJob)
        .hasMessageContainingAll("/table/_SUCCESS is a directory", "move it away");
  }

  @Test
  void aTaskOnALocalDiskWithALinkIsRefused(@TempDir File directory) throws IOException {
    java.nio.file.Path victim = Files.createDirectories(directory.toPath().resolve("victim"));
    Files.writeString(victim.resolve("a"), "theirs");
    HadoopJobHarness local = HadoopJobHarness.local(new File(directory, "table"));
    local.setupJob();
    local.setupTask(0, 0);
    local.writeTask(0, 0, Map.of("b", "b"));
    Files.createSymbolicLink(
        directory.toPath().resolve("table").resolve(local.workDirectory(0, 0)).resolve("p=1"),
        victim);
    assertThatThrownBy(() -> local.commitTask(0, 0))
        .hasMessageContaining("p=1 is a symbolic link in a staging directory");
    local.abortTask(0, 0);
    local.abortJob();
    assertThat(victim.resolve("a")).hasContent("theirs");
  }

  private void requireRefused(String manifest, String why) throws IOException {
    job.state().resetRequests();
    assertThatThrownBy(job::commitJob)
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll(manifest, why)
        .hasMessageMatching("(?s).*([Rr]un (the )?job .*again).*");
    assertThat(job.state().requests()).noneMatch(request -> request.startsWith("rename "));
    assertThat(job.visible()).containsOnlyKeys("p=1/old");
    requireTheirsUntouched(manifest);
  }

  private void requireTheirsUntouched(String context) {
    assertThat(job.state().files()).as(context).containsAllEntriesOf(THEIRS);
  }
}
