// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileList;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.manifest.TaskManifest;
import java.io.PrintStream;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.MeanStatistic;

/** Prints the files of a committer for people. */
final class Summary {
  private static final int SHOWN_FILES = 10;
  private static final int SHOWN_TRACE_LINES = 12;

  /** Where the value of a field starts. */
  private static final int FIELD_WIDTH = 13;

  /** The key of the diagnostics that tell of a partition, before its name. */
  private static final String PARTITION = "partition.";

  /** In the order of a job. */
  private static final List<String> STAGES =
      List.of(
          StatisticNames.JOB_STAGE_SETUP,
          StatisticNames.JOB_STAGE_LOAD_MANIFESTS,
          StatisticNames.JOB_STAGE_SEAL_OUTPUT,
          StatisticNames.JOB_STAGE_PROVE_OUTPUT,
          StatisticNames.JOB_STAGE_LOCK_PLACES,
          StatisticNames.JOB_STAGE_PLAN,
          StatisticNames.JOB_STAGE_WRITE_JOURNAL,
          StatisticNames.JOB_STAGE_RENAME_DIRECTORIES,
          StatisticNames.JOB_STAGE_CREATE_TARGET_DIRS,
          StatisticNames.JOB_STAGE_RENAME_FILES,
          StatisticNames.JOB_STAGE_OPTIONAL_VALIDATE_OUTPUT,
          StatisticNames.JOB_STAGE_SAVE_SUCCESS_MARKER,
          StatisticNames.JOB_STAGE_REMOVE_OLD_DATA,
          StatisticNames.JOB_STAGE_CLEANUP,
          StatisticNames.JOB_STAGE_ABORT);

  private final PrintStream out;

  Summary(PrintStream out) {
    this.out = out;
  }

  void print(SuccessReport report) {
    IOStatistics statistics = report.statistics();
    field("Job", report.jobId() + inBrackets("id from ", report.jobIdSource()));
    field("Outcome", outcome(report));
    field("Committer", report.committer());
    field("Description", report.description());
    field("Host", report.hostname());
    field("Date", report.date());
    field("Write", report.diagnostics().getOrDefault("write", ""));
    field("Partitions", partitions(statistics));
    field("Files", files(report));
    field("Bytes", bytes(statistics));
    field("Tasks", number(statistics.counters().get(StatisticNames.COMMITTER_TASKS_COMPLETED)));
    field("Job commit", duration(statistics, StatisticNames.COMMITTER_COMMIT_JOB));
    field("Stages", stages(statistics));
    field("Requests", requests(statistics));
    partitionNames(report.diagnostics());
    names(
        "First files",
        report.filenames().stream().map(Summary::decoded).collect(Collectors.toList()));
    diagnostics(report.diagnostics());
    if (!report.metrics().isEmpty()) {
      heading("Metrics");
      report.metrics().forEach((name, value) -> row(name, Humane.number(value)));
    }
    statistics(statistics);
  }

  void print(TaskManifest manifest) {
    long bytes = manifest.files().stream().mapToLong(FileEntry::size).sum();
    field("Job", manifest.jobId() + ", attempt " + manifest.jobAttemptNumber());
    field("Task", manifest.taskId());
    field("Attempt", manifest.taskAttemptId());
    field("Directory", manifest.taskAttemptDirectory().toString());
    field("Files", Humane.number(manifest.files().size()));
    field("Bytes", Humane.bytes(bytes));
    field("Directories", Humane.number(manifest.directories().size()));
    names(
        "First files",
        manifest.files().stream()
            .limit(SHOWN_FILES + 1L)
            .map(file -> file.destination() + " (" + Humane.size(file.size()) + ")")
            .collect(Collectors.toList()),
        manifest.files().size());
    names(
        "Directories",
        manifest.directories().stream()
            .map(directory -> directory.path() + " (" + words(directory.state().name()) + ")")
            .collect(Collectors.toList()));
    if (!manifest.extraData().isEmpty()) {
      heading("Extra data");
      manifest.extraData().forEach(this::row);
    }
    statistics(manifest.statistics());
  }

