// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import static io.manifestcommitter.testing.Failures.raise;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.progress.CommitProgress;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.fs.audit.CommonAuditContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AuditTest {
  @BeforeEach
  @AfterEach
  void forget() {
    CommonAuditContext.currentAuditContext().reset();
  }

  @Test
  void aTasksRequestsTellJobAttemptAndStage() throws Exception {
    Audit.task("job7", "attempt3")
        .during(
            "task_stage_commit",
            () ->
                assertThat(told())
                    .isEqualTo(Map.of("ji", "job7", "tai", "attempt3", "st", "task_stage_commit")));

    assertThat(told()).isEmpty();
  }

  @Test
  void whatWasToldBeforeIsToldAgainAfterwards() {
    CommonAuditContext.currentAuditContext().put("ji", "of the caller");
    CommonAuditContext.currentAuditContext().put("other", "stays");

    assertThatThrownBy(
            () ->
                Audit.task("job7", "attempt3")
                    .during("task_stage_setup", () -> raise(new IOException("setup failed"))))
        .hasMessage("setup failed");

    assertThat(told()).isEqualTo(Map.of("ji", "of the caller"));
    assertThat(CommonAuditContext.currentAuditContext().get("other")).isEqualTo("stays");
  }

  @Test
  void everyHelperThreadTellsJobAndStage() throws Exception {
    Workers workers = new Workers(3, () -> {}, Audit.job("job7"), CommitProgress.unwatched());
    Set<Map<String, String>> seen = ConcurrentHashMap.newKeySet();
    workers.shield(
        () -> {
          workers.step("job_stage_rename_files");
          seen.add(told());
          workers.forEach(List.of(1, 2, 3), item -> seen.add(told()));
          assertThat(seen).containsExactly(Map.of("ji", "job7", "st", "job_stage_rename_files"));
          workers.step("job_stage_cleanup");
          workers.forEach(List.of(1, 2, 3), item -> seen.add(told()));
        });

    assertThat(seen)
        .containsExactlyInAnyOrder(
            Map.of("ji", "job7", "st", "job_stage_rename_files"),
            Map.of("ji", "job7", "st", "job_stage_cleanup"));
    assertThat(told()).as("the caller's thread").isEmpty();
  }

  private static Map<String, String> told() {
    Map<String, String> told = new TreeMap<>();
    for (String key : List.of("ji", "tai", "st")) {
      String value = CommonAuditContext.currentAuditContext().get(key);
      if (value != null) {
        told.put(key, value);
      }
    }
    return told;
  }
}
