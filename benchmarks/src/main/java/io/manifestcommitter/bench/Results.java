// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/** All that was measured of one shape, and its tables. */
final class Results {
  private final Map<Phase, Map<Contender, Series>> series = new EnumMap<>(Phase.class);

  /** Adds what one run measured. */
  void add(Contender contender, BenchRun.Subject subject, Measurement measurement) {
    Series one =
        series
            .computeIfAbsent(measurement.phase(), unused -> new EnumMap<>(Contender.class))
            .computeIfAbsent(contender, unused -> new Series());
    Consumer<Measurement> place = subject == BenchRun.Subject.TIME ? one::round : one::heap;
    place.accept(measurement);
  }

  /** Two tables for each phase. */
  String toMarkdown() {
    StringBuilder text = new StringBuilder();
    series.forEach(
        (phase, contenders) ->
            text.append("\n")
                .append(phase.title())
                .append(":\n\n")
                .append(costs(contenders))
                .append("\n")
                .append(requests(contenders)));
    return text.toString();
  }

  private static MarkdownTable costs(Map<Contender, Series> contenders) {
    Series yardstick = contenders.get(Contender.OURS);
    MarkdownTable table =
        new MarkdownTable(
            List.of(
                "committer",
                "io.threads",
                "requests",
                "time, s",
                "ratio",
                "CPU, s",
                "ratio",
                "heap, MiB"));
    contenders.forEach(
        (contender, one) ->
            table.row(
                List.of(
                    contender.title(),
                    contender.threads(),
                    String.format(Locale.ROOT, "%,d", one.requests().all()),
                    one.seconds(Measurement::wallNanos).text(3),
                    one.ratio(yardstick, Measurement::wallNanos).text(2),
                    one.seconds(Measurement::cpuNanos).text(2),
                    one.ratio(yardstick, Measurement::cpuNanos).text(2),
                    String.format(Locale.ROOT, "%.1f", one.heap()))));
    return table;
  }

  private static MarkdownTable requests(Map<Contender, Series> contenders) {
    List<String> columns = new ArrayList<>(List.of("committer", "io.threads"));
    for (RequestKind kind : RequestKind.values()) {
      columns.add(kind.toString());
    }
    MarkdownTable table = new MarkdownTable(columns);
    contenders.forEach(
        (contender, one) -> {
          List<String> cells = new ArrayList<>(List.of(contender.title(), contender.threads()));
          for (RequestKind kind : RequestKind.values()) {
            cells.add(String.format(Locale.ROOT, "%,d", one.requests().of(kind)));
          }
          table.row(cells);
        });
    return table;
  }
}
