// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import io.manifestcommitter.cli.CommandLine.UsageException;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.StagedJob;
import io.manifestcommitter.jobs.StagedJobs.AbortedUploads;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.Stores;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.FunctionRaisingIOE;

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
  private static final String TOOL = "org.apache.hadoop.fs.s3a.s3guard.S3GuardTool";

  Clean(PrintStream out, PrintStream err) {
    super(
        out,
        err,
        "Usage: Clean [--older-than 24h] [--dry-run] [--discard-unfinished] [--force] [--uploads]",
        "             [--missing-ok] [--properties-file file] [-D key=value]... <table>...",
        "",
        "Lists the staging directories in tables (_manifest_*, those in _temporary,",
        ".spark-staging-*) and removes those of dead jobs. Does not touch what readers see. On s3a,",
        "also aborts the uploads that the plan in such a directory names. Before it removes a",
        "directory it watches the heartbeat there for heartbeat.timeout (45 s): the time of a",
        "heartbeat alone does not tell that a job is dead. A held job stays until it is older than",
        "mapreduce.manifest.committer.hold.timeout (7 days), and then is discarded.",
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
        MISSING,
        SETTINGS,
        "Exit code: 0 done; 1 a table is not there, or could not be read, or something could not be",
        "removed; 2 wrong usage.");
  }

  /** Runs the program and ends the JVM with its exit code. */
  public static void main(String[] args) {
    runAndExit(args, Clean::new);
  }

  /**
   * Cleans a table, as a running Spark session sees it.
   *
   * @param olderThan a number and its unit: ms, s, m or h
   * @return an array with an object for each staging directory. Each object has {@code root},
   *     {@code kind}, {@code files}, {@code bytes}, {@code state}, {@code removed} and {@code
   *     abortedUploads}. It also has {@code jobId}, {@code ageMillis}, {@code unknownUploads} (why
   *     its plan could not be read) and {@code error}, which may be null
   * @throws NothingThereException if there is no table
   * @throws IOException also if it cannot be listed
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
    CommitterConfig config = new CommitterConfig(conf);
    Rule rule = new Rule(olderThan, dryRun, discardUnfinished, force, config);
    List<CleanedJob> jobs = clean(new TableJobs(conf, table, config, force), rule, watched -> {});
    return Json.line(jobs.stream().map(CleanedJob::toMap).collect(Collectors.toList()));
  }

  @Override
  protected FunctionRaisingIOE<String, Integer> action(CommandLine line) throws UsageException {
    CommitterConfig config = line.config();
    String age = line.value(OLDER_THAN).orElse(DAY);
    Rule rule =
        CommandLine.checked(
            () -> new Rule(age, line.has(DRY_RUN), line.has(DISCARD), line.has(FORCE), config));
    return table -> {
      List<CleanedJob> jobs = List.of();
      try {
        IntConsumer watches = watched -> out.println(Humane.watching(table, watched, config));
        jobs = clean(new TableJobs(line.conf, table, config, rule.force), rule, watches);
        if (jobs.isEmpty()) {
          out.println(Humane.line(table) + ": no staging directories");
        }
      } catch (NothingThereException e) {
        // Uploads may wait where no file is visible yet.
        if (!line.has(UPLOADS)) {
          throw e;
        }
        out.println(Humane.line(e.getMessage()));
      }
      int code = OK;
      for (CleanedJob one : jobs) {
        out.println(one);
        if (one.failure != null) {
          code = failed(one.job.root + ": " + one.failure.getMessage());
        }
      }
      if (line.has(UPLOADS)) {
        cleanUploads(table, line.conf, rule, jobs);
      }
      return code;
    };
  }

  /**
   * Cleans a table; each staging directory for itself. First it watches the heartbeats in those
   * that are to go, all at the same time.
   *
   * @param watches told when jobs have to be watched, with their number
   * @throws NothingThereException if there is no table
   * @throws IOException if the table cannot be listed
   */
  private static List<CleanedJob> clean(TableJobs all, Rule rule, IntConsumer watches)
      throws IOException {
    List<StagedJob> found = all.staged(rule.olderThan);
    List<StagedJob> toGo = new ArrayList<>(found);
    toGo.removeIf(job -> !rule.removes(job));
    all.watch(
        toGo.stream()
            .filter(job -> job.kind == StagedJob.Kind.SPARK_PROTOCOL)
            .map(job -> new StagingRoot(job.directory, job.jobId.get()))
            .collect(Collectors.toList()),
        watches);
    List<CleanedJob> jobs = new ArrayList<>();
    for (StagedJob job : found) {
      CleanedJob cleaned = new CleanedJob(job, rule.why(job));
      jobs.add(cleaned);
      try {
        cleaned.uploads = rule.removes(job) ? all.remove(job) : null;
      } catch (IOException e) {
        cleaned.failure = e;
      }
    }
    return jobs;
  }

  /**
   * Aborts the multipart uploads below a table on S3 that are older than the rule says, or lists
   * them. No job completes them any more: task attempts that Spark lost left them, or drivers that
   * died before their job commit. Nobody knows their ids. hadoop-aws has a tool that lists them,
   * {@code hadoop s3guard uploads}, which tells on standard output what it does.
   *
   * @param jobs what was in the table, and what became of it
   * @throws IOException if a job there may still need its uploads, and what the tool fails with
   */
  private void cleanUploads(String name, Configuration conf, Rule rule, List<CleanedJob> jobs)
      throws IOException {
    Stores stores = new Stores(conf);
    Path table = stores.resolve(new Path(name));
    if (stores.isLakefs(table) || !stores.all().traits(table).completesUploads()) {
      throw new IOException("there are no uploads on its store: leave --uploads out");
    }
    for (CleanedJob cleaned : jobs) {
      StagedJob job = cleaned.job;
      if (!rule.dryRun && !cleaned.isRemoved() && job.state() != StagedJob.State.ABANDONED) {
        throw new IOException(
            "the uploads are left as they are: "
                + job.root
                + " is "
                + CleanedJob.name(job.state())
                + " and may need some. "
                + (job.state() == StagedJob.State.HELD
                    ? "Publish or discard it"
                    : "Wait for it, or recover it"));
      }
    }
    List<String> arguments = new ArrayList<>(List.of("uploads"));
    arguments.addAll(rule.dryRun ? List.of("-list") : List.of("-abort", "-force"));
    arguments.add("-seconds");
    arguments.add(Long.toString(TimeUnit.MILLISECONDS.toSeconds(rule.olderThan + 999)));
    // Without the slash Hadoop 3.3 takes those of tables whose names begin alike, too.
    arguments.add(table + "/");
    runTool(conf, arguments.toArray(new String[0]));
  }

  private void runTool(Configuration conf, String[] arguments) throws IOException {
    int code;
    PrintStream before = System.out;
    System.setOut(out);
    try {
      code =
          (int)
              conf.getClassByName(TOOL)
                  .getMethod("run", Configuration.class, String[].class)
                  .invoke(null, conf, arguments);
    } catch (InvocationTargetException e) {
      throw new IOException("the uploads could not be read: " + e.getCause(), e.getCause());
    } catch (ReflectiveOperationException | LinkageError e) {
      throw new IOException(
          "hadoop-aws, of the version of Hadoop, and its AWS SDK are not on the class path ("
              + e
              + "): give their jars with --class-path",
          e);
    } finally {
      System.setOut(before);
    }
    if (code != 0) {
      throw new IOException("'hadoop s3guard uploads' ended with " + code);
    }
  }

  /** A staging directory, and what became of it. */
  private static final class CleanedJob {
    private final StagedJob job;
    private final String why;

    /** What was aborted for a job that was removed; else null. */
    private AbortedUploads uploads;

    private IOException failure;

    private CleanedJob(StagedJob job, String why) {
      this.job = job;
      this.why = why;
    }

    boolean isRemoved() {
      return uploads != null;
    }

    /** As programs read it, with all keys always there. */
    Json.Fields toMap() {
      return new Json.Fields()
          .with("root", job.root.toString())
          .with("kind", name(job.kind))
          .with("jobId", job.jobId)
          .with("ageMillis", job.age)
          .with("files", job.files)
          .with("bytes", job.bytes)
          .with("state", name(job.state()))
          .with("removed", isRemoved())
          .with("abortedUploads", isRemoved() ? uploads.count : 0)
          .with("unknownUploads", isRemoved() ? uploads.unknown : null)
          .with("error", failure == null ? null : failure.getMessage());
    }

    private String uploadsText() {
      if (uploads.unknown != null) {
        return ". Its uploads may wait until 'clean --uploads' aborts them by age, since its plan"
            + " cannot be read: "
            + Humane.line(uploads.unknown);
      }
      return uploads.count == 0
          ? ""
          : ", and " + Humane.count(uploads.count, "upload") + " aborted";
    }

    private static String name(Enum<?> constant) {
      return constant.name().toLowerCase(Locale.ROOT);
    }

    /** For people. */
    @Override
    public String toString() {
      String text =
          Humane.line(job.root.toString())
              + ": "
              + name(job.state())
              + ", "
              + job.age.map(age -> "silent for " + Humane.millis(age)).orElse("of unknown age")
              + ", "
              + Humane.count(job.files, "file")
              + ", "
              + Humane.bytes(job.bytes);
      if (isRemoved()) {
        return text + ": removed" + uploadsText();
      }
      return text + (why.isEmpty() ? "" : "; stays: " + why);
    }
  }

  /** Which staging directories go. */
  private static final class Rule {
    private final long olderThan;
    private final boolean dryRun;
    private final boolean discardUnfinished;
    private final boolean force;
    private final CommitterConfig config;

    Rule(
        String olderThan,
        boolean dryRun,
        boolean discardUnfinished,
        boolean force,
        CommitterConfig config) {
      Optional<Long> age = CommitterConfig.duration(olderThan);
      if (age.isEmpty()) {
        throw new IllegalArgumentException(
            "'" + Humane.line(olderThan) + "' is no length of time such as 24h or 90s");
      }
      this.olderThan = age.get();
      this.dryRun = dryRun;
      this.discardUnfinished = discardUnfinished;
      this.force = force;
      this.config = config;
    }

    boolean removes(StagedJob job) {
      return !dryRun && why(job).isEmpty();
    }

    /** Why a job's staging directory stays; empty if it may go. */
    String why(StagedJob job) {
      if (job.state() == StagedJob.State.HELD
          && !job.age.filter(age -> age >= config.holdTimeout).isPresent()) {
        return "publish or discard it: manifest-committer held " + job.directory;
      }
      if (!force && job.state() == StagedJob.State.RUNNING) {
        return "it shows signs of life";
      }
      if (!force && job.age.filter(age -> age < olderThan).isPresent()) {
        return "it is not old enough";
      }
      if (!force
          && job.keepsReplaced()
          && job.age.filter(age -> age < config.keepReplaced).isPresent()) {
        return "it keeps what it replaced (" + CommitterConfig.KEEP_REPLACED + ")";
      }
      if (job.hasUnfinishedCommit() && !discardUnfinished) {
        return job.kind == StagedJob.Kind.SPARK_PROTOCOL
            ? "recover it: manifest-committer recover " + job.directory
            : "its commit was begun: have its job commit or abort again";
      }
      return "";
    }
  }
}
