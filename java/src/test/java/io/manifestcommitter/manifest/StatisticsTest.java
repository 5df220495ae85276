// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import static io.manifestcommitter.testing.Failures.raise;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileNotFoundException;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;
import org.apache.hadoop.fs.statistics.MeanStatistic;
import org.junit.jupiter.api.Test;

class StatisticsTest {
  @Test
  void entriesThatSayNothingAreNotThere() {
    IOStatisticsSnapshot statistics =
        StatisticsRecorder.telling(
            Manifests.statistics(
                Map.of("a", 0L, "b", 1L),
                Map.of("g", 0L),
                Map.of("a.min", -1L, "b.min", 0L),
                Map.of("a.max", -1L, "b.max", 0L),
                Map.of("a.mean", new MeanStatistic(0, 0), "b.mean", new MeanStatistic(1, 0))));

    assertThat(statistics.counters()).containsOnlyKeys("b");
    assertThat(statistics.gauges()).isEmpty();
    assertThat(statistics.minimums()).containsOnlyKeys("b.min");
    assertThat(statistics.maximums()).containsOnlyKeys("b.max");
    assertThat(statistics.meanStatistics()).containsOnlyKeys("b.mean");
  }

  @Test
  void anActionThatReturnsIsCountedAndTimed() throws Exception {
    StatisticsRecorder recorder = new StatisticsRecorder();

    assertThat(recorder.<String>time("op", () -> "result")).isEqualTo("result");
    recorder.time(
        "op",
        () -> {
          recorder.increment("inside");
          return "";
        });

    IOStatisticsSnapshot statistics = recorder.snapshot();
    assertThat(statistics.counters()).containsOnly(Map.entry("op", 2L), Map.entry("inside", 1L));
    assertThat(statistics.meanStatistics().get("op.mean").getSamples()).isEqualTo(2);
    assertThat(statistics.minimums()).containsOnlyKeys("op.min");
    assertThat(statistics.maximums()).containsOnlyKeys("op.max");
  }

  @Test
  void anActionThatThrowsIsCountedAsAFailureToo() {
    StatisticsRecorder recorder = new StatisticsRecorder();
    FileNotFoundException thrown = new FileNotFoundException("f");

    assertThatThrownBy(() -> recorder.time("op", () -> raise(thrown))).isSameAs(thrown);
    assertThatThrownBy(() -> recorder.time("op", () -> raise(new IllegalStateException("s"))))
        .isInstanceOf(IllegalStateException.class);

    IOStatisticsSnapshot statistics = recorder.snapshot();
    assertThat(statistics.counters())
        .containsOnly(Map.entry("op", 2L), Map.entry("op.failures", 2L));
    assertThat(statistics.meanStatistics()).containsOnlyKeys("op.failures.mean");
    assertThat(statistics.minimums()).containsOnlyKeys("op.failures.min");
  }

  @Test
  void samplesAreKept() {
    StatisticsRecorder recorder = new StatisticsRecorder();
    recorder.sample("size", 5);
    recorder.sample("size", 1);
    recorder.count("bytes", 3);

    IOStatisticsSnapshot statistics = recorder.snapshot();
    assertThat(statistics.counters()).containsExactly(Map.entry("bytes", 3L));
    assertThat(statistics.minimums()).containsExactly(Map.entry("size.min", 1L));
    assertThat(statistics.maximums()).containsExactly(Map.entry("size.max", 5L));
    assertThat(statistics.meanStatistics())
        .containsExactly(Map.entry("size.mean", new MeanStatistic(2, 6)));
  }

  @Test
  void nothingIsLostBetweenThreads() throws Exception {
    StatisticsRecorder recorder = new StatisticsRecorder();
    IntStream.range(0, 8000)
        .parallel()
        .forEach(
            n -> {
              recorder.increment("n");
              recorder.sample("s", n % 1000);
            });

    IOStatisticsSnapshot statistics = recorder.snapshot();
    assertThat(statistics.counters()).containsEntry("n", 8000L);
    assertThat(statistics.meanStatistics())
        .containsEntry("s.mean", new MeanStatistic(8000, 8 * 999 * 500L));
    assertThat(statistics.minimums()).containsEntry("s.min", 0L);
    assertThat(statistics.maximums()).containsEntry("s.max", 999L);
  }
}
