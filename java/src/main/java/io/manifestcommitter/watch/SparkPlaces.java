// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.watch;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import scala.Option;

/** Where Spark shows the commits of the application that this JVM drives. Changes nothing there. */
final class SparkPlaces {
  private static final String PROGRESS_BAR = "spark.ui.showConsoleProgress";
  private static final String EVENT_LOG = "spark.eventLog.enabled";

  private final SparkContext spark;

  private SparkPlaces(SparkContext spark) {
    this.spark = spark;
  }

  /** All of them, always in the same order; none where no application runs. */
  static List<SparkPlace> ofApplication() {
    Option<SparkContext> active = org.apache.spark.SparkContext$.MODULE$.getActive();
    if (active.isEmpty() || active.get().isStopped()) {
      return List.of();
    }
    SparkPlaces places = new SparkPlaces(active.get());
    List<SparkPlace> all = new ArrayList<>();
    all.add(place("console", places::console));
    all.add(place("metrics", places::metrics));
    all.add(place("events", places::events));
    return all;
  }

  /** A part of Spark that cannot be reached, as from another class loader, is absent. */
  static SparkPlace place(String name, Supplier<SparkPlace> look) {
    try {
      return look.get();
    } catch (RuntimeException | LinkageError e) {
      return new SparkPlace(name, false, "Spark's part cannot be reached (" + e + ")");
    }
  }

  private SparkPlace console() {
    boolean isShown = spark.progressBar().isDefined();
    return new SparkPlace(
        "console",
        isShown,
        isShown
            ? "beside Spark's stage bar on the driver's standard error"
            : "Spark shows no stage bar: " + PROGRESS_BAR + " is not true");
  }

  private SparkPlace metrics() {
    // That the class can be made and that Spark tells its sources is what the source itself needs.
    CommitMetrics made = new CommitMetrics();
    boolean isThere = SparkDriver.registered(spark.env().metricsSystem()).isPresent();
    return new SparkPlace(
        "metrics",
        true,
        "the source "
            + made.sourceName()
            + (isThere ? " in every sink" : " in every sink, from the first commit on"));
  }

  private SparkPlace events() {
    String event = CommitEvent.class.getName();
    boolean isLogged = spark.conf().getBoolean(EVENT_LOG, false);
    return new SparkPlace(
        "events",
        true,
        event
            + (isLogged
                ? " to Spark's listeners and in the event log"
                : " to Spark's listeners; there is no event log: " + EVENT_LOG + " is not true"));
  }
}
