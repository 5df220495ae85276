// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.store.UnsupportedStoreException;
import java.util.Map;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitterFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Getting a committer, and the setup of jobs and tasks. */
class ManifestCommitterTest extends LocalJobTest {
  @Test
  void hadoopFindsTheCommitterThroughItsFactory() throws Exception {
    PathOutputCommitter committer = job.committer(0, 0);

    assertThat(committer).isInstanceOf(ManifestCommitter.class);
    assertThat(committer.getOutputPath()).isEqualTo(job.table);
    assertThat(committer)
        .asString()
        .contains(job.table.toString(), HadoopJobHarness.JOB_NAME, BuildInfo.version());
  }

  @Test
  void theLayoutIsThatOfTheProtocol() throws Exception {
    job.setupJob();
    PathOutputCommitter task = job.committer(3, 1);
    task.setupTask(job.context(3, 1));

    assertThat(job.files.directories()).contains(HadoopJobHarness.JOB_DIRECTORY + "/00/manifests");
    assertThat(job.namesIn(HadoopJobHarness.JOB_DIRECTORY + "/00/manifests")).isEmpty();
    assertThat(task.getWorkPath())
        .isEqualTo(
            job.path(
                HadoopJobHarness.JOB_DIRECTORY + "/00/tasks/attempt_202601010000_0007_m_000003_1"));
    assertThat(job.files.directories()).contains(job.workDirectory(3, 1));
    assertThat(job.namesIn(job.workDirectory(3, 1))).isEmpty();
    assertThat(job.visible()).isEmpty();
  }

  @Test
  void theNumberOfTheJobAttemptIsInTheLayout() throws Exception {
    job.conf.setInt("mapreduce.job.application.attempt.id", 2);

    assertThat(job.committer(0, 0).getWorkPath().toString())
        .contains(HadoopJobHarness.JOB_DIRECTORY + "/02/tasks/");
  }

  @Test
  void theMarkerOfAnEarlierJobGoesAtSetup() throws Exception {
    job.write("_SUCCESS", "");
    job.setupJob();

    assertThat(job.exists("_SUCCESS")).isFalse();
  }

  @Test
  void theJobIdIsSparksWhereThereIsOne() throws Exception {
    job.conf.set("spark.sql.sources.writeJobUUID", "0b6c1f4e-9a55-4f0e-8d1e-1f0c1b6a7d21");
    job.setupJob();
    assertThat(job.exists("_temporary/manifest_0b6c1f4e-9a55-4f0e-8d1e-1f0c1b6a7d21")).isTrue();
    job.runTask(0, 0, Map.of("part-0", "a"));
    job.commitJob();

    SuccessReport report = job.report();
    assertThat(report.jobId()).isEqualTo("0b6c1f4e-9a55-4f0e-8d1e-1f0c1b6a7d21");
    assertThat(report.toJson()).asString().contains("\"spark.sql.sources.writeJobUUID\"");
  }

  @Test
  void aJobIdThatLeadsElsewhereIsRefused() {
    job.conf.set("spark.sql.sources.writeJobUUID", "../../other");

    assertThatThrownBy(() -> job.committer(0, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("../../other");
  }

  @ParameterizedTest
  @CsvSource({
    "mapreduce.manifest.committer.io.threads, 'none'",
    "mapreduce.manifest.committer.io.thread, mapreduce.manifest.committer.io.threads"
  })
  void aWrongOptionIsRefusedBeforeAnythingIsWritten(String key, String told) {
    job.conf.set(key, "none");

    assertThatThrownBy(job::setupJob)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(key, told);
    assertThat(directory).isEmptyDirectory();
  }

  @ParameterizedTest
  @CsvSource({
    "s3a://bucket/t, org.apache.hadoop.fs.s3a.commit.S3ACommitterFactory",
    "wasb://c@a.blob.core.windows.net/t, abfs://"
  })
  void aStoreThatIsNotServedIsRefusedWithWhatToUse(String path, String advice) {
    job.conf.set(
        PathOutputCommitterFactory.COMMITTER_FACTORY_CLASS,
        ManifestCommitterFactory.class.getName());

    assertThatThrownBy(
            () -> PathOutputCommitterFactory.createCommitter(new Path(path), job.context(0, 0)))
        .isInstanceOf(UnsupportedStoreException.class)
        .hasMessageContainingAll(path, advice);
  }
}
