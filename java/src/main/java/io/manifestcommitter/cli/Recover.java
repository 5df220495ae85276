// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.jobs.RecoveryOutcome;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;

/**
 * Recovers the jobs that died while they committed into a table: rolls them back, or completes
 * those that were past their point of no return. Running it twice changes nothing more.
 *
 * <pre>
 * hadoop jar manifest-committer.jar io.manifestcommitter.cli.Recover abfs://c@a.dfs.core.windows.net/table
 * spark-submit --class io.manifestcommitter.cli.Recover manifest-committer.jar gs://bucket/table
 * </pre>
 */
public final class Recover {
  private static final String FORCE = "--force";
  private static final String ROLLBACK = "--rollback";
  private static final String COMPLETE = "--complete";

  private static final Usage USAGE =
      new Usage(
          "Recover",
          Set.of(ROLLBACK, COMPLETE, FORCE),
          Set.of(),
          "Usage: Recover [--rollback|--complete] [--force] [--properties-file file] [-D key=value]...",
          "               <table>...",
          "",
          "Recovers jobs of the manifest committer that died while they committed into a table. Rolls a",
          "job back if it died before its point of no return, and completes it if it died after it.",
          "First watches their heartbeats, all at the same time, for heartbeat.timeout (45 s): a job",
          "whose heartbeat moves is alive, and left alone. So are places that another job has changed.",
          "",
          "  --rollback              the default: roll back jobs before their point of no return",
          "  --complete              complete these jobs, too",
          "  --force                 do not watch, and recover also a job that may be alive. Use it",
          "                          only if you know that the job is dead",
          "  --properties-file file  settings, as in spark-defaults.conf; those of Hadoop are used",
          "  -D key=value            a setting of Hadoop, such as an account's key",
          "  --help                  this text",
          "",
          "Exit code: 0 no unfinished commit is left, or there is no table; 1 an unfinished commit is",
          "left, or a table could not be read; 2 wrong usage.");

  private final PrintStream out;
  private final PrintStream err;

  Recover(PrintStream out, PrintStream err) {
    this.out = out;
    this.err = err;
  }

  /** Runs the program and ends the JVM with its exit code. */
  public static void main(String[] args) {
    CommandLine.runAndExit((out, err) -> new Recover(out, err).run(args));
  }

  /**
   * Runs the program.
   *
   * @return its exit code
   */
  int run(String... args) {
    return USAGE.run(args, out, err, this::recoverAll);
  }

  private int recoverAll(CommandLine line) throws CommandLine.UsageException {
    if (line.has(ROLLBACK) && line.has(COMPLETE)) {
      throw new CommandLine.UsageException("give " + ROLLBACK + " or " + COMPLETE + ", not both");
    }
    CommitterConfig config = line.config();
    Direction direction = line.has(COMPLETE) ? Direction.COMPLETE : Direction.AS_MARKED;
    int code = Usage.OK;
    for (String table : line.paths()) {
      code = Math.max(code, recover(table, line.conf(), config, line.has(FORCE), direction));
    }
    return code;
  }

  /**
   * Recovers the jobs that died in a table, as a running Spark session sees it. Called by the
   * Python package, through the class loader that has this class.
   *
   * @param conf Hadoop's configuration of the session
   * @param complete also what is before its point of no return
   * @param force also a job that shows signs of life
   * @return an array with an object for each job: {@code staging}, {@code jobId}, {@code outcome}
   *     (one of {@link RecoveryOutcome} in small letters, or null), {@code errors}, {@code alive};
   *     an empty one if there is no table
   * @throws IOException if there is a table and it cannot be looked at
   */
  public static String ofSession(Configuration conf, String table, boolean complete, boolean force)
      throws IOException {
    Direction direction = complete ? Direction.COMPLETE : Direction.AS_MARKED;
    try {
      return RecoveredJob.toJson(
          RecoveredJob.all(
              table, conf, new CommitterConfig(conf), force, direction, watched -> {}));
    } catch (FileNotFoundException e) {
      return RecoveredJob.toJson(List.of());
    }
  }

  private int recover(
      String table,
      Configuration conf,
      CommitterConfig config,
      boolean force,
      Direction direction) {
    List<RecoveredJob> jobs;
    try {
      jobs =
          RecoveredJob.all(
              table,
              conf,
              config,
              force,
              direction,
              watched -> out.println(Humane.watching(table, watched, config)));
    } catch (FileNotFoundException e) {
      out.println("There is no table at " + Humane.line(table) + ": nothing to recover");
      return Usage.OK;
    } catch (IOException | RuntimeException e) {
      return USAGE.failed(err, table, e);
    }
    if (jobs.isEmpty()) {
      out.println(Humane.line(table) + ": no unfinished commit");
    }
    int code = Usage.OK;
    for (RecoveredJob job : jobs) {
      if (job.outcome().isPresent()) {
        out.println(Humane.line(job.root().root().toString()) + ": " + told(job));
      } else {
        code = Usage.FAILED;
        err.println(
            "Recover: "
                + Humane.line(job.root().root().toString())
                + ": "
                + job.errors().stream()
                    .map(error -> Humane.line(String.valueOf(error)))
                    .collect(Collectors.joining("\n  ")));
      }
    }
    return code;
  }

  private static String told(RecoveredJob job) {
    String left = job.errors().isEmpty() ? "" : ". " + Humane.line(job.errors().get(0));
    switch (job.outcome().get()) {
      case ROLLED_BACK:
        return "rolled back; the table is as it was before the job" + left;
      case COMPLETED:
        return "completed; the table has the job's data" + left;
      default:
        return "was complete" + (left.isEmpty() ? "; what it left was removed" : left);
    }
  }
}
