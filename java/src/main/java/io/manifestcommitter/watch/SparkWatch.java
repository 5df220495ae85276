// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.watch;

import io.manifestcommitter.progress.Commits;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The door of this package. Names no class of Spark, so that it can be called where there is none,
 * as in MapReduce.
 */
public final class SparkWatch {
  private static final Logger LOG = LoggerFactory.getLogger(SparkWatch.class);
  private static final String SPARK = "org.apache.spark.SparkContext";
  private static final AtomicBoolean INSTALLED = new AtomicBoolean();

  private SparkWatch() {}

  /** From here on Spark shows commits; called as often as one likes. Nothing where Spark is not. */
  public static void install() {
    if (INSTALLED.compareAndSet(false, true)) {
      ask(
          () -> {
            Commits.add(new SparkDriver());
            return true;
          },
          false);
    }
  }

  /**
   * Why the job of Spark failed that this thread ran, on one line. Empty where Spark does not tell,
   * or where it may have been another job.
   *
   * @param since when the thread's work began, by the wall clock
   */
  public static Optional<String> failure(long since) {
    return ask(() -> SparkDriver.failure(since), Optional.empty());
  }

  /**
   * Where Spark shows the commits of the application that this JVM drives, always in the same
   * order. Nothing is changed by asking.
   *
   * @return by name ({@code console}, {@code metrics}, {@code events}) whether it is {@code shown}
   *     there, and {@code how}: where exactly, or why not. Empty where no application runs
   */
  public static Map<String, Object> places() {
    // A reference to the method would load the class out here.
    return ask(() -> SparkDriver.places(), Map.of());
  }

  private static <T> T ask(Callable<T> spark, T otherwise) {
    try {
      Class.forName(SPARK);
      return spark.call();
    } catch (Exception | Error e) {
      // Scala declares no interrupt.
      if (e.getClass() == InterruptedException.class) {
        Thread.currentThread().interrupt();
      }
      LOG.debug("There is no Spark here, or it does not answer", e);
      return otherwise;
    }
  }
}
