// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.watch;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.progress.CommitSnapshot;
import io.manifestcommitter.progress.Commits;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.apache.spark.JobExecutionStatus;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkJobInfo;
import org.apache.spark.SparkStageInfo;
import org.apache.spark.SparkStatusTracker;
import org.apache.spark.metrics.MetricsSystem;
import org.apache.spark.metrics.source.Source;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;

/** Hands the commits of this JVM on to the Spark application that it drives, and tells where. */
final class SparkDriver implements Commits.Listener {
  private static final Logger LOG = LoggerFactory.getLogger(SparkDriver.class);

  /** How long a job that failed waits for what Spark says of it. */
  private static final long PATIENCE_MILLIS = 2_000;

  private static final String PROGRESS_BAR = "spark.ui.showConsoleProgress";
  private static final String EVENT_LOG = "spark.eventLog.enabled";

  private volatile CommitMetrics metrics = new CommitMetrics();
  private int measured;

  @Override
  public void begun(CommitProgress commit) {
    Option<SparkContext> spark = org.apache.spark.SparkContext$.MODULE$.getActive();
    if (spark.isEmpty()) {
      return;
    }
    commit.cancelWhen(spark.get()::isStopped);
    measure(spark.get());
    if (spark.get().progressBar().isDefined()) {
      ConsoleBar.show(spark.get());
    }
  }

  @Override
  public void ended(CommitSnapshot commit) {
    if (commit.kind == CommitSnapshot.Kind.SETUP) {
      return;
    }
    metrics.count(commit);
    active().ifPresent(spark -> spark.listenerBus().post(new CommitEvent(commit)));
  }

  /** Each application has a metrics system of its own. */
  private synchronized void measure(SparkContext spark) {
    if (measured == System.identityHashCode(spark)) {
      return;
    }
    measured = System.identityHashCode(spark);
    MetricsSystem system = spark.env().metricsSystem();
    Optional<MetricRegistry> existing = registered(system);
    if (existing.isPresent()) {
      metrics = new CommitMetrics(existing.get());
    } else {
      metrics = new CommitMetrics();
      system.registerSource(metrics);
    }
  }

  /**
   * The metrics that this class has registered in another class loader. By reflection: what the
   * method returns is another class in each version of Scala.
   */
  static Optional<MetricRegistry> registered(MetricsSystem system) {
    try {
      Object found =
          MetricsSystem.class
              .getMethod("getSourcesByName", String.class)
              .invoke(system, CommitMetrics.NAME);
      if ((boolean) found.getClass().getMethod("isEmpty").invoke(found)) {
        return Optional.empty();
      }
      Object first = found.getClass().getMethod("head").invoke(found);
      return Optional.of(((Source) first).metricRegistry());
    } catch (ReflectiveOperationException e) {
      LOG.debug("Spark does not list its sources of metrics", e);
      return Optional.empty();
    }
  }

  @Override
  public String toString() {
    return "What Spark shows of commits";
  }

  private static Optional<SparkContext> active() {
    Option<SparkContext> spark = org.apache.spark.SparkContext$.MODULE$.getActive();
    return spark.isDefined() && !spark.get().isStopped()
        ? Optional.of(spark.get())
        : Optional.empty();
  }

  /** For {@link SparkWatch#failure}. */
  static Optional<String> failure(long since) throws TimeoutException {
    Optional<SparkContext> active = active();
    if (!active.isPresent() || Thread.currentThread().isInterrupted()) {
      return Optional.empty();
    }
    SparkContext spark = active.get();
    // Spark's status follows its events.
    spark.listenerBus().waitUntilEmpty(PATIENCE_MILLIS);
    SparkStatusTracker tracker = spark.statusTracker();
    Set<String> failures = new HashSet<>();
    for (int id : tracker.getJobIdsForGroup(spark.getLocalProperty("spark.jobGroup.id"))) {
      Option<SparkJobInfo> job = tracker.getJobInfo(id);
      if (job.isDefined() && job.get().status() == JobExecutionStatus.FAILED) {
        for (int stage : job.get().stageIds()) {
          Option<SparkStageInfo> begun = tracker.getStageInfo(stage);
          if (begun.isDefined() && begun.get().submissionTime() >= since) {
            Option<String> reason = spark.statusStore().lastStageAttempt(stage).failureReason();
            if (reason.isDefined()) {
              failures.add(onOneLine(reason.get()));
            }
          }
        }
      }
    }
    return failures.stream().filter(only -> failures.size() == 1).findAny();
  }

  /** What a trace says first, and what its innermost cause says. */
  private static String onOneLine(String trace) {
    int cause = trace.lastIndexOf("Caused by: ");
    return message(trace.replaceFirst("^Job aborted due to .*, most recent failure: ", ""))
        + (cause < 0 ? "" : ". " + message(trace.substring(cause)));
  }

