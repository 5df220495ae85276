// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.watch;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.progress.CommitProgress.Waiting;
import io.manifestcommitter.progress.CommitSnapshot;
import io.manifestcommitter.progress.CommitSnapshot.Kind;
import io.manifestcommitter.progress.CommitSnapshot.State;
import io.manifestcommitter.progress.Commits;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ConsoleBarTest {
  private final CommitProgress commit =
      Commits.begin(
          Kind.COMMIT,
          StatisticNames.JOB_STAGE_PLAN,
          "1b2c",
          "abfs://c@a/t",
          new StatisticsRecorder());

  @AfterEach
  void end() {
    commit.end(State.FAILED);
  }

  @Test
  void aLineTellsTheStepAndHowFarItIs() {
    commit.enter(StatisticNames.JOB_STAGE_RENAME_FILES);
    try (CommitProgress.Work work = commit.count(100_000)) {
      for (int i = 0; i < 25_000; i++) {
        work.tick();
      }
      String line = line(100);
      assertThat(line)
          .hasSize(99)
          .matches(
              "\\[Commit: rename files =+> +\\(25,000 / 100,000\\) [\\d,]+/s, [\\d,]+ s left]");
      int bar = (int) line.chars().filter(c -> c == '=').count();
      int room = line.indexOf(" (25") - line.indexOf('=');
      assertThat(bar).isEqualTo(room / 4);
      assertThat(line(40)).hasSizeLessThan(40).startsWith("[Commit: rename files (25,000");
    }
  }

  @Test
  void aLineTellsWhatIsWaitedFor() {
    commit.enter(StatisticNames.JOB_STAGE_LOCK_PLACES);
    assertThat(line(80)).isEqualTo("[Commit: lock places]");
    commit.waits(new Waiting("77aa", "which replaces p=3"));
    assertThat(line(80)).isEqualTo("[Commit: waiting for job 77aa, which replaces p=3]");
    assertThat(ConsoleBar.line(List.of(commit.snapshot(), commit.snapshot()), 80))
        .isEqualTo("[Commit: waiting for job 77aa, which replaces p=3] +1");
    CommitProgress setup =
        Commits.begin(
            Kind.SETUP,
            StatisticNames.JOB_STAGE_PLAN,
            "1b2c",
            "abfs://c@a/t",
            new StatisticsRecorder());
    assertThat(ConsoleBar.line(List.of(setup.snapshot()), 80))
        .isEqualTo("[Setup: looking for unfinished jobs]");
    setup.end(State.COMMITTED);
  }

  @Test
  void nothingIsLeftOfItOnTheConsole() throws Exception {
    ByteArrayOutputStream console = new ByteArrayOutputStream();
    boolean[] stagesRun = {false};
    ConsoleBar bar =
        new ConsoleBar(
            new PrintStream(console, true, StandardCharsets.UTF_8), () -> stagesRun[0], 80);
    commit.enter(StatisticNames.JOB_STAGE_SEAL_OUTPUT);
    bar.draw(List.of(commit.snapshot()));
    assertThat(console.toString(StandardCharsets.UTF_8)).as("a short one").isEmpty();

    CommitSnapshot longer = after(500);
    bar.draw(List.of(longer));
    assertThat(screen(console)).isEqualTo("[Commit: seal output]");
    stagesRun[0] = true;
    bar.draw(List.of(longer));
    assertThat(screen(console)).as("while Spark shows its own").isBlank();
    stagesRun[0] = false;
    bar.draw(List.of(longer));
    bar.clear();
    assertThat(screen(console)).isBlank();
  }

  private CommitSnapshot after(long millis) throws InterruptedException {
    CommitSnapshot snapshot = commit.snapshot();
    while (snapshot.millis < millis) {
      TimeUnit.MILLISECONDS.sleep(10);
      snapshot = commit.snapshot();
    }
    return snapshot;
  }

  private String line(int width) {
    return ConsoleBar.line(List.of(commit.snapshot()), width);
  }

  /** What a terminal shows: each carriage return goes to the start of the line. */
  private static String screen(ByteArrayOutputStream console) {
    StringBuilder line = new StringBuilder();
    for (String part : console.toString(StandardCharsets.UTF_8).split("\r", -1)) {
      line.replace(0, Math.min(part.length(), line.length()), part);
    }
    return line.toString().stripTrailing();
  }
}
