// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The results of {@link SparkBench} as Markdown. */
final class SparkTables {
  private SparkTables() {}

  /** Requests of each phase; CPU and heap of the driver. */
  static MarkdownTable requests(Map<SparkContender, SparkCosts> all) {
    MarkdownTable table =
        new MarkdownTable(
            List.of(
                "committer",
                "setup",
                "all tasks",
                "job commit",
                "requests in all",
                "CPU of job commit, s",
                "ratio",
                "heap of job commit, MiB"));
    Series yardstick = all.get(SparkContender.OURS).of(Phase.JOB_COMMIT);
    all.forEach(
        (contender, costs) -> {
          Series commit = costs.of(Phase.JOB_COMMIT);
          table.row(
              List.of(
                  name(contender, costs),
                  count(costs.of(Phase.JOB_SETUP).requests().all()),
                  count(costs.of(Phase.TASK_COMMIT).requests().all()),
                  count(commit.requests().all()),
                  count(costs.whole().requests().all()),
                  commit.seconds(Measurement::cpuNanos).text(1),
                  commit.ratio(yardstick, Measurement::cpuNanos).text(2),
                  String.format(Locale.ROOT, "%.1f", commit.heap())));
        });
    return table;
  }

  /** The requests of job commit by kind. */
  static MarkdownTable kinds(Map<SparkContender, SparkCosts> all) {
    List<String> columns = new ArrayList<>(List.of("job commit"));
    for (RequestKind kind : RequestKind.values()) {
      columns.add(kind.toString());
    }
    MarkdownTable table = new MarkdownTable(columns);
    all.forEach(
        (contender, costs) -> {
          List<String> cells = new ArrayList<>(List.of(contender.title()));
          for (RequestKind kind : RequestKind.values()) {
            cells.add(count(costs.of(Phase.JOB_COMMIT).requests().of(kind)));
          }
          table.row(cells);
        });
    return table;
  }

  /** CPU of job commit, in a JVM that has just started and in one that has not. */
  static MarkdownTable cpu(Map<SparkContender, SparkWarmCosts> all) {
    MarkdownTable table =
        new MarkdownTable(
            List.of(
                "committer",
                "requests of job commit",
                "CPU cold, s",
                "to Hadoop's",
                "CPU warm, s",
                "to Hadoop's"));
    SparkWarmCosts yardstick = all.get(SparkContender.HADOOP);
    all.forEach(
        (contender, costs) ->
            table.row(
                List.of(
                    name(contender, costs.verdict()),
                    count(costs.warm().requests().all()),
                    costs.cold().seconds(Measurement::cpuNanos).text(2),
                    costs.cold().ratio(yardstick.cold(), Measurement::cpuNanos).text(2),
                    costs.warm().seconds(Measurement::cpuNanos).text(2),
                    costs.warm().ratio(yardstick.warm(), Measurement::cpuNanos).text(2))));
    return table;
  }

  /** Times of the driver, and of all. */
  static MarkdownTable times(Map<SparkContender, SparkCosts> all) {
    MarkdownTable table =
        new MarkdownTable(
            List.of(
                "committer",
                "driver's requests",
                "driver, s",
                "ratio",
                "requests in all",
                "all, s",
                "ratio"));
    SparkCosts yardstick = all.get(SparkContender.OURS);
    all.forEach(
        (contender, costs) ->
            table.row(
                List.of(
                    name(contender, costs),
                    count(costs.driver().requests().all()),
                    costs.driver().seconds(Measurement::wallNanos).text(2),
                    costs.driver().ratio(yardstick.driver(), Measurement::wallNanos).text(1),
                    count(costs.whole().requests().all()),
                    costs.whole().seconds(Measurement::wallNanos).text(2),
                    costs.whole().ratio(yardstick.whole(), Measurement::wallNanos).text(1))));
    return table;
  }

  /**
   * A job of one file: requests, and how many of them waited for one another, which is the time in
   * units of a request.
   */
  static MarkdownTable oneFile(Map<SparkContender, SparkCosts> all, double latencyMillis) {
    MarkdownTable table =
        new MarkdownTable(
            List.of(
                "committer",
                "setup: requests",
                "in sequence",
                "job commit: requests",
                "in sequence",
                "s",
                "to Spark's default"));
    Series yardstick = all.get(SparkContender.FILE_V1).of(Phase.JOB_COMMIT);
    all.forEach(
        (contender, costs) -> {
          Series setup = costs.of(Phase.JOB_SETUP);
          Series commit = costs.of(Phase.JOB_COMMIT);
          table.row(
              List.of(
                  name(contender, costs),
                  count(setup.requests().all()),
                  inSequence(setup, latencyMillis),
                  count(commit.requests().all()),
                  inSequence(commit, latencyMillis),
                  commit.seconds(Measurement::wallNanos).text(2),
                  commit.ratio(yardstick, Measurement::wallNanos).text(2)));
        });
    return table;
  }

  private static String inSequence(Series series, double latencyMillis) {
    return series
        .seconds(measurement -> (long) (measurement.wallNanos() * 1000 / latencyMillis))
        .text(1);
  }

  private static String name(SparkContender contender, SparkCosts costs) {
    return name(contender, costs.verdict());
  }

  private static String name(SparkContender contender, String verdict) {
    return contender.title() + (verdict.isEmpty() ? "" : " (**wrong**: " + verdict + ")");
  }

  private static String count(long count) {
    return String.format(Locale.ROOT, "%,d", count);
  }
}
