// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JobPathsTest {
  private static final Path TABLE = new Path("abfss://c@a.dfs.core.windows.net/warehouse/t");

  private final JobPaths paths = new JobPaths(TABLE, "job_202601010000_0007", 3);

  @Test
  void layoutIsThatOfTheProtocol() {
    assertThat(paths.destination).isEqualTo(TABLE);
    assertThat(paths.temporaryDirectory()).isEqualTo(below("_temporary"));
    assertThat(paths.jobDirectory).isEqualTo(below("_temporary/manifest_job_202601010000_0007"));
    assertThat(paths.jobAttemptDirectory)
        .isEqualTo(below("_temporary/manifest_job_202601010000_0007/03"));
    assertThat(paths.taskAttemptsDirectory())
        .isEqualTo(below("_temporary/manifest_job_202601010000_0007/03/tasks"));
    assertThat(paths.manifestDirectory())
        .isEqualTo(below("_temporary/manifest_job_202601010000_0007/03/manifests"));
  }

  @Test
  void attemptsAndTasksHaveTheirOwnNames() {
    String job = "_temporary/manifest_job_202601010000_0007/03/";
    String task = "task_202601010000_0007_m_000004";
    String attempt = "attempt_202601010000_0007_m_000004_1";

    assertThat(paths.taskAttemptDirectory(attempt)).isEqualTo(below(job + "tasks/" + attempt));
    assertThat(paths.manifest(task)).isEqualTo(below(job + "manifests/" + task + "-manifest.json"));
    assertThat(paths.temporaryManifest(attempt))
        .isEqualTo(below(job + "manifests/" + attempt + "-manifest.json.tmp"));
  }

  @Test
  void temporaryManifestIsNotTakenForAManifest() {
    assertThat(paths.temporaryManifest("attempt_1_0001_m_000000_0").getName())
        .doesNotEndWith(JobPaths.MANIFEST_SUFFIX);
  }

  @ParameterizedTest
  @CsvSource({"0,00", "7,07", "42,42", "123,123"})
  void attemptNumbersHaveTwoDigitsOrMore(int attempt, String name) {
    assertThat(JobPaths.attemptName(attempt)).isEqualTo(name);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "..", "a/b", "/", "../other"})
  void anIdThatIsNoNameIsRefused(String id) {
    assertThatThrownBy(() -> JobPaths.requireName(id))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'" + id + "'");
    assertThatThrownBy(() -> new JobPaths(TABLE, id, 0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void anIdThatIsANameIsGivenBack() {
    assertThat(JobPaths.requireName("0b6c1f4e-9a55-4f0e-8d1e-1f0c1b6a7d21"))
        .isEqualTo("0b6c1f4e-9a55-4f0e-8d1e-1f0c1b6a7d21");
  }

  @Test
  void hiddenNamesStartWithAnUnderscore() {
    assertThat(JobPaths.SUCCESS_MARKER).isEqualTo("_SUCCESS");
    assertThat(JobPaths.FILE_LIST).startsWith("_");
    assertThat(paths.temporaryDirectory().getName()).startsWith("_");
  }

  private static Path below(String relative) {
    return new Path(TABLE, relative);
  }
}
