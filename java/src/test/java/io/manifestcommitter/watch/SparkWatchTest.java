// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.watch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.codahale.metrics.MetricRegistry;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.progress.CommitSnapshot;
import io.manifestcommitter.progress.CommitSnapshot.Kind;
import io.manifestcommitter.progress.CommitSnapshot.State;
import io.manifestcommitter.progress.Commits;
import io.manifestcommitter.watch.SparkDriver.CommitMetrics;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.ReplayListenerBus;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.util.JsonProtocol;
import org.junit.jupiter.api.Test;

class SparkWatchTest {
  private final StatisticsRecorder statistics = new StatisticsRecorder();

  @Test
  void metricsTellOfNowAndOfAllSoFar() {
    MetricRegistry metrics = new CommitMetrics().metricRegistry();
    CommitProgress commit =
        Commits.begin(Kind.COMMIT, StatisticNames.JOB_STAGE_PLAN, "metrics", "file:/t", statistics);
    try (CommitProgress.Work work = commit.count(10)) {
      work.tick();
      assertThat(metrics.getGauges().get("files.done").getValue()).isEqualTo(1L);
      assertThat(metrics.getGauges().get("files.total").getValue()).isEqualTo(10L);
      assertThat(metrics.getGauges().get("running").getValue()).isEqualTo(1L);
    }
    commit.end(State.COMMITTED);
    assertThat(metrics.getGauges().get("running").getValue()).isEqualTo(0L);
  }

  @Test
  void countersAddUpByKindAndOutcome() {
    CommitMetrics metrics = new CommitMetrics();
    statistics.count(StatisticNames.COMMITTER_FILES_COMMITTED, 5);
    statistics.count(StatisticNames.OP_RENAME, 6);
    metrics.count(ended(Kind.COMMIT, State.COMMITTED));
    metrics.count(ended(Kind.COMMIT, State.FAILED));
    metrics.count(ended(Kind.RECOVERY, State.ROLLED_BACK));
    assertThat(counter(metrics, "commits")).isEqualTo(1);
    assertThat(counter(metrics, "commits.failed")).isEqualTo(1);
    assertThat(counter(metrics, "recoveries")).isEqualTo(1);
    assertThat(counter(metrics, "files")).as("of the one that committed").isEqualTo(5);
    assertThat(counter(metrics, "requests")).isEqualTo(18);
    assertThat(counter(metrics, "requests.op_rename")).isEqualTo(18);
  }

  @Test
  void anEventGetsThroughSparksEventLog() throws Exception {
    statistics.count(StatisticNames.COMMITTER_FILES_COMMITTED, 5);
    statistics.count(StatisticNames.OP_RENAME, 6);
    CommitEvent event = new CommitEvent(ended(Kind.COMMIT, State.COMMITTED));
    assertThat(event.logEvent()).isTrue();
    String json = JsonProtocol.sparkEventToJsonString(event);
    JsonNode fields = new ObjectMapper().readTree(json);
    assertThat(fields.get("Event").asText()).isEqualTo(CommitEvent.class.getName());
    assertThat(fields.get("state").asText()).isEqualTo("committed");
    assertThat(fields.get("counters").get("op_rename").asLong()).isEqualTo(6);
    CommitEvent read = (CommitEvent) JsonProtocol.sparkEventFromJson(json);
    assertThat(read.fields())
        .containsEntry("jobId", "job")
        .containsEntry("table", "file:/t")
        .containsEntry("files", 5)
        .containsEntry("requests", 6);
    // Spark reads an object that it does not know as a map of Scala's.
    assertThat(read.fields().get("counters"))
        .hasToString("Map(committer_files_committed -> 5, op_rename -> 6)");
  }

  /** As a History Server has it that does not have our jar. */
  @Test
  void whoDoesNotKnowTheEventSkipsIt() throws Exception {
    String known = JsonProtocol.sparkEventToJsonString(new SparkListenerApplicationEnd(7));
    String unknown =
        JsonProtocol.sparkEventToJsonString(new CommitEvent(ended(Kind.COMMIT, State.COMMITTED)))
            .replace(CommitEvent.class.getName(), "nobody.knows.CommitEvent");
    List<Long> ends = new ArrayList<>();
    ReplayListenerBus bus = new ReplayListenerBus();
    bus.addListener(
        new SparkListener() {
          @Override
          public void onApplicationEnd(SparkListenerApplicationEnd end) {
            ends.add(end.time());
          }
        });
    byte[] log = (unknown + "\n" + known + "\n").getBytes(StandardCharsets.UTF_8);
    assertThat(
            bus.replay(
                new ByteArrayInputStream(log), "log", false, ReplayListenerBus.SELECT_ALL_FILTER()))
        .isTrue();
    assertThat(ends).containsExactly(7L);
  }

