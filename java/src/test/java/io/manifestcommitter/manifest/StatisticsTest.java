// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileNotFoundException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

class StatisticsTest {
  @Test
  void entriesThatSayNothingAreNotThere() {
    Statistics statistics =
        new Statistics(
            Map.of("a", 0L, "b", 1L),
            Map.of("g", 0L),
            Map.of("a.min", -1L, "b.min", 0L),
            Map.of("a.max", -1L, "b.max", 0L),
            Map.of("a.mean", new Statistics.Mean(0, 0), "b.mean", new Statistics.Mean(1, 0)));

    assertThat(statistics.counters()).containsOnlyKeys("b");
    assertThat(statistics.gauges()).isEmpty();
    assertThat(statistics.minimums()).containsOnlyKeys("b.min");
    assertThat(statistics.maximums()).containsOnlyKeys("b.max");
    assertThat(statistics.means()).containsOnlyKeys("b.mean");
    assertThat(statistics.isEmpty()).isFalse();
    assertThat(Statistics.empty().isEmpty()).isTrue();
  }

  @Test
  void groupsAreSortedAndCannotBeChanged() {
    Statistics statistics =
        new Statistics(Map.of("b", 1L, "a", 1L, "c", 1L), Map.of(), Map.of(), Map.of(), Map.of());

    assertThat(statistics.counters().keySet()).containsExactly("a", "b", "c");
    assertThatThrownBy(() -> statistics.counters().put("d", 1L))
        .isInstanceOf(UnsupportedOperationException.class);
  }

  @Test
  void anActionThatReturnsIsCountedAndTimed() throws Exception {
    StatisticsRecorder recorder = new StatisticsRecorder();

    assertThat(recorder.<String>time("op", () -> "result")).isEqualTo("result");
    recorder.timeVoid("op", () -> recorder.increment("inside"));

    Statistics statistics = recorder.snapshot();
    assertThat(statistics.counters()).containsOnly(Map.entry("op", 2L), Map.entry("inside", 1L));
    assertThat(statistics.means().get("op.mean").samples()).isEqualTo(2);
    assertThat(statistics.minimums()).containsOnlyKeys("op.min");
    assertThat(statistics.maximums()).containsOnlyKeys("op.max");
  }

  @Test
  void anActionThatThrowsIsCountedAsAFailureToo() {
    StatisticsRecorder recorder = new StatisticsRecorder();
    FileNotFoundException thrown = new FileNotFoundException("f");

    assertThatThrownBy(
            () ->
                recorder.timeVoid(
                    "op",
                    () -> {
                      throw thrown;
                    }))
        .isSameAs(thrown);
    assertThatThrownBy(
            () ->
                recorder.time(
                    "op",
                    () -> {
                      throw new IllegalStateException("s");
                    }))
        .isInstanceOf(IllegalStateException.class);

    Statistics statistics = recorder.snapshot();
    assertThat(statistics.counters())
        .containsOnly(Map.entry("op", 2L), Map.entry("op.failures", 2L));
    assertThat(statistics.means()).containsOnlyKeys("op.failures.mean");
    assertThat(statistics.minimums()).containsOnlyKeys("op.failures.min");
  }

  @Test
  void samplesAreKept() {
    StatisticsRecorder recorder = new StatisticsRecorder();
    recorder.sample("size", 5);
    recorder.sample("size", 1);
    recorder.count("bytes", 3);

    assertThat(recorder.snapshot())
        .isEqualTo(
            new Statistics(
                Map.of("bytes", 3L),
                Map.of(),
                Map.of("size.min", 1L),
                Map.of("size.max", 5L),
                Map.of("size.mean", new Statistics.Mean(2, 6))));
  }

  @Test
  void nothingIsLostBetweenThreads() throws Exception {
    StatisticsRecorder recorder = new StatisticsRecorder();
    ExecutorService pool = Executors.newFixedThreadPool(8);
    try {
      List<Callable<Void>> work = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        work.add(
            () -> {
              for (int n = 0; n < 1000; n++) {
                recorder.increment("n");
                recorder.sample("s", n);
              }
              return null;
            });
      }
      for (var done : pool.invokeAll(work)) {
        done.get();
      }
    } finally {
      pool.shutdown();
    }

    Statistics statistics = recorder.snapshot();
    assertThat(statistics.counters()).containsEntry("n", 8000L);
    assertThat(statistics.means())
        .containsEntry("s.mean", new Statistics.Mean(8000, 8 * 999 * 500L));
    assertThat(statistics.minimums()).containsEntry("s.min", 0L);
    assertThat(statistics.maximums()).containsEntry("s.max", 999L);
  }
}
