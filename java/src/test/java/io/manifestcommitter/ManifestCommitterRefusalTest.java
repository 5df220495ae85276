// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.TaskManifest;
import io.manifestcommitter.plan.JobPlan.PlanRejectedException;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Manifests that cannot be trusted, on a local disk: nothing is published. */
class ManifestCommitterRefusalTest extends LocalJobTest {
  /** The path of the second task's manifest. */
  private String manifest;

  @Test
  void aChangedManifestPublishesNothing() throws Exception {
    jobWithTwoTasks();
    String json = job.text(job.manifestOf(1));
    assertThat(json).contains("part-1");
    rewrite(json.replace("part-1", "part-7").getBytes(StandardCharsets.UTF_8));

    assertRefused(CorruptManifestException.class, manifest, "checksum");
  }

  @Test
  void theManifestOfAnotherCommitterPublishesNothing() throws Exception {
    jobWithTwoTasks();
    String json = job.text(job.manifestOf(1));
    assertThat(json).contains(TaskManifest.CHECKSUM_KEY);
    rewrite(
        json.replace(TaskManifest.CHECKSUM_KEY, "some.other.key").getBytes(StandardCharsets.UTF_8));

    assertRefused(CorruptManifestException.class, manifest, "another committer");
  }

  @Test
  void twoTasksThatClaimOneDestinationPublishNothing() throws Exception {
    job.runTasks(
        Map.of("part-0", "a", "same", "of task 0"), Map.of("part-1", "b", "same", "of task 1"));

    assertRefused(
        PlanRejectedException.class,
        job.path(job.workDirectory(0, 0) + "/same").toString(),
        job.path(job.workDirectory(1, 0) + "/same").toString(),
        job.path("same").toString());
  }

  @Test
  void aMissingDirectoryOfManifestsPublishesNothing() throws Exception {
    jobWithTwoTasks();
    String manifests = HadoopJobHarness.JOB_DIRECTORY + "/00/manifests";
    job.files.delete(manifests);

    assertRefused(IOException.class, job.path(manifests).toString());
  }

  @Test
  void anIdentityThatNothingWouldKeepIsRefused() throws Exception {
    job.conf.set(CommitterConfig.COMMIT_ID, "run 1");

    assertThatThrownBy(job::setupJob).hasMessageContainingAll("commit.id is set", "remove it");
    assertThat(new File(directory, "table")).doesNotExist();
  }

  private void jobWithTwoTasks() throws IOException {
    job.runTasks(Map.of("part-0", "a"), Map.of("part-1", "b"));
    manifest = job.path(job.manifestOf(1)).toString();
  }

  /** Replaces the second task's manifest. */
  private void rewrite(byte[] json) throws IOException {
    job.files.write(job.manifestOf(1), json);
  }

  private void assertRefused(Class<? extends Throwable> type, String... names) throws IOException {
    assertThatThrownBy(job::commitJob).isInstanceOf(type).hasMessageContainingAll(names);
    assertThat(job.visible()).isEmpty();
    assertThat(job.namesIn("")).containsExactly("_temporary");
  }
}