  @Test
  void anApplicationHearsOfItsCommits() throws Exception {
    SparkContext spark = started("watched");
    try {
      List<CommitEvent> heard = new ArrayList<>();
      spark.addSparkListener(
          new SparkListener() {
            @Override
            public void onOtherEvent(SparkListenerEvent event) {
              if (event instanceof CommitEvent) {
                heard.add((CommitEvent) event);
              }
            }
          });
      SparkWatch.install();
      SparkWatch.install();
      ended(Kind.SETUP, State.COMMITTED);
      ended(Kind.COMMIT, State.FAILED);
      spark.listenerBus().waitUntilEmpty();
      assertThat(heard)
          .singleElement()
          .satisfies(event -> assertThat(event.fields()).containsEntry("state", "failed"));
      assertThat(spark.env().metricsSystem().getSourcesByName("ManifestCommitter").size())
          .isEqualTo(1);
    } finally {
      spark.stop();
    }
    assertThat(SparkWatch.places()).as("no application runs").isEmpty();
    // The next application has a metrics system of its own; without one, nothing is told.
    assertThat(ended(Kind.COMMIT, State.COMMITTED).state).isEqualTo(State.COMMITTED);
  }

  @Test
  void whatCommitsWhileItsApplicationStopsIsCancelled() throws IOException {
    SparkContext spark = started("stopped");
    SparkWatch.install();
    CommitProgress commit = begun(Kind.COMMIT);
    CommitProgress past = begun(Kind.COMMIT);
    CommitProgress recovery = begun(Kind.RECOVERY);
    try {
      commit.requireNotCancelled();
      past.passCancel();
    } finally {
      spark.stop();
    }
    assertThatThrownBy(commit::requireNotCancelled).isInstanceOf(InterruptedIOException.class);
    assertThatThrownBy(commit::passCancel).isInstanceOf(InterruptedIOException.class);
    recovery.requireNotCancelled();
    commit.end(State.FAILED);
    past.end(State.COMMITTED);
    recovery.end(State.COMMITTED);
  }

  @Test
  void placesAreToldWithTheSettingThatOpensThem() {
    SparkContext spark = started("places");
    try {
      assertThat(SparkWatch.places())
          .containsExactly(
              place(
                  "console",
                  false,
                  "Spark shows no stage bar: spark.ui.showConsoleProgress is not true"),
              place(
                  "metrics",
                  true,
                  "the source ManifestCommitter in every sink, from the first commit on"),
              place(
                  "events",
                  true,
                  "io.manifestcommitter.watch.CommitEvent to Spark's listeners; there is no event"
                      + " log: spark.eventLog.enabled is not true"));
      assertThat(spark.env().metricsSystem().getSourcesByName("ManifestCommitter").isEmpty())
          .as("to ask registers nothing")
          .isTrue();
    } finally {
      spark.stop();
    }
  }

  /** As from a class loader that does not have it. */
  @Test
  void aPartOfSparkThatCannotBeReachedIsAbsent() {
    assertThat(
            SparkDriver.place(
                () -> {
                  throw new NoClassDefFoundError("com/codahale/metrics/Gauge");
                }))
        .containsEntry("shown", false)
        .containsEntry(
            "how",
            "Spark's part cannot be reached"
                + " (java.lang.NoClassDefFoundError: com/codahale/metrics/Gauge)");
  }

  private static Map.Entry<String, Object> place(String name, boolean isShown, String how) {
    return Map.entry(name, Map.of("shown", isShown, "how", how));
  }

  /** As in MapReduce. */
  @Test
  void withoutSparkNothingIsShown() throws Exception {
    URL own = SparkWatch.class.getProtectionDomain().getCodeSource().getLocation();
    ClassLoader noSpark =
        new ClassLoader(SparkWatchTest.class.getClassLoader()) {
          @Override
          protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.startsWith("org.apache.spark.")
                || name.startsWith("scala.")
                || name.startsWith("com.codahale.")
                || name.startsWith("io.manifestcommitter.")) {
              throw new ClassNotFoundException(name);
            }
            return super.loadClass(name, resolve);
          }
        };
    try (URLClassLoader loader = new URLClassLoader(new URL[] {own}, noSpark)) {
      Class<?> door = loader.loadClass(SparkWatch.class.getName());
      door.getMethod("install").invoke(null);
      assertThat(door.getMethod("places").invoke(null)).isEqualTo(Map.of());
    }
  }

  private static SparkContext started(String name) {
    SparkConf conf = new SparkConf().setMaster("local[1]").setAppName(name);
    return new SparkContext(
        conf.set("spark.ui.enabled", "false").set("spark.driver.host", "127.0.0.1"));
  }

  private CommitSnapshot ended(Kind kind, State state) {
    CommitProgress commit = begun(kind);
    commit.end(state);
    return commit.snapshot();
  }

  private CommitProgress begun(Kind kind) {
    return Commits.begin(kind, StatisticNames.JOB_STAGE_PLAN, "job", "file:/t", statistics);
  }

  private static long counter(CommitMetrics metrics, String name) {
    return metrics.metricRegistry().getCounters().get(name).getCount();
  }
}