  /** The first line of a message, and its last: there a trace of Python names the error. */
  private static String message(String trace) {
    return trace
        .replaceFirst("(?s)\n(\tat |Driver stacktrace:).*", "")
        .replaceFirst("\\s*SQLSTATE: \\w+\\s*$", "")
        .strip()
        .replaceFirst("(?s)\n(.*\n)?\\s*", " … ");
  }

  /** For {@link SparkWatch#places}. */
  static Map<String, Object> places() {
    Map<String, Object> places = new LinkedHashMap<>();
    active()
        .ifPresent(
            spark -> {
              places.put("console", place(() -> console(spark)));
              places.put("metrics", place(() -> metrics(spark)));
              places.put("events", place(() -> events(spark)));
            });
    return places;
  }

  /** A part of Spark that cannot be reached, as from another class loader, is absent. */
  static Map<String, Object> place(Supplier<Map<String, Object>> look) {
    try {
      return look.get();
    } catch (RuntimeException | LinkageError e) {
      return place(false, "Spark's part cannot be reached (" + e + ")");
    }
  }

  private static Map<String, Object> place(boolean isShown, String how) {
    return Map.of("shown", isShown, "how", how);
  }

  private static Map<String, Object> console(SparkContext spark) {
    return spark.progressBar().isDefined()
        ? place(true, "beside Spark's stage bar on the driver's standard error")
        : place(false, "Spark shows no stage bar: " + PROGRESS_BAR + " is not true");
  }

  private static Map<String, Object> metrics(SparkContext spark) {
    // That the class can be made and that Spark tells its sources is what the source itself needs.
    String source = "the source " + new CommitMetrics().sourceName() + " in every sink";
    boolean isThere = registered(spark.env().metricsSystem()).isPresent();
    return place(true, isThere ? source : source + ", from the first commit on");
  }

  private static Map<String, Object> events(SparkContext spark) {
    return place(
        true,
        CommitEvent.class.getName()
            + (spark.conf().getBoolean(EVENT_LOG, false)
                ? " to Spark's listeners and in the event log"
                : " to Spark's listeners; there is no event log: " + EVENT_LOG + " is not true"));
  }

  /**
   * The commits of this driver in Spark's metrics system, as {@code
   * <application>.driver.ManifestCommitter.<name>}. Counters only grow: {@code commits}, {@code
   * commits.failed}, {@code recoveries}, {@code recoveries.failed}, {@code files}, {@code bytes},
   * {@code milliseconds}, {@code throttled}, {@code requests}, and {@code requests.<kind>} with the
   * names in {@link StatisticsRecorder#REQUESTS}. Gauges tell of now: {@code running} commits, and
   * {@code files.done} of {@code files.total} in their steps.
   */
  static final class CommitMetrics implements Source {
    static final String NAME = "ManifestCommitter";

    private static final List<String> COUNTERS =
        List.of(
            "commits",
            "commits.failed",
            "recoveries",
            "recoveries.failed",
            "files",
            "bytes",
            "milliseconds",
            "throttled",
            "requests");

    private final MetricRegistry registry;

    CommitMetrics() {
      this(new MetricRegistry());
      gauge("running", commit -> 1);
      gauge("files.done", commit -> (long) commit.get("done"));
      gauge("files.total", commit -> (long) commit.get("total"));
      for (String counter : COUNTERS) {
        registry.counter(counter);
      }
      StatisticsRecorder.REQUESTS.forEach(kind -> registry.counter("requests." + kind));
    }

    /** Goes on with metrics that there are, of this class in another class loader. */
    CommitMetrics(MetricRegistry existing) {
      registry = existing;
    }

    private void gauge(String name, ToLongFunction<Map<String, Object>> value) {
      registry.register(
          name,
          (Gauge<Long>) () -> Commits.runningInAllClassLoaders().stream().mapToLong(value).sum());
    }

    @Override
    public String sourceName() {
      return NAME;
    }

    @Override
    public MetricRegistry metricRegistry() {
      return registry;
    }

    void count(CommitSnapshot commit) {
      String what = commit.kind == CommitSnapshot.Kind.RECOVERY ? "recoveries" : "commits";
      boolean hasFailed = commit.state == CommitSnapshot.State.FAILED;
      add(hasFailed ? what + ".failed" : what, 1);
      if (commit.state == CommitSnapshot.State.COMMITTED) {
        add("files", commit.counter(StatisticNames.COMMITTER_FILES_COMMITTED));
        add("bytes", commit.counter(StatisticNames.COMMITTER_BYTES_COMMITTED));
      }
      add("milliseconds", commit.millis);
      add("throttled", commit.counter(StatisticNames.STORE_IO_THROTTLED));
      add("requests", commit.requests());
      StatisticsRecorder.REQUESTS.forEach(kind -> add("requests." + kind, commit.counter(kind)));
    }

    private void add(String counter, long by) {
      registry.counter(counter).inc(by);
    }
  }
}
