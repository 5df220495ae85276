// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.watch;

import com.codahale.metrics.MetricRegistry;
import io.manifestcommitter.progress.CommitListener;
import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.progress.CommitSnapshot;
import java.util.Optional;
import org.apache.spark.SparkContext;
import org.apache.spark.metrics.MetricsSystem;
import org.apache.spark.metrics.source.Source;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;

/** Hands the commits of this JVM on to the Spark application that it drives. */
final class SparkDriver implements CommitListener {
  private static final Logger LOG = LoggerFactory.getLogger(SparkDriver.class);

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
}
