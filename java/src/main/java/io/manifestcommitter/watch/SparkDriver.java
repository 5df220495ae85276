package io.manifestcommitter.watch;

import io.manifestcommitter.progress.CommitListener;
import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.progress.CommitSnapshot;
import org.apache.spark.SparkContext;
import scala.Option;

/** Hands the commits of this JVM on to the Spark application that it drives. */
final class SparkDriver implements CommitListener {
  private final CommitMetrics metrics = new CommitMetrics();
  private int measured;

  @Override
  public void begun(CommitProgress commit) {
    Option<SparkContext> spark = org.apache.spark.SparkContext$.MODULE$.getActive();
    if (spark.isEmpty()) {
      return;
    }
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
    if (measured != System.identityHashCode(spark)) {
      measured = System.identityHashCode(spark);
      spark.env().metricsSystem().registerSource(metrics);
    }
  }

  @Override
  public String toString() {
    return "What Spark shows of commits";
  }
}
