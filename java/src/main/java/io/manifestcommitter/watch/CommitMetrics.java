// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.watch;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.progress.CommitSnapshot;
import io.manifestcommitter.progress.Commits;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.apache.spark.metrics.source.Source;

/**
 * The commits of this driver in Spark's metrics system, as {@code
 * <application>.driver.ManifestCommitter.<name>}. Counters only grow: {@code commits}, {@code
 * commits.failed}, {@code recoveries}, {@code recoveries.failed}, {@code files}, {@code bytes},
 * {@code milliseconds}, {@code throttled}, {@code requests}, and {@code requests.<kind>} with the
 * names in {@link StatisticNames#REQUESTS}. Gauges tell of now: {@code running} commits, and {@code
 * files.done} of {@code files.total} in their steps.
 */
final class CommitMetrics implements Source {
  static final String NAME = "ManifestCommitter";

  private final MetricRegistry registry;

  /** New metrics. */
  CommitMetrics() {
    this(new MetricRegistry());
    gauge("running", commit -> 1);
    gauge("files.done", commit -> (long) commit.get("done"));
    gauge("files.total", commit -> (long) commit.get("total"));
    for (String counter : new String[] {"commits", "recoveries"}) {
      registry.counter(counter);
      registry.counter(counter + ".failed");
    }
    for (String counter :
        new String[] {"files", "bytes", "milliseconds", "throttled", "requests"}) {
      registry.counter(counter);
    }
    StatisticNames.REQUESTS.forEach(kind -> registry.counter("requests." + kind));
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

  /** Counts a commit that has ended. */
  void count(CommitSnapshot commit) {
    String what = commit.kind() == CommitSnapshot.Kind.RECOVERY ? "recoveries" : "commits";
    boolean hasFailed = commit.state() == CommitSnapshot.State.FAILED;
    add(hasFailed ? what + ".failed" : what, 1);
    if (commit.state() == CommitSnapshot.State.COMMITTED) {
      add("files", commit.counter(StatisticNames.COMMITTER_FILES_COMMITTED));
      add("bytes", commit.counter(StatisticNames.COMMITTER_BYTES_COMMITTED));
    }
    add("milliseconds", commit.millis());
    add("throttled", commit.refusals());
    add("requests", commit.requests());
    StatisticNames.REQUESTS.forEach(kind -> add("requests." + kind, commit.counter(kind)));
  }

  private void add(String counter, long by) {
    registry.counter(counter).inc(by);
  }
}
