// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors.lakefs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.connectors.lakefs.LakeJob.Kind;
import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.testing.Failures;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a repository refuses, loses or does not answer, and what comes of it. */
class LakefsRefusalsIT {
  private static final Map<String, String> DIRT = Map.of("p=1/by-hand", "x");

  @ParameterizedTest
  @EnumSource(names = {"APPEND", "STATIC", "DYNAMIC", "ONCE"})
  void aProtectedBranchTakesMerges(Kind kind) throws Exception {
    try (Lake lake = Lake.with(LakeJob.OLD)) {
      lake.server().protect("lake", "main");
      lake.server().advance(Duration.ofMinutes(1));

      LakeJob job = new LakeJob(lake, kind).run();

      assertThat(lake.contents()).isEqualTo(job.after(LakeJob.OLD));
    }
  }

  /** Refused before any task runs. */
  @Test
  void whatIsNotCommittedIsCommittedFirst() throws Exception {
    try (Lake lake = Lake.with(LakeJob.OLD)) {
      lake.write(DIRT);
      LakeJob job = new LakeJob(lake, Kind.APPEND);

      assertThatThrownBy(job::setUp).hasMessageContaining("commit");
      assertThat(lake.jobBranches()).isEmpty();

      lake.commitMain();
      LakeJob again = new LakeJob(lake, Kind.APPEND).run();
      assertThat(again.isVisible()).isTrue();
    }
  }

  /** The merge is refused: the commit is kept, and merged once the branch is clean. */
  @Test
  void whatIsWrittenMeanwhileIsCommittedFirst() throws Exception {
    try (Lake lake = Lake.with(LakeJob.OLD)) {
      LakeJob job = new LakeJob(lake, Kind.APPEND).setUp().runTasks();
      lake.write(DIRT);

      assertThatThrownBy(job::commit).hasMessageContaining("recover");
      job.abort();
      assertThat(job.isVisible()).isFalse();
      lake.commitMain();
      lake.recover(lake.door(), /* complete= */ true);

      assertThat(lake.sizes()).containsKeys("p=1/by-hand");
      assertThat(job.isVisible()).isTrue();
      assertThat(lake.sizes().keySet()).containsAll(job.rows().keySet());
      assertThat(lake.jobBranches()).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"APPEND", "STATIC"})
  void aHookThatRefuses(Kind kind) throws Exception {
    try (Lake lake = Lake.with(LakeJob.OLD)) {
      LakeJob job = new LakeJob(lake, kind).setUp().runTasks();
      job.door.faults().add(FaultRule.on("merge").always().refuse(412));

      String failure = Failures.of(job::commit);
      job.abort();

      assertThat(failure).contains("hook", "recover");
      assertThat(lake.contents()).isEqualTo(LakeJob.OLD);
      assertThat(lake.jobBranches()).as("kept for a recovery").isNotEmpty();
      lake.recover(lake.door(), /* complete= */ true);
      assertThat(lake.contents()).isEqualTo(job.after(LakeJob.OLD));
      assertThat(lake.jobBranches()).isEmpty();
    }
  }

  /** The merge is done, and neither it nor a look afterwards is answered. */
  @Test
  void aMergeOfWhichNothingIsKnownKeepsTheBranch() throws Exception {
    try (Lake lake = Lake.with(LakeJob.OLD)) {
      LakeJob job = new LakeJob(lake, Kind.APPEND).setUp().runTasks();
      job.door.faults().add(FaultRule.on("merge").applyThenDrop());
      FaultRule look = job.door.faults().add(FaultRule.on("merge-base").always().refuse(500));

      assertThat(Failures.of(job::commit)).contains("did not say", "recover");
      job.abort();

      assertThat(look.applied()).isPositive();
      assertThat(job.isVisible()).isTrue();
      assertThat(lake.jobBranches()).as("by which recovery knows it").isNotEmpty();
    }
  }

  /** The hook of a commit refuses: nothing is kept. */
  @Test
  void aHookThatRefusesTheCommit() throws Exception {
    try (Lake lake = Lake.with(LakeJob.OLD)) {
      LakeJob job = new LakeJob(lake, Kind.APPEND).setUp().runTasks();
      job.door.faults().add(FaultRule.on("commit").always().refuse(412));

      assertThat(Failures.of(job::commit)).contains("hook");
      job.abort();

      assertThat(lake.contents()).isEqualTo(LakeJob.OLD);
      assertThat(lake.jobBranches()).isEmpty();
    }
  }

  /** What the tasks said that they wrote has to be in the commit. */
  @Test
  void aFileThatIsGoneFailsTheCommit() throws Exception {
    try (Lake lake = Lake.with(LakeJob.OLD)) {
      LakeJob job = new LakeJob(lake, Kind.APPEND).setUp().runTasks();
      lake.deleteFromJobs(job.rows().firstKey());

      assertThat(Failures.of(job::commit)).contains("that it should", "Run the job again");
      job.abort();

      assertThat(lake.contents()).isEqualTo(LakeJob.OLD);
      assertThat(lake.jobBranches()).isEmpty();
    }
  }

  /** It was done, and a look tells so. */
  @ParameterizedTest
  @ValueSource(strings = {"branch-create", "commit", "merge"})
  void anAnswerThatIsLostIsNoFailure(String request) throws Exception {
    try (Lake lake = Lake.with(LakeJob.OLD)) {
      LakeJob job = new LakeJob(lake, Kind.STATIC);
      FaultRule lost = job.door.faults().add(FaultRule.on(request).applyThenDrop());

      job.run();

      assertThat(lost.applied()).isPositive();
      assertThat(lake.contents()).isEqualTo(job.after(LakeJob.OLD));
      assertThat(lake.jobBranches()).isEmpty();
    }
  }
}
