// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import io.manifestcommitter.cli.CommandLine.UsageException;
import io.manifestcommitter.commit.Audit;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.Stores;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.MeanStatistic;

/**
 * Lists the jobs whose reports a directory has: what {@code
 * mapreduce.manifest.committer.summary.report.directory} gathers, of this committer and of
 * Hadoop's.
 *
 * <pre>
 * manifest-committer history abfs://c@a.dfs.core.windows.net/reports --since 7d --failed
 * </pre>
 */
public final class History extends Program {
  private static final String SINCE = "--since";
  private static final String TABLE = "--table";
  private static final String ONLY_FAILED = "--failed";
  private static final String AS_JSON = "--json";
  private static final String SUFFIX = ".json";

  History(PrintStream out, PrintStream err) {
    super(
        out,
        err,
        Set.of(ONLY_FAILED, AS_JSON),
        Set.of(SINCE, TABLE),
        "Usage: History [--since time] [--table text] [--failed] [--json] [--properties-file file]",
        "               [-D key=value]... <directory>...",
        "",
        "Lists the jobs whose reports are in a directory, the oldest first. It is the directory that",
        "mapreduce.manifest.committer.summary.report.directory names.",
        "",
        "  --since time            jobs that ended after a date such as 2026-01-31, a time such",
        "                          as 2026-01-31T12:00:00Z, or within 36h or 7d",
        "  --table text            jobs whose table's path contains the text",
        "  --failed                jobs that did not succeed",
        "  --json                  one line of JSON for each job",
        "  --properties-file file  settings, as in spark-defaults.conf; those of Hadoop are used",
        "  -D key=value            a setting of Hadoop, such as an account's key",
        "  --help                  this text",
        "",
        "Exit code: 0 all reports were read; 1 a directory or a report could not be; 2 wrong usage.");
  }

  /** Runs the program and ends the JVM with its exit code. */
  public static void main(String[] args) {
    runAndExit(args, History::new);
  }

  @Override
  protected Action action(CommandLine line) throws UsageException {
    CommitterConfig config = line.config();
    long since = CommandLine.checked(() -> since(line.value(SINCE).orElse(""), Instant.now()));
    return directory -> {
      Found found = read(directory, line.conf(), config);
      found.jobs.removeIf(
          job -> !job.matches(since, line.value(TABLE).orElse(""), line.has(ONLY_FAILED)));
      print(directory, found.jobs, line.has(AS_JSON));
      found.problems.forEach(this::failed);
      return found.problems.isEmpty() ? OK : FAILED;
    };
  }

  /**
   * The jobs whose reports a directory has, as a running Spark session sees it. Called by the
   * Python package, through the class loader that has this class.
   *
   * @param conf Hadoop's configuration of the session
   * @return an object: {@code jobs}, an array with an object for each as {@code --json} prints it,
   *     and {@code problems}, texts about reports that could not be read
   * @throws IOException if the directory cannot be listed
   */
  public static String ofSession(Configuration conf, String directory) throws IOException {
    return Json.line(found(conf, directory));
  }

  static Json.Fields found(Configuration conf, String directory) throws IOException {
    Found found = read(directory, conf, new CommitterConfig(conf));
    return new Json.Fields()
        .with("jobs", found.jobs.stream().map(Job::toMap).collect(Collectors.toList()))
        .with("problems", found.problems);
  }

  /** When a text says, in milliseconds since 1970; long ago for an empty one. */
  static long since(String text, Instant now) {
    if (text.isEmpty()) {
      return Long.MIN_VALUE;
    }
    try {
      if (text.matches("\\d{1,6}d")) {
        int days = Integer.parseInt(text.substring(0, text.length() - 1));
        return now.minus(Duration.ofDays(days)).toEpochMilli();
      }
      Optional<Long> ago = CommitterConfig.duration(text);
      if (ago.isPresent()) {
        return now.toEpochMilli() - ago.get();
      }
      return text.contains("T")
          ? Instant.parse(text).toEpochMilli()
          : LocalDate.parse(text).atStartOfDay(ZoneOffset.UTC).toInstant().toEpochMilli();
    } catch (DateTimeParseException e) {
      throw new IllegalArgumentException(
          "'"
              + Humane.line(text)
              + "' is no time such as 2026-01-31, 2026-01-31T12:00:00Z, 36h or 7d",
          e);
    }
  }

