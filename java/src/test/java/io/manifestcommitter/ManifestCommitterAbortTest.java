// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.config.CommitterConfig;
import java.io.IOException;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Cleanup after a job, and the abort of one. */
class ManifestCommitterAbortTest extends LocalJobTest {
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void cleanupLeavesOtherJobsAlone(boolean parallel) throws Exception {
    job.conf.setBoolean(CommitterConfig.CLEANUP_PARALLEL_DELETE, parallel);
    String other = "_temporary/manifest_job_202601010000_0008/00/tasks/a/part-0";
    String foreign = "_temporary/0/_temporary/attempt/part-0";
    job.write(other, "of another job");
    job.write(foreign, "of another committer");
    job.run(Map.of("part-0", "a"));

    assertThat(job.text(other)).isEqualTo("of another job");
    assertThat(job.text(foreign)).isEqualTo("of another committer");
    assertThat(job.exists(HadoopJobHarness.JOB_DIRECTORY)).isFalse();
  }

  @Test
  void cleanupCanBeSkipped() throws Exception {
    job.conf.setBoolean(CommitterConfig.CLEANUP_SKIPPED, true);
    job.run(Map.of("part-0", "a"));

    assertThat(job.visible()).isEqualTo(Map.of("part-0", "a"));
    assertThat(job.namesIn(HadoopJobHarness.JOB_DIRECTORY + "/00/manifests")).isNotEmpty();
  }

  @Test
  void aCleanupThatFailsFailsTheJobUnlessThatIsToBeIgnored() throws Exception {
    faults.refuse("delete", path -> path.getName().startsWith("manifest_"));
    job.runTasks(Map.of("part-0", "a"));
    assertThatThrownBy(job::commitJob)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("manifest_" + HadoopJobHarness.JOB_NAME);

    job.conf.setBoolean(CommitterConfig.CLEANUP_FAILURES_IGNORED, true);
    HadoopJobHarness next = job.another(8);
    next.run(Map.of("part-1", "a"));
    assertThat(next.visible()).containsOnlyKeys("part-0", "part-1");
  }

  @Test
  void abortOfAJobThatDidNotCommitLeavesTheTableAsItWas() throws Exception {
    job.write("p=1/earlier", "old");
    job.runTasks(Map.of("part-0", "a", "p=1/part-0", "b"));
    job.setupTask(1, 0);
    job.jobCommitter().abortJob(job.jobContext(), JobStatus.State.KILLED);

    assertThat(job.visible()).isEqualTo(Map.of("p=1/earlier", "old"));
    assertThat(job.namesIn("")).containsExactly("p=1");
  }

  @Test
  void abortBeforeSetupIsHarmless() throws Exception {
    job.jobCommitter().abortJob(job.jobContext(), JobStatus.State.FAILED);

    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void abortAfterASuccessKeepsTheTable() throws Exception {
    job.runTasks(Map.of("part-0", "a"));
    PathOutputCommitter committer = job.jobCommitter();
    committer.commitJob(job.jobContext());
    committer.abortJob(job.jobContext(), JobStatus.State.FAILED);

    assertThat(job.visible()).isEqualTo(Map.of("part-0", "a"));
    assertThat(job.exists("_SUCCESS")).isTrue();
  }

  @Test
  void abortAfterAFailedCommitRollsBackWhatWasPublished() throws Exception {
    job.conf.set(CommitterConfig.IO_THREADS, "1");
    Set<Path> renamed = new HashSet<>();
    job.write("p=1/earlier", "of an earlier job");
    job.setupJob();
    Map<String, String> files = new TreeMap<>();
    for (int i = 0; i < 100; i++) {
      files.put((i % 2 == 0 ? "p=1/part-" : "new/q=1/part-") + i, "new");
    }
    job.runTask(0, 0, files);
    PathOutputCommitter committer = job.jobCommitter();
    faults.refuse(
        "rename",
        destination ->
            !destination.toString().contains("_temporary")
                && (renamed.size() == 50 || !renamed.add(destination)));
    assertThatThrownBy(() -> committer.commitJob(job.jobContext()))
        .hasMessageContaining("Could not publish ");
    assertThat(job.visible()).as("what a failed commit leaves").hasSize(51);

    committer.abortJob(job.jobContext(), JobStatus.State.FAILED);

    assertThat(job.visible()).isEqualTo(Map.of("p=1/earlier", "of an earlier job"));
    assertThat(job.namesIn("")).containsExactly("p=1");
  }

  @Test
  void abortAfterAFailedCommitLeavesWhatOthersAdded() throws Exception {
    job.conf.set(CommitterConfig.IO_THREADS, "1");
    faults.refuse("rename", path -> path.getName().equals("part-1"));
    job.runTasks(Map.of("new/part-0", "a", "other/part-1", "b"));
    PathOutputCommitter committer = job.jobCommitter();
    assertThatThrownBy(() -> committer.commitJob(job.jobContext())).isInstanceOf(IOException.class);
    job.write("new/of-another-job", "stays");

    committer.abortJob(job.jobContext(), JobStatus.State.FAILED);

    assertThat(job.visible()).isEqualTo(Map.of("new/of-another-job", "stays"));
    assertThat(job.exists("other")).isFalse();
  }

  /** Without a manifest nobody can tell what it had published: the job's directory has to stay. */
  @Test
  void abortWithoutAManifestOfAFailedCommitSaysSo() throws Exception {
    PathOutputCommitter committer = committerThatFailedAtPart1();
    job.files.write(job.manifestOf(0), new byte[0]);
    assertThatThrownBy(() -> committer.commitJob(job.jobContext())).isInstanceOf(IOException.class);

    assertThatThrownBy(() -> committer.abortJob(job.jobContext(), JobStatus.State.FAILED))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(job.path(HadoopJobHarness.JOB_DIRECTORY).toString());
    assertThat(job.exists(job.manifestOf(0))).isTrue();
  }

  @Test
  void abortAfterAFailedValidationNamesTheFileItCannotRollBackPublished() throws Exception {
    job.conf.setBoolean(CommitterConfig.VALIDATE_OUTPUT, true);
    job.runTasks(Map.of("part-0", "as committed"));
    job.write(job.workDirectory(0, 0) + "/part-0", "changed since");
    PathOutputCommitter committer = job.jobCommitter();
    assertThatThrownBy(() -> committer.commitJob(job.jobContext()))
        .hasMessageContaining("The published file ");

    assertThatThrownBy(() -> committer.abortJob(job.jobContext(), JobStatus.State.FAILED))
        .satisfies(
            e ->
                assertThat(e.getSuppressed())
                    .anySatisfy(s -> assertThat(s).hasMessageContaining("part-0")));
  }
}
