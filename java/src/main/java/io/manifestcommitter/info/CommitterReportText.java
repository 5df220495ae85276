// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import io.manifestcommitter.cli.Humane;
import io.manifestcommitter.watch.SparkPlace;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.util.VersionInfo;

/** A {@link CommitterReport} as people read it. */
final class CommitterReportText {
  private static final int FIELD_WIDTH = 14;
  private static final String SPARK = "spark.";

  private final CommitterReport report;
  private final List<String> lines = new ArrayList<>();

  private CommitterReportText(CommitterReport report) {
    this.report = report;
  }

  /** Several lines; the last has no line break. */
  static String of(CommitterReport report) {
    return new CommitterReportText(report).print();
  }

  private String print() {
    line(report.path() + ": " + verdict());
    report.factory().ifPresent(this::hadoop);
    spark();
    watching();
    report.options().forEach((key, option) -> line("  Option " + key + " = " + option));
    report.problems().forEach(this::problem);
    line(
        "  Seen by manifest-committer "
            + ClassNames.version()
            + " on Hadoop "
            + VersionInfo.getVersion());
    return String.join(System.lineSeparator(), lines);
  }

  private String verdict() {
    List<String> parts = new ArrayList<>();
    for (Severity severity : List.of(Severity.ERROR, Severity.WARNING)) {
      long count = report.problems().stream().filter(p -> p.severity() == severity).count();
      if (count > 0) {
        parts.add(Humane.count(count, severity.name().toLowerCase(Locale.ROOT)));
      }
    }
    String state =
        report.ok() ? "ok" : report.served() ? "not ok" : "not by the manifest committer";
    return state + (parts.isEmpty() ? "" : ", " + String.join(", ", parts));
  }

  private void hadoop(FactoryBinding factory) {
    line("  MapReduce jobs and RDD writers");
    field("Committer", report.probed().committer().orElse("not made"));
    field("Factory", factory.className());
    field(
        "Set by",
        factory
            .setting()
            .map(setting -> factory.key() + " (" + setting.source() + ")")
            .orElse("nothing: " + factory.key() + " is not set"));
    report.probed().jobDirectory().ifPresent(path -> field("Job directory", path.toString()));
    report.probed().description().ifPresent(text -> field("Says of itself", text));
    report.probed().fileSystem().ifPresent(store -> field("FileSystem", store.toString()));
  }

  private void spark() {
    SparkSettings spark = report.spark();
    line("  Spark SQL and DataFrames");
    if (!spark.known()) {
      field("Protocol", "not known outside of a session: no setting of Spark was given");
      return;
    }
    field("Protocol", spark.protocol().toString());
    if (ClassNames.isSparksProtocol(spark.protocol().value())) {
      field("Parquet", spark.parquetCommitter().toString());
      spark
          .get(SparkSettings.OUTPUT_COMMITTER)
          .ifPresent(setting -> field("Other formats", setting.toString()));
    }
    field("Streaming", spark.streamingProtocol().toString());
  }

  private void watching() {
    line("  Watching commits");
    if (report.watching().isEmpty()) {
      field("Shown by Spark", "not known outside of a session: no application of Spark runs here");
    }
    for (SparkPlace place : report.watching()) {
      String name = place.name();
      field(name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1), place.toString());
    }
  }

  private void problem(Problem problem) {
    line("  " + problem.severity() + " " + problem.code().text() + ": " + problem.text() + ".");
    Repair repair = problem.repair();
    for (Map.Entry<String, Optional<String>> setting : repair.settings().entrySet()) {
      String key = settingName(setting.getKey());
      line(
          "    Repair: "
              + setting
                  .getValue()
                  .map(value -> "set " + key + " = " + (value.isEmpty() ? "(nothing)" : value))
                  .orElse("remove " + key));
    }
    repair.jar().ifPresent(jar -> line("    Repair: put on the class path " + jar));
    repair.path().ifPresent(path -> line("    Repair: write to " + path));
  }

  /** Hadoop's settings have another name where Spark is started. */
  private String settingName(String key) {
    return report.spark().known() && !key.startsWith(SPARK) ? "spark.hadoop." + key : key;
  }

  private void field(String name, String value) {
    lines.add(
        String.format(Locale.ROOT, "    %-" + FIELD_WIDTH + "s %s", name, Humane.line(value)));
  }

  private void line(String text) {
    lines.add(Humane.line(text));
  }
}
