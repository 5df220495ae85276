// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.TaskManifest;
import java.util.Map;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.junit.jupiter.api.Test;

/** Tasks of the Hadoop protocol: what of them is committed. */
class ManifestCommitterTaskTest extends LocalJobTest {
  @Test
  void taskCommitSavesAManifestAndPublishesNothing() throws Exception {
    job.setupJob();
    job.runTask(3, 0, Map.of("f", "1", "p=1/q=2/g", "four"));

    String task = "task_202601010000_0007_m_000003";
    assertThat(job.visible()).isEmpty();
    assertThat(job.namesIn(HadoopJobHarness.JOB_DIRECTORY + "/00/manifests"))
        .containsExactly(task + "-manifest.json");
    TaskManifest manifest = job.manifest(3);
    String work = job.workDirectory(3, 0);
    assertThat(manifest.jobId).isEqualTo(HadoopJobHarness.JOB_NAME);
    assertThat(manifest.jobAttemptNumber).isZero();
    assertThat(manifest.taskId).isEqualTo(task);
    assertThat(manifest.taskAttemptId).isEqualTo("attempt_202601010000_0007_m_000003_0");
    assertThat(manifest.taskAttemptDirectory).isEqualTo(job.path(work));
    assertThat(manifest.files)
        .extracting(FileEntry::source, FileEntry::destination, FileEntry::size)
        .containsExactlyInAnyOrder(
            tuple(job.path(work + "/f"), job.path("f"), 1L),
            tuple(job.path(work + "/p=1/q=2/g"), job.path("p=1/q=2/g"), 4L));
    assertThat(manifest.directories)
        .extracting(directory -> directory.path, directory -> directory.level)
        .containsExactlyInAnyOrder(tuple(job.path("p=1"), 1), tuple(job.path("p=1/q=2"), 2));
  }

  @Test
  void aTaskWithoutFilesNeedsACommitToo() throws Exception {
    assertThat(job.committer(0, 0).needsTaskCommit(job.context(0, 0))).isTrue();
  }

  @Test
  void anEmptyDirectoryOfATaskIsMade() throws Exception {
    job.setupJob();
    PathOutputCommitter task = job.setupTask(0, 0);
    job.files.mkdirs(job.workDirectory(0, 0) + "/empty/below");
    task.commitTask(job.context(0, 0));
    job.commitJob();

    assertThat(job.files.directories()).contains("empty/below");
    assertThat(job.namesIn("empty/below")).isEmpty();
  }

  @Test
  void theSecondAttemptOfATaskReplacesTheFirst() throws Exception {
    job.runTasks(Map.of("part-0-of-attempt-0", "first"));
    job.runTask(0, 1, Map.of("part-0-of-attempt-1", "second"));
    job.commitJob();

    assertThat(job.visible()).isEqualTo(Map.of("part-0-of-attempt-1", "second"));
    assertThat(job.report().statistics().counters())
        .containsEntry(StatisticNames.COMMITTER_TASKS_COMPLETED, 1L);
  }

  @Test
  void anAttemptThatDidNotCommitIsNotPublished() throws Exception {
    job.runTasks(Map.of("part-0", "done"));
    job.setupTask(1, 0);
    job.write(job.workDirectory(1, 0) + "/part-1", "never committed");
    job.commitJob();

    assertThat(job.visible()).isEqualTo(Map.of("part-0", "done"));
  }

  @Test
  void anAbortedAttemptIsNotPublishedAndLeavesNothing() throws Exception {
    job.runTasks(Map.of("part-0", "done"));
    PathOutputCommitter task = job.setupTask(1, 0);
    job.write(job.workDirectory(1, 0) + "/part-1", "aborted");
    task.abortTask(job.context(1, 0));
    task.abortTask(job.context(1, 0));

    assertThat(job.exists(job.workDirectory(1, 0))).isFalse();
    job.commitJob();
    assertThat(job.visible()).isEqualTo(Map.of("part-0", "done"));
  }

  @Test
  void theJobsCommitterAbortsTheAttemptThatItIsToldOf() throws Exception {
    job.setupJob();
    job.setupTask(0, 0);
    job.setupTask(1, 0);
    job.write(job.workDirectory(0, 0) + "/part-0", "a");
    job.write(job.workDirectory(1, 0) + "/part-1", "b");

    job.jobCommitter().abortTask(job.context(1, 0));

    assertThat(job.exists(job.workDirectory(1, 0))).isFalse();
    job.jobCommitter().commitTask(job.context(0, 0));
    job.commitJob();
    assertThat(job.visible()).isEqualTo(Map.of("part-0", "a"));
  }

  @Test
  void oneCommitterCommitsEachAttemptUnderItsOwnName() throws Exception {
    job.setupJob();
    PathOutputCommitter one = job.jobCommitter();
    for (int task = 0; task < 2; task++) {
      one.setupTask(job.context(task, 0));
      job.write(job.workDirectory(task, 0) + "/part-" + task, "x");
      one.commitTask(job.context(task, 0));
    }
    job.commitJob();
    assertThat(job.visible()).containsOnlyKeys("part-0", "part-1");
  }

  @Test
  void aTemporaryManifestIsNotCommitted() throws Exception {
    job.runTasks(Map.of("part-0", "a"));
    job.write(
        HadoopJobHarness.JOB_DIRECTORY
            + "/00/manifests/attempt_202601010000_0007_m_000001_0-manifest.json.tmp",
        "cut sho");
    job.commitJob();

    assertThat(job.visible()).isEqualTo(Map.of("part-0", "a"));
  }
}
