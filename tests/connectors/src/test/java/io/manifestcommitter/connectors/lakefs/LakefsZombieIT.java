// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors.lakefs;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.connectors.lakefs.LakeJob.Kind;
import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.testing.Failures;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Attempts and drivers that others gave up on, and that go on. */
@Execution(ExecutionMode.CONCURRENT)
class LakefsZombieIT {
  private static final Duration SHORT = Duration.ofSeconds(1);

  /** An attempt links its files before each request of the job commit, and after the last. */
  @ParameterizedTest
  @EnumSource(names = {"APPEND", "STATIC", "DYNAMIC", "PARTITION", "HELD", "ONCE"})
  void attemptsThatLinkLate(Kind kind) throws Exception {
    int at = 1;
    boolean isHeld = true;
    while (isHeld) {
      isHeld = linksLate(kind, at);
      at++;
    }
    assertThat(at).isGreaterThan(5);
  }

  private static boolean linksLate(Kind kind, int at) throws Exception {
    ExecutorService driver = Executors.newSingleThreadExecutor();
    try (Lake lake = Lake.with(LakeJob.OLD)) {
      LakeJob job = new LakeJob(lake, kind).setUp().runTasks();
      LakeJob.Written late = job.write(0, 1);
      // Another number: without a Spark, attempts of one number share a directory.
      LakeJob.Written tooLate = job.write(1, 2);
      FaultRule held = job.door.faults().add(FaultRule.on(FaultRule.ANY).call(at).hold());
      Future<?> commit = driver.submit(job::commit);
      boolean isHeld = Waiting.until(held, commit);
      String first = Failures.of(late.attempt::commitApproved);
      held.release();
      commit.get();

      String second = Failures.of(tooLate.attempt::commitApproved);

      if (kind.isHeld()) {
        assertThat(lake.contents()).isEqualTo(LakeJob.OLD);
        String errors = lake.end(lake.door(), job.id, "publish").toString();
        assertThat(errors).isEqualTo("[]");
      } else {
        assertThat(second).as("linked to a branch that is gone").isNotEmpty();
        assertThat(lake.jobBranches()).isEmpty();
      }
      assertThat(lake.contents())
          .as("held at %s, late: %s", at, first)
          .isEqualTo(job.after(LakeJob.OLD));
      assertThat(lake.dirt()).isEmpty();
      return isHeld;
    } finally {
      driver.shutdownNow();
    }
  }

  /** Its branch is deleted while it commits: nothing of it can be merged any more. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aDriverThatIsRecoveredWhileItLives(boolean complete) throws Exception {
    int at = 1;
    boolean isHeld = true;
    while (isHeld) {
      ExecutorService driver = Executors.newSingleThreadExecutor();
      try (Lake lake = Lake.with(LakeJob.OLD)) {
        LakeJob job = new LakeJob(lake, Kind.STATIC).setUp().runTasks();
        FaultRule held = job.door.faults().add(FaultRule.on(FaultRule.ANY).call(at).hold());
        Future<?> commit = driver.submit(job::commit);
        isHeld = Waiting.until(held, commit);
        String answer = lake.recover(lake.door(), complete).toString();
        boolean isCompleted = job.isVisible();
        assertThat(lake.contents())
            .as("held at %s: %s", at, answer)
            .isEqualTo(isCompleted ? job.after(LakeJob.OLD) : LakeJob.OLD);
        held.release();
        String failure = Waiting.ended(commit);

        assertThat(job.isVisible()).as("%s, at %s: %s", answer, at, failure).isEqualTo(isCompleted);
        if (isHeld && !isCompleted) {
          assertThat(failure).as("the driver at %s, after %s", at, answer).isNotEmpty();
          job.abort();
        }
        assertThat(lake.contents())
            .as("held at %s: %s", at, answer)
            .isEqualTo(isCompleted ? job.after(LakeJob.OLD) : LakeJob.OLD);
        lake.clean(lake.door());
        assertThat(lake.jobBranches()).as("after %s", at).isEmpty();
      } finally {
        driver.shutdownNow();
      }
      at++;
    }
    assertThat(at).isGreaterThan(5);
  }

  /** The server has resolved the branch, which a recovery deletes, and merges afterwards. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aMergeThatLandsAfterItsBranchIsDeleted(boolean isSeen) throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    try (Lake lake = Lake.with(LakeJob.OLD)) {
      LakeJob job = new LakeJob(lake, Kind.APPEND).setUp().runTasks();
      FaultRule merge = lake.server().faults().add(FaultRule.on("merge-resolved").hold());
      Future<?> commit = threads.submit(job::commit);
      assertThat(Waiting.until(merge, commit)).isTrue();
      var recovery = lake.door();
      FaultRule deleted =
          recovery.faults().add(FaultRule.on("branch-delete").times(2).applyThenStall(SHORT));
      if (isSeen) {
        Future<?> recovered = threads.submit(() -> lake.recover(recovery, false).toString());
        deleted.awaitHeld();
        merge.release();
        commit.get();
        assertThat(recovered.get().toString()).contains("\"completed\"");
      } else {
        assertThat(lake.recover(recovery, false).toString()).contains("\"rolled_back\"");
        merge.release();
        commit.get();
      }

      assertThat(lake.contents()).isEqualTo(job.after(LakeJob.OLD));
      assertThat(lake.jobBranches()).isEmpty();
    } finally {
      threads.shutdownNow();
    }
  }
}
