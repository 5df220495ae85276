// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import io.manifestcommitter.jobs.Recovery.Direction;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * How CPU and requests of the Spark protocol grow with the places that a job writes to: of a job
 * commit, of one that fails and is rolled back, and of the recovery of one whose driver died, back
 * and forward. On a store in memory without latency, in one JVM that is warm.
 *
 * <pre>
 * --places 1000,2000,4000,8000
 * </pre>
 *
 * <p>Fails unless the table holds the right data after each.
 */
public final class Growth {
  private static final int WARM_UP = 500;
  private static final int WARM_UPS = 3;

  private int jobs;

  private Growth() {}

  /** Prints a table. */
  public static void main(String[] args) throws IOException {
    // Jobs fail here on purpose.
    System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "off");
    CommandLine options = new CommandLine(args, Map.of("places", "1000,2000,4000,8000"));
    SparkRuntime.start();
    new Growth().run(options.text("places").split(",", -1));
  }

  private void run(String[] counts) throws IOException {
    List<String> columns = new ArrayList<>(List.of("places", "number"));
    for (Story story : Story.ALL) {
      columns.add(story.title + ": CPU, s");
      columns.add("requests");
    }
    MarkdownTable table = new MarkdownTable(columns);
    for (GrowthPlaces places : GrowthPlaces.values()) {
      for (int round = 0; round < WARM_UPS; round++) {
        row(places, WARM_UP);
      }
      for (String count : counts) {
        table.row(row(places, Integer.parseInt(count)));
      }
    }
    System.out.print(table);
  }

  private List<String> row(GrowthPlaces places, int count) throws IOException {
    List<String> cells = new ArrayList<>();
    cells.add(places.title());
    cells.add(String.format(Locale.ROOT, "%,d", count));
    for (Story story : Story.ALL) {
      Measurement cost = measure(places, count, story);
      cells.add(String.format(Locale.ROOT, "%.2f", cost.cpuNanos() / 1e9));
      cells.add(String.format(Locale.ROOT, "%,d", cost.requests().all()));
    }
    return cells;
  }

  private Measurement measure(GrowthPlaces places, int count, Story story) throws IOException {
    String store = "growth-" + jobs++;
    GrowthJob job = new GrowthJob(places, count, store);
    story.before.run(job);
    Measurement cost =
        new TimeMeter(SimulatedStore.named(store))
            .measure(Phase.JOB_COMMIT, () -> story.measured.run(job));
    job.check(story.after);
    SimulatedStore.forget(store);
    return cost;
  }

  /** What happens to a job, and what its table holds then. */
  private static final class Story {
    static final List<Story> ALL =
        List.of(
            new Story("commit", job -> {}, GrowthJob::commit, GrowthData.NEW),
            new Story("failed commit", job -> {}, GrowthJob::rollBack, GrowthData.OLD),
            new Story(
                "recovery, back",
                GrowthJob::die,
                job -> job.recover(Direction.AS_MARKED),
                GrowthData.OLD),
            new Story(
                "recovery, forward",
                GrowthJob::die,
                job -> job.recover(Direction.COMPLETE),
                GrowthData.NEW));

    private final String title;
    private final Action before;
    private final Action measured;
    private final GrowthData after;

    Story(String title, Action before, Action measured, GrowthData after) {
      this.title = title;
      this.before = before;
      this.measured = measured;
      this.after = after;
    }
  }

  /** What is done with a job. */
  private interface Action {
    void run(GrowthJob job) throws IOException;
  }
}
