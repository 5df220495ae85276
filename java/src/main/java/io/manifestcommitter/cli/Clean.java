// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import io.manifestcommitter.cli.CommandLine.UsageException;
import io.manifestcommitter.config.CommitterConfig;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;

/**
 * Lists what jobs keep in a table while they run, or have left there, and removes what nobody needs
 * any more.
 *
 * <pre>
 * hadoop jar manifest-committer.jar io.manifestcommitter.cli.Clean --dry-run abfs://c@a.dfs.core.windows.net/table
 * </pre>
 */
public final class Clean extends Program {
  private static final String OLDER_THAN = "--older-than";
  private static final String DRY_RUN = "--dry-run";
  private static final String DISCARD = "--discard-unfinished";
  private static final String FORCE = "--force";
  private static final String UPLOADS = "--uploads";
  private static final String DAY = "24h";

  Clean(PrintStream out, PrintStream err) {
    super(
        out,
        err,
        Set.of(DRY_RUN, DISCARD, FORCE, UPLOADS),
        Set.of(OLDER_THAN),
        "Usage: Clean [--older-than 24h] [--dry-run] [--discard-unfinished] [--force]",
        "             [--uploads] [--properties-file file] [-D key=value]... <table>...",
        "",
        "Lists the staging directories in tables (_manifest_*, those in _temporary,",
        ".spark-staging-*) and removes those of dead jobs. Does not touch what readers see. On s3a,",
        "also aborts the uploads that the plan in such a directory names. Before it removes a",
        "directory it watches the heartbeat there for heartbeat.timeout (45 s): the time of a",
        "heartbeat alone does not tell that a job is dead.",
        "",
        "  --older-than time       how long a job must have shown no sign of life (default: 24h); a",
        "                          number and ms, s, m or h",
        "  --dry-run               only list",
        "  --discard-unfinished    remove also those of jobs that died in their commit. Nothing can",
        "                          recover such a job then, and old data that an overwrite moved",
        "                          aside is lost. Recover these jobs instead",
        "  --force                 remove them whatever their age, without watching, also of a job",
        "                          that may be alive. Use it only if you know that the job is dead",
        "  --uploads               on s3a, also abort multipart uploads below the table of that age.",
        "                          Lost attempts leave them, and drivers that died before they wrote",
        "                          a plan. Takes uploads of other committers, too, as 'hadoop s3guard",
        "                          uploads' does",
        "  --properties-file file  settings, as in spark-defaults.conf; those of Hadoop are used",
        "  -D key=value            a setting of Hadoop, such as an account's key",
        "  --help                  this text",
        "",
        "Exit code: 0 done, or there is no table; 1 a table could not be read, or something could",
        "not be removed; 2 wrong usage.");
  }

  /** Runs the program and ends the JVM with its exit code. */
  public static void main(String[] args) {
    runAndExit(args, Clean::new);
  }

  /**
   * Cleans a table, as a running Spark session sees it. Called by the Python package, through the
   * class loader that has this class.
   *
   * @param conf Hadoop's configuration of the session
   * @param olderThan a number and its unit: ms, s, m or h
   * @return an array with an object for each staging directory; an empty one if there is no table.
   *     Each object has {@code root}, {@code kind}, {@code files}, {@code bytes}, {@code state},
   *     {@code removed} and {@code abortedUploads}. It also has {@code jobId}, {@code ageMillis},
   *     {@code unknownUploads} (why its plan could not be read) and {@code error}, which may be
   *     null
   * @throws IOException if there is a table and it cannot be listed
   * @throws IllegalArgumentException if {@code olderThan} is no length of time
   */
  public static String ofSession(
      Configuration conf,
      String table,
      String olderThan,
      boolean dryRun,
      boolean discardUnfinished,
      boolean force)
      throws IOException {
    CleanedJob.Rule rule = new CleanedJob.Rule(age(olderThan), dryRun, discardUnfinished, force);
    List<CleanedJob> jobs = List.of();
    try {
      jobs = CleanedJob.all(table, conf, new CommitterConfig(conf), rule, watched -> {});
    } catch (FileNotFoundException e) {
      // No table, no jobs.
    }
    return Json.line(jobs.stream().map(CleanedJob::toMap).collect(Collectors.toList()));
  }

  private static long age(String text) {
    Optional<Long> age = CommitterConfig.duration(text);
    return age.orElseThrow(
        () ->
            new IllegalArgumentException(
                "'" + Humane.line(text) + "' is no length of time such as 24h or 90s"));
  }

  @Override
  protected Action action(CommandLine line) throws UsageException {
    CommitterConfig config = line.config();
    long age = CommandLine.checked(() -> age(line.value(OLDER_THAN).orElse(DAY)));
    CleanedJob.Rule rule =
        new CleanedJob.Rule(age, line.has(DRY_RUN), line.has(DISCARD), line.has(FORCE));
    return table -> {
      List<CleanedJob> jobs = clean(table, line.conf(), config, rule);
      int code = OK;
      for (CleanedJob job : jobs) {
        out.println(job);
        if (job.error().isPresent()) {
          code = failed(job.job().root() + ": " + job.error().get());
        }
      }
      if (line.has(UPLOADS)) {
        new OldUploads(line.conf(), rule, out).run(table, jobs);
      }
      return code;
    };
  }

  private List<CleanedJob> clean(
      String table, Configuration conf, CommitterConfig config, CleanedJob.Rule rule)
      throws IOException {
    List<CleanedJob> jobs = List.of();
    try {
      jobs =
          CleanedJob.all(
              table,
              conf,
              config,
              rule,
              watched -> out.println(Humane.watching(table, watched, config)));
      if (jobs.isEmpty()) {
        out.println(Humane.line(table) + ": no staging directories");
      }
    } catch (FileNotFoundException e) {
      out.println("There is no table at " + Humane.line(table) + ": nothing to clean");
    }
    return jobs;
  }
}
