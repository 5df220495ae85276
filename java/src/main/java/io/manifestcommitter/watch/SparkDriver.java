// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.watch;

import com.codahale.metrics.MetricRegistry;
import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.progress.CommitSnapshot;
import io.manifestcommitter.progress.Commits;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import org.apache.spark.metrics.MetricsSystem;
import org.apache.spark.metrics.source.Source;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;

/** Hands the commits of this JVM on to the Spark application that it drives, and tells where. */
final class SparkDriver implements Commits.Listener {
  private static final Logger LOG = LoggerFactory.getLogger(SparkDriver.class);

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
    if (commit.kind() == CommitSnapshot.Kind.SETUP) {
      return;
    }
    metrics.count(commit);
    Option<SparkContext> spark = org.apache.spark.SparkContext$.MODULE$.getActive();
    if (spark.isDefined() && !spark.get().isStopped()) {
      spark.get().listenerBus().post(new CommitEvent(commit));
    }
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

  /**
   * Where Spark shows the commits of the application that this JVM drives, always in the same
   * order; none where no application runs. Changes nothing there.
   */
  static List<SparkPlace> places() {
    Option<SparkContext> active = org.apache.spark.SparkContext$.MODULE$.getActive();
    if (active.isEmpty() || active.get().isStopped()) {
      return List.of();
    }
    SparkContext spark = active.get();
    return List.of(
        place("console", () -> console(spark)),
        place("metrics", () -> metrics(spark)),
        place("events", () -> events(spark)));
  }

  /** A part of Spark that cannot be reached, as from another class loader, is absent. */
  static SparkPlace place(String name, Supplier<SparkPlace> look) {
    try {
      return look.get();
    } catch (RuntimeException | LinkageError e) {
      return new SparkPlace(name, false, "Spark's part cannot be reached (" + e + ")");
    }
  }

  private static SparkPlace console(SparkContext spark) {
    boolean isShown = spark.progressBar().isDefined();
    return new SparkPlace(
        "console",
        isShown,
        isShown
            ? "beside Spark's stage bar on the driver's standard error"
            : "Spark shows no stage bar: " + PROGRESS_BAR + " is not true");
  }

  private static SparkPlace metrics(SparkContext spark) {
    // That the class can be made and that Spark tells its sources is what the source itself needs.
    String source = "the source " + new CommitMetrics().sourceName() + " in every sink";
    boolean isThere = registered(spark.env().metricsSystem()).isPresent();
    return new SparkPlace(
        "metrics", true, isThere ? source : source + ", from the first commit on");
  }

  private static SparkPlace events(SparkContext spark) {
    boolean isLogged = spark.conf().getBoolean(EVENT_LOG, false);
    return new SparkPlace(
        "events",
        true,
        CommitEvent.class.getName()
            + (isLogged
                ? " to Spark's listeners and in the event log"
                : " to Spark's listeners; there is no event log: " + EVENT_LOG + " is not true"));
  }
}