  private static Found read(String directory, Configuration conf, CommitterConfig config)
      throws IOException {
    Stores stores = new Stores(conf, config.requestGate(() -> {}));
    Path resolved = stores.resolve(new Path(directory));
    Store store = stores.all();
    List<Path> files = new ArrayList<>();
    try {
      store.list(
          resolved,
          entry -> {
            if (!entry.isDirectory() && isReport(entry)) {
              files.add(entry.path());
            }
          });
    } catch (FileNotFoundException e) {
      throw new FileNotFoundException("There is no such directory: no job has reported there");
    }
    Found found = new Found();
    Queue<Job> jobs = new ConcurrentLinkedQueue<>();
    Queue<String> problems = new ConcurrentLinkedQueue<>();
    new Workers(config.ioThreads(), () -> {}, Audit.job("history"))
        .forEach(
            files,
            file -> {
              try {
                byte[] content = store.read(file, SuccessReport.MAX_BYTES);
                jobs.add(new Job(file, SuccessReport.parse(content, file.toString())));
              } catch (CorruptManifestException e) {
                problems.add(e.getMessage());
              } catch (IOException e) {
                problems.add(file + " could not be read: " + e);
              }
            });
    found.jobs.addAll(jobs);
    found.jobs.sort(Comparator.comparingLong(Job::ended).thenComparing(job -> job.file));
    found.problems.addAll(problems);
    found.problems.sort(Comparator.naturalOrder());
    return found;
  }

  /** Not what is hidden: a list of files, or a report that is being written. */
  private static boolean isReport(StoreEntry entry) {
    return entry.name().endsWith(SUFFIX)
        && !entry.name().startsWith("_")
        && !entry.name().startsWith(".");
  }

  private void print(String directory, List<Job> jobs, boolean asJson) {
    if (asJson) {
      jobs.forEach(job -> out.println(Json.line(job.toMap())));
      return;
    }
    if (jobs.isEmpty()) {
      out.println(Humane.line(directory) + ": no such job");
      return;
    }
    print("ended", "outcome", "seconds", "files", "size", "write", "table");
    for (Job job : jobs) {
      print(
          Instant.ofEpochMilli(job.ended() / 1000 * 1000),
          job.outcome(),
          job.millis().map(millis -> String.format(Locale.ROOT, "%.1f", millis / 1e3)).orElse(""),
          Humane.number(job.counter(StatisticNames.COMMITTER_FILES_COMMITTED)),
          Humane.size(job.counter(StatisticNames.COMMITTER_BYTES_COMMITTED)),
          job.text("write"),
          job.text("table").isEmpty() ? job.report.description() : job.text("table"));
      if (!job.report.success() && !job.text("exception").isEmpty()) {
        out.println("    " + Humane.line(job.text("exception").split("\n", 2)[0]));
      }
    }
  }

  private void print(Object... columns) {
    String row = String.format(Locale.ROOT, "%-20s %-11s %9s %9s %10s  %-18s %s", columns);
    out.println(Humane.line(row));
  }

  /** What a directory has. */
  private static final class Found {
    private final List<Job> jobs = new ArrayList<>();
    private final List<String> problems = new ArrayList<>();
  }

  /** One report. */
  private static final class Job {
    private final Path file;
    private final SuccessReport report;

    Job(Path file, SuccessReport report) {
      this.file = file;
      this.report = report;
    }

    boolean matches(long since, String table, boolean onlyFailed) {
      return ended() >= since
          && text("table").contains(table)
          && (!onlyFailed || !report.success());
    }

    long ended() {
      return report.timestamp();
    }

    String outcome() {
      if (!report.state().isEmpty()) {
        return report.state();
      }
      return report.success() ? "committed" : "failed";
    }

    String text(String diagnostic) {
      return report.diagnostics().getOrDefault(diagnostic, "");
    }

    long counter(String name) {
      return report.statistics().counters().getOrDefault(name, 0L);
    }

    /** How long the commit took; empty where the report does not tell. */
    Optional<Long> millis() {
      MeanStatistic commit =
          report.statistics().meanStatistics().get(StatisticNames.COMMITTER_COMMIT_JOB + ".mean");
      return commit == null ? Optional.empty() : Optional.of(commit.getSum());
    }

    Json.Fields toMap() {
      return new Json.Fields()
          .with("report", file.toString())
          .with("jobId", report.jobId())
          .with("table", text("table"))
          .with("outcome", outcome())
          .with("success", report.success())
          .with("write", text("write"))
          .with("started", text("started"))
          .with("ended", ended())
          .with("millis", millis())
          .with("files", counter(StatisticNames.COMMITTER_FILES_COMMITTED))
          .with("bytes", counter(StatisticNames.COMMITTER_BYTES_COMMITTED))
          .with("tasks", counter(StatisticNames.COMMITTER_TASKS_COMPLETED))
          .with("partitionsCreated", counter(StatisticNames.COMMITTER_PARTITIONS_CREATED))
          .with("partitionsReplaced", counter(StatisticNames.COMMITTER_PARTITIONS_REPLACED))
          .with("partitionsAppended", counter(StatisticNames.COMMITTER_PARTITIONS_APPENDED))
          .with("requests", StatisticsRecorder.REQUESTS.stream().mapToLong(this::counter).sum())
          .with("throttled", counter(StatisticNames.STORE_IO_THROTTLED))
          .with("stage", report.stage())
          .with("error", text("exception"))
          .with("host", report.hostname())
          .with("user", text("principal"))
          .with("applicationId", text("application.id"))
          .with("applicationName", text("application.name"))
          .with("committer", report.committer());
    }
  }
}
