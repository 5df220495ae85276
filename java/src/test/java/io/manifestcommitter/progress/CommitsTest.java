// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.progress;

import static io.manifestcommitter.testing.Failures.raise;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.progress.CommitSnapshot.Kind;
import io.manifestcommitter.progress.CommitSnapshot.State;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CommitsTest {
  private final String jobId = UUID.randomUUID().toString();
  private final StatisticsRecorder statistics = new StatisticsRecorder();
  private final List<String> heard = new ArrayList<>();
  private final Commits.Listener listener =
      new Commits.Listener() {
        @Override
        public void begun(CommitProgress commit) {
          heard.add("begun " + commit.jobId);
          throw new IllegalStateException("a listener's defect harms no commit");
        }

        @Override
        public void ended(CommitSnapshot commit) {
          heard.add("ended " + commit.jobId + " " + commit.state);
        }
      };

  @AfterEach
  void forget() {
    Commits.remove(listener);
  }

  @Test
  void aCommitIsSeenUntilItEnds() throws IOException {
    Commits.add(listener);
    CommitProgress progress =
        Commits.begin(
            Kind.COMMIT, StatisticNames.JOB_STAGE_PLAN, jobId, "abfs://c@a/t", statistics);
    assertThat(heard).containsExactly("begun " + jobId);
    progress.enter(StatisticNames.JOB_STAGE_RENAME_FILES);
    statistics.count(StatisticNames.OP_RENAME, 7);
    statistics.count(StatisticNames.OP_LIST_STATUS, 2);
    statistics.count(StatisticNames.STORE_IO_THROTTLED, 3);
    try (CommitProgress.Work few = progress.count(2);
        CommitProgress.Work many = progress.count(100)) {
      few.tick();
      many.tick();
      many.tick();
      CommitSnapshot snapshot = running();
      assertThat(snapshot.state).isEqualTo(State.RUNNING);
      assertThat(snapshot.step).isEqualTo("job_stage_rename_files");
      assertThat(snapshot.done).isEqualTo(2);
      assertThat(snapshot.total).isEqualTo(100);
      assertThat(snapshot.perSecond).isPositive();
      assertThat(snapshot.secondsLeft()).isNotNull();
      assertThat(snapshot.requests()).isEqualTo(9);
    }
    assertThat(running().total).isZero();
    assertThat(running().secondsLeft()).isNull();

    progress.end(State.COMMITTED);
    progress.end(State.FAILED);

    assertThat(heard).containsExactly("begun " + jobId, "ended " + jobId + " COMMITTED");
    assertThat(Commits.running()).noneMatch(commit -> commit.jobId.equals(jobId));
    List<Map<String, Object>> ended = Commits.ofAllClassLoaders();
    assertThat(ended.get(ended.size() - 1)).containsEntry("jobId", jobId);
  }

  @Test
  void whatIsWaitedForIsSeenWhileItIs() {
    CommitProgress progress =
        Commits.begin(Kind.SETUP, StatisticNames.JOB_STAGE_PLAN, jobId, "abfs://c@a/t", statistics);
    progress.waits(new CommitProgress.Waiting("other", "which replaces p=3"));
    assertThat(running().waiting.map(CommitProgress.Waiting::toString))
        .hasValue("waiting for job other, which replaces p=3");
    progress.goesOn();
    assertThat(running().waiting).isEmpty();
    progress.end(State.COMMITTED);
    assertThat(Commits.ofAllClassLoaders()).noneMatch(end -> end.get("jobId").equals(jobId));
  }

  @Test
  void aCommitIsCancelledOnceAndNotTooLate() throws IOException {
    CommitProgress progress = begin(Kind.COMMIT);
    progress.requireNotCancelled();
    assertThat(Commits.cancel("another " + jobId)).isFalse();
    progress.requireNotCancelled();
    assertThat(Commits.cancel(jobId)).isTrue();
    assertThatThrownBy(progress::requireNotCancelled)
        .isInstanceOf(InterruptedIOException.class)
        .hasMessage("The commit was cancelled");
    assertThatThrownBy(progress::passCancel).isInstanceOf(InterruptedIOException.class);
    assertThat(Commits.cancel(jobId)).as("that it fails stays true").isTrue();
    progress.end(State.FAILED);
    assertThat(Commits.cancel(jobId)).isFalse();

    CommitProgress late = begin(Kind.COMMIT);
    late.passCancel();
    assertThat(Commits.cancel(jobId)).isFalse();
    late.requireNotCancelled();
    late.end(State.COMMITTED);
  }

  @Test
  void aRecoveryIsNotCancelled() throws IOException {
    CommitProgress progress = begin(Kind.RECOVERY);
    progress.cancelWhen(() -> true);
    assertThat(Commits.cancel(jobId)).isFalse();
    progress.requireNotCancelled();
    progress.end(State.ROLLED_BACK);
  }

  private CommitProgress begin(Kind kind) {
    return Commits.begin(kind, StatisticNames.JOB_STAGE_PLAN, jobId, "file:/t", statistics);
  }

  @Test
  void stepsAreRememberedAlsoIfTheyFail() throws IOException {
    CommitProgress progress = CommitProgress.unwatched();
    StatisticsRecorder recorder = new StatisticsRecorder();
    String plan = "job_stage_plan";
    assertThat((int) recorder.time(plan, () -> 5, progress.begins(plan))).isEqualTo(5);
    String rename = "job_stage_rename_files";
    assertThatThrownBy(
            () ->
                recorder.time(
                    rename, () -> raise(new IOException("refused")), progress.begins(rename)))
        .isInstanceOf(IOException.class);
    assertThat(progress.steps())
        .extracting(step -> step.get("name"))
        .containsExactly("plan", "rename_files");
  }

  @Test
  void aLineOfTheLogSaysHowFarHowFastAndHowLong() {
    CommitProgress progress = CommitProgress.unwatched();
    progress.enter("job_stage_rename_files");
    assertThat(progress.count(1_000_000).line(250_000, TimeUnit.SECONDS.toNanos(100)))
        .isEqualTo(
            "job_stage_rename_files: 250,000 of 1,000,000, 2,500 a second, about 300 s left");
  }

  @Test
  void onlySoManyThatEndedAreRemembered() {
    for (int i = 0; i < 2 * Commits.REMEMBERED; i++) {
      Commits.begin(Kind.COMMIT, StatisticNames.JOB_STAGE_PLAN, jobId + i, "file:/t", statistics)
          .end(State.COMMITTED);
    }
    List<Map<String, Object>> ended = Commits.ofAllClassLoaders();
    ended.removeIf(commit -> commit.get("state").equals("running"));
    assertThat(ended).hasSize(Commits.REMEMBERED);
    assertThat(ended.get(0)).containsEntry("jobId", jobId + Commits.REMEMBERED);
  }

  /** As on a Spark Connect server, which has these classes once for each session. */
  @Test
  void commitsOfOtherClassLoadersAreSeen() throws Exception {
    URL own = Commits.class.getProtectionDomain().getCodeSource().getLocation();
    try (URLClassLoader other =
        new URLClassLoader(new URL[] {own}, CommitsTest.class.getClassLoader()) {
          @Override
          protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            boolean isOwn = name.startsWith("io.manifestcommitter.progress.");
            Class<?> loaded = isOwn ? findLoadedClass(name) : null;
            return !isOwn
                ? super.loadClass(name, resolve)
                : loaded != null ? loaded : findClass(name);
          }
        }) {
      Class<?> kinds = other.loadClass(Kind.class.getName());
      Object commit =
          other
              .loadClass(Commits.class.getName())
              .getMethod(
                  "begin",
                  kinds,
                  String.class,
                  String.class,
                  String.class,
                  StatisticsRecorder.class)
              .invoke(null, kinds.getEnumConstants()[1], "plan", jobId, "file:/t", statistics);
      assertThat(commit).isNotInstanceOf(CommitProgress.class);
      assertThat(shared()).containsEntry("state", "running").containsEntry("kind", "commit");
      assertThat(Commits.cancel(jobId)).isTrue();
      assertThatThrownBy(() -> commit.getClass().getMethod("requireNotCancelled").invoke(commit))
          .hasRootCauseMessage("The commit was cancelled");
      Class<?> states = other.loadClass(State.class.getName());
      commit.getClass().getMethod("end", states).invoke(commit, states.getEnumConstants()[1]);
    }
    assertThat(shared()).containsEntry("state", "committed").containsEntry("table", "file:/t");
    assertThat(Commits.runningInAllClassLoaders())
        .noneMatch(commit -> commit.get("jobId").equals(jobId));
  }

  private Map<String, Object> shared() {
    return Commits.ofAllClassLoaders().stream()
        .filter(commit -> commit.get("jobId").equals(jobId))
        .findFirst()
        .orElseThrow();
  }

  private CommitSnapshot running() {
    return Commits.running().stream()
        .filter(commit -> commit.jobId.equals(jobId))
        .findFirst()
        .orElseThrow();
  }
}