  /** The part of a list before its names. */
  void print(FileList list, long bytes) {
    field("Job", list.jobId());
    field("Table", list.table().toString());
    field("Files", Humane.number(list.count()));
    field("Bytes", Humane.bytes(bytes));
    if (list.count() > 0) {
      heading("All files");
    }
  }

  void print(FileList.Entry file) {
    out.println("    " + Humane.line(file.path()) + " (" + Humane.size(file.size()) + ")");
  }

  private static String outcome(SuccessReport report) {
    List<String> words = new ArrayList<>();
    words.add(report.success() ? "succeeded" : "FAILED");
    if (!report.stage().isEmpty()) {
      words.add("stage " + report.stage());
    }
    if (!report.state().isEmpty()) {
      words.add("state " + report.state());
    }
    return String.join(", ", words);
  }

  private static String files(SuccessReport report) {
    Long committed = report.statistics().counters().get(StatisticNames.COMMITTER_FILES_COMMITTED);
    if (committed != null) {
      return Humane.number(committed);
    }
    int named = report.filenames().size();
    return named < SuccessReport.MAX_FILENAMES
        ? Humane.number(named)
        : Humane.number(named) + " or more (the report names no more than that)";
  }

  /** Manifest committers name files as URIs, S3A's as plain paths without a scheme. */
  private static String decoded(String filename) {
    try {
      URI uri = new URI(filename);
      return uri.getScheme() == null ? filename : new Path(uri).toString();
    } catch (URISyntaxException | IllegalArgumentException e) {
      return filename;
    }
  }

  private static String bytes(IOStatistics statistics) {
    Long bytes = statistics.counters().get(StatisticNames.COMMITTER_BYTES_COMMITTED);
    return bytes == null ? "" : Humane.bytes(bytes);
  }

  private static String stages(IOStatistics statistics) {
    return STAGES.stream()
        .filter(stage -> statistics.meanStatistics().containsKey(stage + ".mean"))
        .map(
            stage ->
                words(stage.substring("job_stage_".length())) + " " + duration(statistics, stage))
        .collect(Collectors.joining(", "));
  }

  private static String partitions(IOStatistics statistics) {
    List<String> parts = new ArrayList<>();
    Map.of(
            StatisticNames.COMMITTER_PARTITIONS_CREATED, "created",
            StatisticNames.COMMITTER_PARTITIONS_REPLACED, "replaced",
            StatisticNames.COMMITTER_PARTITIONS_APPENDED, "appended to")
        .forEach(
            (counter, word) -> {
              Long count = statistics.counters().get(counter);
              if (count != null) {
                parts.add(Humane.number(count) + " " + word);
              }
            });
    Collections.sort(parts);
    return String.join(", ", parts);
  }

  private static String requests(IOStatistics statistics) {
    long all = 0;
    List<String> kinds = new ArrayList<>();
    for (String kind : StatisticNames.REQUESTS) {
      Long count = statistics.counters().get(kind);
      if (count != null) {
        all += count;
        kinds.add(Humane.number(count) + " " + words(kind));
      }
    }
    return kinds.isEmpty() ? "" : Humane.number(all) + ": " + String.join(", ", kinds);
  }

  private void partitionNames(Map<String, String> diagnostics) {
    names(
        "Partitions",
        diagnostics.entrySet().stream()
            .filter(one -> one.getKey().startsWith(PARTITION))
            .map(one -> one.getKey().substring(PARTITION.length()) + ": " + one.getValue())
            .collect(Collectors.toList()));
  }

  private static String duration(IOStatistics statistics, String name) {
    MeanStatistic mean = statistics.meanStatistics().get(name + ".mean");
    return mean == null ? "" : Humane.millis(mean.getSum());
  }

  private void diagnostics(Map<String, String> diagnostics) {
    if (diagnostics.isEmpty()) {
      return;
    }
    heading("Diagnostics");
    for (Map.Entry<String, String> diagnostic : diagnostics.entrySet()) {
      if (diagnostic.getKey().startsWith(PARTITION)) {
        continue;
      }
      String[] lines = diagnostic.getValue().stripTrailing().split("\n", -1);
      if (lines.length == 1) {
        row(diagnostic.getKey(), lines[0]);
        continue;
      }
      out.println("    " + Humane.line(diagnostic.getKey()));
      for (int i = 0; i < Math.min(lines.length, SHOWN_TRACE_LINES); i++) {
        out.println("      " + Humane.line(lines[i].replace("\t", "  ").replace("\r", "")));
      }
      if (lines.length > SHOWN_TRACE_LINES) {
        out.println(
            "      ... and "
                + Humane.count(lines.length - SHOWN_TRACE_LINES, "more line")
                + " (--json shows them)");
      }
    }
  }

