// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import io.manifestcommitter.cli.CommandLine.UsageException;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.LifeSigns.JobIsAliveException;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.layout.StagingRoot;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.FunctionRaisingIOE;

/**
 * Recovers the jobs that died while they committed into a table: rolls them back, or completes
 * those that were past their point of no return. Running it twice changes nothing more.
 *
 * <pre>
 * hadoop jar manifest-committer.jar io.manifestcommitter.cli.Recover abfs://c@a.dfs.core.windows.net/table
 * spark-submit --class io.manifestcommitter.cli.Recover manifest-committer.jar gs://bucket/table
 * </pre>
 */
public final class Recover extends Program {
  private static final String FORCE = "--force";
  private static final String ROLLBACK = "--rollback";
  private static final String COMPLETE = "--complete";

  Recover(PrintStream out, PrintStream err) {
    super(
        out,
        err,
        "Usage: Recover [--rollback|--complete] [--force] [--missing-ok] [--properties-file file]",
        "               [-D key=value]... <table>...",
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
        MISSING,
        SETTINGS,
        "Exit code: 0 no unfinished commit is left; 1 an unfinished commit is left, or a table is not",
        "there, or could not be read; 2 wrong usage.");
  }

  /** Runs the program and ends the JVM with its exit code. */
  public static void main(String[] args) {
    runAndExit(args, Recover::new);
  }

  @Override
  protected FunctionRaisingIOE<String, Integer> action(CommandLine line) throws UsageException {
    if (line.has(ROLLBACK) && line.has(COMPLETE)) {
      throw new UsageException("give " + ROLLBACK + " or " + COMPLETE + ", not both");
    }
    CommitterConfig config = line.config();
    Direction direction = line.has(COMPLETE) ? Direction.COMPLETE : Direction.AS_MARKED;
    return table -> {
      IntConsumer watches = watched -> out.println(Humane.watching(table, watched, config));
      TableJobs all = new TableJobs(line.conf, table, config, line.has(FORCE));
      List<RecoveredJob> jobs = recover(all, direction, watches);
      if (jobs.isEmpty()) {
        out.println(Humane.line(table) + ": no unfinished commit");
      }
      int code = OK;
      for (RecoveredJob job : jobs) {
        String root = Humane.line(job.at.toString());
        if (job.outcome != null) {
          out.println(root + ": " + told(job));
        } else {
          code = FAILED;
          String why = job.errors().stream().map(Humane::line).collect(Collectors.joining("\n  "));
          err.println(name() + ": " + root + ": " + why);
        }
      }
      return code;
    };
  }

  /**
   * Recovers the jobs that died in a table, as a running Spark session sees it.
   *
   * @param complete also what is before its point of no return
   * @param force also a job that shows signs of life
   * @return an array with an object for each job: {@code staging}, {@code jobId}, {@code outcome}
   *     (one of {@link Recovery.Outcome} in small letters, or null), {@code errors}, {@code alive}
   * @throws NothingThereException if there is no table
   * @throws IOException also if it cannot be looked at
   */
  public static String ofSession(Configuration conf, String table, boolean complete, boolean force)
      throws IOException {
    Direction direction = complete ? Direction.COMPLETE : Direction.AS_MARKED;
    TableJobs all = new TableJobs(conf, table, new CommitterConfig(conf), force);
    List<RecoveredJob> jobs = recover(all, direction, watched -> {});
    return Json.line(jobs.stream().map(RecoveredJob::toMap).collect(Collectors.toList()));
  }

  /**
   * Recovers all jobs that died in a table; each for itself. First it watches them, all at the same
   * time, for as long as a heartbeat may stand still.
   *
   * @param watches told when jobs have to be watched, with their number
   * @throws NothingThereException if there is no table
   * @throws IOException if the table cannot be looked at
   */
  private static List<RecoveredJob> recover(TableJobs all, Direction direction, IntConsumer watches)
      throws IOException {
    List<StagingRoot> found = all.unfinished();
    all.watch(found, watches);
    List<RecoveredJob> jobs = new ArrayList<>();
    for (StagingRoot root : found) {
      Path at = all.at(root);
      try {
        all.recover(root, direction)
            .ifPresent(outcome -> jobs.add(new RecoveredJob(root, at, outcome, null)));
      } catch (Recovery.LeftoverException e) {
        jobs.add(new RecoveredJob(root, at, e.outcome, e));
      } catch (IOException e) {
        jobs.add(new RecoveredJob(root, at, null, e));
      } catch (RuntimeException e) {
        // As from a connector, or a spill file: the other jobs may well be fine.
        jobs.add(new RecoveredJob(root, at, null, new IOException(e.toString(), e)));
      }
    }
    return jobs;
  }

  /** What went wrong, in order of weight. */
  static List<String> errors(IOException failure) {
    return Stream.concat(Stream.of(failure), Arrays.stream(failure.getSuppressed()))
        .map(e -> String.valueOf(e.getMessage()))
        .collect(Collectors.toList());
  }

  private static String told(RecoveredJob job) {
    String left = job.errors().isEmpty() ? "" : ". " + Humane.line(job.errors().get(0));
    switch (job.outcome) {
      case ROLLED_BACK:
        return "rolled back; the table is as it was before the job" + left;
      case COMPLETED:
        return "completed; the table has the job's data" + left;
      default:
        return "was complete" + (left.isEmpty() ? "; what it left was removed" : left);
    }
  }

  /** What became of one job that died in its commit; without an outcome if it failed. */
  private static final class RecoveredJob {
    private final StagingRoot root;

    /** Where its work is. */
    private final Path at;

    private final Recovery.Outcome outcome;
    private final IOException failure;

    private RecoveredJob(StagingRoot root, Path at, Recovery.Outcome outcome, IOException failure) {
      this.root = root;
      this.at = at;
      this.outcome = outcome;
      this.failure = failure;
    }

    /** Why it failed, or why something of a job that ended remains; empty if neither is so. */
    List<String> errors() {
      return failure == null ? List.of() : Recover.errors(failure);
    }

    private boolean isAlive() {
      return failure instanceof JobIsAliveException && ((JobIsAliveException) failure).isOf(root);
    }

    /** As programs read it. */
    private Json.Fields toMap() {
      return new Json.Fields()
          .with("staging", at.toString())
          .with("jobId", root.jobId())
          .with("outcome", outcome == null ? null : outcome.name().toLowerCase(Locale.ROOT))
          .with("errors", errors())
          .with("alive", isAlive());
    }
  }
}
