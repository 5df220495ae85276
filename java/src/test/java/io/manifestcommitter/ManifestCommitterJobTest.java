// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.manifest.StatisticNames;
import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Job commit: what becomes visible. */
class ManifestCommitterJobTest extends LocalJobTest {
  @Test
  void jobCommitPublishesWhatTheTasksCommitted() throws Exception {
    job.run(
        Map.of("part-0", "a", "p=1/part-0", "bb"),
        Map.of("p=1/part-1", "ccc", "p=2/q=x/part-1", "d"));

    assertThat(job.visible())
        .isEqualTo(
            Map.of("part-0", "a", "p=1/part-0", "bb", "p=1/part-1", "ccc", "p=2/q=x/part-1", "d"));
    assertThat(job.namesIn(""))
        .containsExactlyInAnyOrder("part-0", "p=1", "p=2", "_SUCCESS", "_SUCCESS.files");
  }

  @Test
  void aJobWithoutTasksCommitsAnEmptyTable() throws Exception {
    job.setupJob();
    job.commitJob();

    assertThat(job.visible()).isEmpty();
    assertThat(job.report().filenames()).isEmpty();
    assertThat(job.listedFiles()).isEmpty();
  }

  @Test
  void hostileNamesArriveAsTheyAre() throws Exception {
    Map<String, String> files = new TreeMap<>();
    for (String name :
        List.of(
            "with space",
            "100%",
            "%2F%20",
            "a#b?c",
            "ünïcödé 日本 😀",
            "p=a b/f",
            "time=12:30:00/f",
            "hdfs:x/f",
            "p=%3A/f",
            "p=ü #1/q=\"'\\/f",
            "a+b&c=d",
            "-",
            "...")) {
      files.put(name, "content of " + name);
    }
    job.run(files);

    assertThat(job.visible()).isEqualTo(files);
    assertThat(job.listedFiles().keySet()).isEqualTo(files.keySet());
    assertThat(job.report().filenames()).hasSize(files.size());
  }

  @Test
  void aTableOfHostileNameIsWrittenToo() throws Exception {
    job = HadoopJobHarness.local(new File(directory, "my table: 100% #1 ü/t"));
    job.run(Map.of("p=1/part-0", "a"));

    assertThat(job.visible()).isEqualTo(Map.of("p=1/part-0", "a"));
    assertThat(job.listedFiles()).isEqualTo(Map.of("p=1/part-0", 1L));
  }

  @Test
  void anExistingFileAtADestinationFailsTheJob() throws Exception {
    job.write("part-0", "old");
    job.runTasks(Map.of("part-0", "new"));

    assertThatThrownBy(job::commitJob)
        .hasMessageContaining("Could not publish ")
        .hasMessageContainingAll(
            job.workDirectory(0, 0) + "/part-0", job.path("part-0").toUri().getPath());
    assertThat(job.visible()).isEqualTo(Map.of("part-0", "old"));
    assertThat(job.exists("_SUCCESS")).isFalse();
  }

  @Test
  void anExistingFileGivesWayWhereTheOptionSaysSo() throws Exception {
    job.conf.setBoolean(CommitterConfig.DELETE_TARGET_FILES, true);
    job.write("part-0", "old");
    job.write("p=1/part-0", "old too");
    job.write("other", "stays");
    job.run(Map.of("part-0", "new", "p=1/part-0", "new too", "p=2/part-0", "x"));

    assertThat(job.visible())
        .isEqualTo(
            Map.of("part-0", "new", "p=1/part-0", "new too", "p=2/part-0", "x", "other", "stays"));
  }

  @Test
  void aFileWhereADirectoryHasToBeGivesWay() throws Exception {
    job.write("p=1", "a file");
    job.run(Map.of("p=1/part-0", "x"));

    assertThat(job.visible()).isEqualTo(Map.of("p=1/part-0", "x"));
  }

  @Test
  void validationPassesWhatIsAsCommitted() throws Exception {
    job.conf.setBoolean(CommitterConfig.VALIDATE_OUTPUT, true);
    job.run(Map.of("part-0", "a", "p=1/part-0", "b"));

    assertThat(job.visible()).hasSize(2);
    assertThat(job.report().statistics().counters())
        .containsEntry(StatisticNames.JOB_STAGE_OPTIONAL_VALIDATE_OUTPUT, 1L);
  }

  @Test
  void validationFindsAFileThatIsNotAsCommitted() throws Exception {
    job.conf.setBoolean(CommitterConfig.VALIDATE_OUTPUT, true);
    job.runTasks(Map.of("part-0", "as committed"));
    job.write(job.workDirectory(0, 0) + "/part-0", "changed since");

    assertThatThrownBy(job::commitJob)
        .hasMessageContaining("The published file ")
        .hasMessageContainingAll(job.path("part-0").toUri().getPath(), "12 bytes", "13 bytes");
    assertThat(job.exists("_SUCCESS")).isFalse();
  }

  @Test
  void aFailedCommitIsNotRepeatedWithOtherManifests() throws Exception {
    job.write("p=1/part-0", "old");
    job.runTasks(Map.of("p=1/part-0", "new"));
    PathOutputCommitter committer = job.jobCommitter();
    assertThatThrownBy(() -> committer.commitJob(job.jobContext())).isInstanceOf(IOException.class);
    job.files.delete("p=1/part-0");
    job.runTask(1, 0, Map.of("p=1/part-1", "of a task that was committed since"));

    assertThatThrownBy(() -> committer.commitJob(job.jobContext()))
        .hasMessageContainingAll("a task has committed since", "abort this job");

    assertThat(job.visible()).isEmpty();
  }

  /** Most stores would put the file inside the directory, and say that the rename was done. */
  @ParameterizedTest
  @ValueSource(strings = {"hdfs", "abfs", "gs", "file"})
  void aDirectoryAtADestinationNeverTakesTheFileIn(String scheme) throws Exception {
    if (!scheme.equals("file")) {
      job = HadoopJobHarness.memory(scheme, "directory-at-destination-" + scheme);
      job.state().clear();
    }
    job.files.mkdirs("p=1/part-0");
    job.runTasks(Map.of("p=1/part-0", "new"));

    assertThatThrownBy(job::commitJob)
        .isInstanceOf(IOException.class)
        .hasMessageContaining(job.path("p=1/part-0").toString());
    assertThat(job.exists("_SUCCESS")).isFalse();
    job.abortJob();
    assertThat(job.visible()).isEmpty();
    assertThat(job.visibleDirectories()).containsExactly("p=1", "p=1/part-0");
  }

  @Test
  void aCommittedFileThatIsGoneFailsTheJob() throws Exception {
    job.runTasks(Map.of("part-0", "a"));
    job.files.delete(job.workDirectory(0, 0) + "/part-0");

    assertThatThrownBy(job::commitJob)
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll(
            job.workDirectory(0, 0) + "/part-0", job.path("part-0").toUri().getPath());
    assertThat(job.exists("_SUCCESS")).isFalse();
  }
}