  private void statistics(IOStatistics statistics) {
    TreeSet<String> names = new TreeSet<>(statistics.counters().keySet());
    statistics.meanStatistics().keySet().forEach(name -> names.add(withoutEnd(name, ".mean")));
    statistics.minimums().keySet().forEach(name -> names.add(withoutEnd(name, ".min")));
    statistics.maximums().keySet().forEach(name -> names.add(withoutEnd(name, ".max")));
    if (names.isEmpty() && statistics.gauges().isEmpty()) {
      return;
    }
    heading("Statistics");
    for (String name : names) {
      row(name, statistic(statistics, name));
    }
    new TreeMap<>(statistics.gauges())
        .forEach((name, value) -> row(name, Humane.number(value) + " (gauge)"));
  }

  private static String statistic(IOStatistics statistics, String name) {
    List<String> parts = new ArrayList<>();
    Long counter = statistics.counters().get(name);
    if (counter != null) {
      parts.add(name.contains("_bytes_") ? Humane.bytes(counter) : Humane.number(counter));
    }
    Unit unit = Unit.of(name);
    MeanStatistic mean = statistics.meanStatistics().get(name + ".mean");
    if (mean != null) {
      if (unit == Unit.MILLIS) {
        parts.add("total " + unit.show((double) mean.getSum()));
      }
      parts.add("mean " + unit.show((double) mean.getSum() / mean.getSamples()));
    }
    Long minimum = statistics.minimums().get(name + ".min");
    if (minimum != null) {
      parts.add("min " + unit.show(minimum));
    }
    Long maximum = statistics.maximums().get(name + ".max");
    if (maximum != null) {
      parts.add("max " + unit.show(maximum));
    }
    if (counter == null && mean != null) {
      parts.add("of " + Humane.count(mean.getSamples(), "sample"));
    }
    return String.join(", ", parts);
  }

  private void names(String heading, List<String> names) {
    names(heading, names, names.size());
  }

  private void names(String heading, List<String> names, int all) {
    if (names.isEmpty()) {
      return;
    }
    heading(heading);
    names.stream().limit(SHOWN_FILES).forEach(name -> out.println("    " + Humane.line(name)));
    if (all > SHOWN_FILES) {
      out.println("    ... and " + Humane.number(all - SHOWN_FILES) + " more");
    }
  }

  private void heading(String text) {
    out.println("  " + text);
  }

  private void row(String name, String value) {
    out.println(String.format(Locale.ROOT, "    %-44s %s", Humane.line(name), Humane.line(value)));
  }

  private void field(String name, String value) {
    if (!value.isEmpty()) {
      out.println(
          String.format(Locale.ROOT, "  %-" + FIELD_WIDTH + "s %s", name, Humane.line(value)));
    }
  }

  private static String inBrackets(String before, String text) {
    return text.isEmpty() ? "" : " (" + before + text + ")";
  }

  private static String number(Long number) {
    return number == null ? "" : Humane.number(number);
  }

  private static String words(String name) {
    return name.toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  private static String withoutEnd(String name, String end) {
    return name.endsWith(end) ? name.substring(0, name.length() - end.length()) : name;
  }

  /** What the samples of a statistic are. */
  private enum Unit {
    MILLIS,
    BYTES,
    NONE;

    /**
     * Hadoop's names do not say it: sampled values of a task are sizes or counts, all others are
     * durations.
     */
    static Unit of(String name) {
      if (!name.startsWith("committer_task_")) {
        return MILLIS;
      }
      return name.endsWith("_size") ? BYTES : NONE;
    }

    String show(double value) {
      switch (this) {
        case MILLIS:
          return Humane.millis(value);
        case BYTES:
          return Humane.size(value);
        default:
          return Humane.mean(value);
      }
    }
  }
}
