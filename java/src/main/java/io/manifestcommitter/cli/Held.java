// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import io.manifestcommitter.cli.CommandLine.UsageException;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.HeldJobs;
import io.manifestcommitter.jobs.HeldJobs.HeldJob;
import io.manifestcommitter.jobs.LifeSigns;
import io.manifestcommitter.jobs.LifeSigns.Pause;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.StorePaths;
import io.manifestcommitter.store.Stores;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * Tells the held jobs of tables ({@link CommitterConfig#PUBLISH}), and publishes or discards one.
 */
public final class Held extends Program {
  private static final String PUBLISH = "--publish";
  private static final String DISCARD = "--discard";

  Held(PrintStream out, PrintStream err) {
    super(
        out,
        err,
        "Usage: Held [--publish job|--discard job] [--json] [--missing-ok] [--properties-file file]",
        "            [-D key=value]... <table>...",
        "",
        "Prints the held jobs of a table, the first first. Each has ended with nothing visible, and",
        "waits to be published or discarded.",
        "",
        "  --publish job           make the data of the job with this id visible. An overwrite only if",
        "                          what it replaces is as it was when the job ended",
        "  --discard job           remove the data of the job with this id, also if its publication",
        "                          died",
        "  --json                  a line of JSON for each table",
        MISSING,
        SETTINGS,
        "Exit code: 0 done; 1 the job is not held there, or could not be published or discarded, or",
        "the table could not be read; 2 wrong usage.");
  }

  /** Runs the program and ends the JVM with its exit code. */
  public static void main(String[] args) {
    runAndExit(args, Held::new);
  }

  @Override
  protected Action action(CommandLine line) throws UsageException {
    Optional<String> publish = line.value(PUBLISH);
    Optional<String> discard = line.value(DISCARD);
    if (publish.isPresent() && discard.isPresent()) {
      throw new UsageException("give " + PUBLISH + " or " + DISCARD + ", not both");
    }
    CommitterConfig config = line.config();
    return table -> {
      if (publish.isPresent() || discard.isPresent()) {
        String job = publish.or(() -> discard).get();
        try {
          end(table, line.conf(), config, job, publish.isPresent());
        } catch (IOException e) {
          return failed(String.join("\n  ", errors(e)));
        }
        String told = publish.isPresent() ? "published" : "discarded";
        out.println(
            line.has("--json")
                ? Json.line(new Json.Fields().with("jobId", job).with("outcome", told))
                : Humane.line(table + ": job " + job + " is " + told));
        return OK;
      }
      List<Json.Fields> jobs = new ArrayList<>();
      for (HeldJob job : find(table, line.conf())) {
        try (job) {
          if (line.has("--json")) {
            jobs.add(toMap(job));
          } else {
            out.println(Humane.line(text(job)));
          }
        }
      }
      if (line.has("--json")) {
        out.println(Json.line(jobs));
      }
      return OK;
    };
  }

  /**
   * The held jobs of a table, or the end of one, for a running Spark session.
   *
   * @param conf Hadoop's configuration of the session
   * @param jobId which is ended; empty for none
   * @param action {@code publish} or {@code discard} that job; or empty to change nothing
   * @return an array with an object for each: {@code jobId}, {@code files}, {@code bytes}, {@code
   *     partitions} (paths below the table), {@code since} (in milliseconds since 1970), {@code
   *     overwrites}, {@code commitId}, {@code readable}. Readable is what waits as files, and not
   *     as uploads. Identities may be null. After an action there is one object: {@code errors} has
   *     why it could not be done, and is empty if it was
   * @throws NothingThereException if there is no table
   * @throws IOException also if it cannot be looked at
   */
  public static String ofSession(Configuration conf, String table, String jobId, String action)
      throws IOException {
    List<Json.Fields> jobs = new ArrayList<>();
    if (!action.isEmpty()) {
      List<String> errors = List.of();
      try {
        end(table, conf, new CommitterConfig(conf), jobId, action.equals("publish"));
      } catch (IOException e) {
        errors = errors(e);
      }
      return Json.line(List.of(new Json.Fields().with("errors", errors)));
    }
    for (HeldJob job : find(table, conf)) {
      try (job) {
        jobs.add(toMap(job));
      }
    }
    return Json.line(jobs);
  }

  private static List<String> errors(IOException failure) {
    return Stream.concat(Stream.of(failure), Arrays.stream(failure.getSuppressed()))
        .map(e -> String.valueOf(e.getMessage()))
        .collect(Collectors.toList());
  }

  private static List<HeldJob> find(String table, Configuration conf) throws IOException {
    Stores stores = new Stores(conf);
    Path resolved = stores.resolve(new Path(table));
    return NothingThereException.unlessMissing(
        resolved, () -> new HeldJobs(stores.all()).find(resolved));
  }

  private static void end(
      String table, Configuration conf, CommitterConfig config, String jobId, boolean publishes)
      throws IOException {
    RequestGate gate = config.requestGate(() -> {});
    Stores stores = new Stores(conf, gate);
    Path resolved = stores.resolve(new Path(table));
    Pause pause = Pause.sleeping(config);
    LifeSigns signs = new LifeSigns(stores.all(), config, pause::nanos);
    Recovery recovery =
        new Recovery(stores.all(), config, signs, pause, /* force= */ false, gate::recordTo);
    StagingRoot root = new StagingRoot(resolved, jobId);
    HeldJobs.end(recovery, root, publishes ? Direction.PUBLISH : Direction.DISCARD);
  }

  private static String text(HeldJob job) {
    JobPlan plan = job.plan();
    return Instant.ofEpochMilli(job.since())
        + "  job "
        + plan.jobId()
        + ": "
        + Humane.count(plan.files().count(), "file")
        + ", "
        + Humane.bytes(plan.files().bytes())
        + (job.overwrites() ? ", overwrites" : "")
        + plan.commitId().map(id -> ", commit.id " + id).orElse("");
  }

  private static Json.Fields toMap(HeldJob job) {
    JobPlan plan = job.plan();
    TreeSet<String> partitions = new TreeSet<>();
    boolean hasUploads = false;
    for (FileEntry file : plan.files()) {
      Path directory = file.destinationDirectory();
      if (!directory.equals(plan.table())) {
        partitions.add(StorePaths.relative(plan.table(), directory));
      }
      hasUploads |= file.isUpload();
    }
    return new Json.Fields()
        .with("jobId", plan.jobId())
        .with("files", plan.files().count())
        .with("bytes", plan.files().bytes())
        .with("partitions", partitions.stream().collect(Collectors.toList()))
        .with("since", job.since())
        .with("overwrites", job.overwrites())
        .with("commitId", plan.commitId())
        .with("readable", !hasUploads);
  }
}
