// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.throttle;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.emulator.AbfsEmulator;
import io.manifestcommitter.emulator.Emulator;
import io.manifestcommitter.emulator.GcsEmulator;
import io.manifestcommitter.emulator.RequestLog;
import io.manifestcommitter.manifest.SuccessReport;
import java.util.Map;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A job commit of 800 renames on an account that serves far fewer requests than are asked for. How
 * its rate settles is measured by {@link Throttle}.
 */
class ThrottledCommitIT {
  private static final int TASKS = 8;
  private static final int ALL = TASKS * ThrottledCommit.FILES;

  /** Hadoop keeps filesystems by their URI, which all emulators of a kind share. */
  @BeforeEach
  @AfterEach
  void forgetFileSystems() throws Exception {
    FileSystem.closeAll();
  }

  /** Its driver gives up on a refused request soon, so that the committer has to go on asking. */
  @Test
  void azureAnswers503() throws Exception {
    try (Emulator abfs = AbfsEmulator.start()) {
      commitsAll(new ThrottledCommit(abfs, TASKS, Map.of()), abfs, 100);
    }
  }

  /** A rename takes Google's connector five requests or more. */
  @Test
  void googleAnswers429() throws Exception {
    try (Emulator gcs = GcsEmulator.start()) {
      commitsAll(
          new ThrottledCommit(gcs, TASKS, Map.of("fs.gs.implicit.dir.repair.enable", "false")),
          gcs,
          500);
    }
  }

  private static void commitsAll(ThrottledCommit job, Emulator emulator, int perSecond)
      throws Exception {
    job.prepare();
    job.commit(perSecond);

    assertThat(emulator.log().entries()).anyMatch(RequestLog.Entry::refusedByLimit);
    assertThat(job.missing()).isEmpty();
    SuccessReport report = job.report();
    assertThat(report.success()).isTrue();
    assertThat(report.statistics().counters())
        .containsEntry("committer_files_committed", (long) ALL)
        .hasEntrySatisfying("store_io_throttled", refused -> assertThat(refused).isPositive());
  }
}
