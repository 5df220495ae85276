// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.throttle;

import io.manifestcommitter.emulator.AbfsEmulator;
import io.manifestcommitter.emulator.Emulator;
import io.manifestcommitter.emulator.GcsEmulator;
import io.manifestcommitter.throttle.ThrottledCommit.Second;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The benchmark of throttling: a job commit of 2,000 renames on an account that serves 100 requests
 * a second. Prints the requests of each second, and the rate that the committer settles at.
 */
public final class Throttle {
  private static final int TASKS = 20;
  private static final int LIMIT = 100;
  private static final double SETTLED_FROM = 0.3;
  private static final double SETTLED_TO = 0.9;
  private static final Duration LATENCY = Duration.ofMillis(10);

  /** As hadoop-azure retries by itself, Hadoop 3.3.4. */
  private static final Map<String, String> ABFS =
      Map.of(
          "fs.azure.io.retry.max.retries", "30",
          "fs.azure.io.retry.min.backoff.interval", "3000",
          "fs.azure.io.retry.max.backoff.interval", "30000",
          "fs.azure.io.retry.backoff.interval", "3000");

  /** As Google's connector does. */
  private static final Map<String, String> GCS =
      Map.of(
          "fs.gs.http.max.retry", "10",
          "fs.gs.status.parallel.enable", "false",
          "fs.gs.implicit.dir.repair.enable", "false");

  private Throttle() {}

  /** Runs it for the stores that are named, abfs and gs by default. */
  public static void main(String[] args) throws Exception {
    List<String> stores = args.length == 0 ? List.of("abfs", "gs") : List.of(args);
    for (String store : stores) {
      switch (store) {
        case "abfs":
          try (Emulator abfs = AbfsEmulator.start()) {
            run(store, abfs, ABFS);
          }
          break;
        case "gs":
          try (Emulator gcs = GcsEmulator.start()) {
            run(store, gcs, GCS);
          }
          break;
        default:
          throw new IllegalArgumentException("abfs or gs, not " + store);
      }
    }
    // Drivers have threads that would keep the JVM alive.
    System.exit(0);
  }

  private static void run(String store, Emulator emulator, Map<String, String> settings)
      throws Exception {
    ThrottledCommit job = new ThrottledCommit(emulator, TASKS, settings);
    job.prepare();
    emulator.latency(LATENCY);
    List<Second> seconds = job.commit(LIMIT);
    print(store, seconds, job.missing().size());
  }

  private static void print(String store, List<Second> seconds, int missing) {
    PrintStream out = System.out;
    out.printf(Locale.ROOT, "%n%s: %d requests a second are served%n", store, LIMIT);
    out.println("| second | served | refused |");
    out.println("|---:|---:|---:|");
    Second before = new Second(0, 0);
    for (int i = 0; i < seconds.size(); i++) {
      Second now = seconds.get(i);
      out.printf(
          Locale.ROOT,
          "| %d | %d | %d |%n",
          i + 1,
          now.served() - before.served(),
          now.refused() - before.refused());
      before = now;
    }
    // Before, the limit is not known yet; after, a few requests wait inside their driver.
    int from = second(seconds, SETTLED_FROM * before.served());
    int to = second(seconds, SETTLED_TO * before.served());
    double settled = (seconds.get(to).served() - seconds.get(from).served()) / (double) (to - from);
    double refused = 100.0 * before.refused() / (before.served() + before.refused());
    out.printf(
        Locale.ROOT,
        "From second %d to %d, %.1f a second were served (%.0f %% of the limit); in all %d of %d"
            + " requests were refused (%.1f %%); %d files are missing.%n",
        from + 2,
        to + 1,
        settled,
        100 * settled / LIMIT,
        before.refused(),
        before.served() + before.refused(),
        refused,
        missing);
  }

  /** In which second so many requests had been served. */
  private static int second(List<Second> seconds, double served) {
    int number = 0;
    while (seconds.get(number).served() < served) {
      number++;
    }
    return number;
  }
}
