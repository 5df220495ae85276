// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import io.manifestcommitter.cli.CommandLine.UsageException;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.journal.CommitLedger;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.Record;
import io.manifestcommitter.store.Stores;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the identities of the commits that a table remembers ({@link CommitterConfig#COMMIT_ID}),
 * and forgets them.
 */
public final class CommitIds extends Program {
  private static final Logger LOG = LoggerFactory.getLogger(CommitIds.class);
  private static final String ID = "--id";
  private static final String FORGET = "--forget";

  CommitIds(PrintStream out, PrintStream err) {
    super(
        out,
        err,
        "Usage: CommitIds [--id id [--forget]] [--json] [--missing-ok] [--properties-file file]",
        "                 [-D key=value]... <table>...",
        "",
        "Prints the identities (commit.id) whose data was committed into a table, the last first.",
        "That the data is still there it does not say.",
        "",
        "  --id id                 only this one",
        "  --forget                forget it: a job with this identity commits its data again",
        "  --json                  a line of JSON for each table",
        MISSING,
        SETTINGS,
        "Exit code: 0 done; 1 the table does not have the identity of --id, or could not be read; 2",
        "wrong usage.");
  }

  /** Runs the program and ends the JVM with its exit code. */
  public static void main(String[] args) {
    runAndExit(args, CommitIds::new);
  }

  @Override
  protected Action action(CommandLine line) throws UsageException {
    Optional<String> id = line.value(ID);
    if (line.has(FORGET) && !id.isPresent()) {
      throw new UsageException(FORGET + " needs " + ID);
    }
    return table -> {
      List<Record> entries = find(table, line.conf(), id, line.has(FORGET));
      if (line.has("--json")) {
        out.println(Json.line(toMaps(entries)));
      } else {
        for (Record entry : entries) {
          String at = Instant.ofEpochMilli(entry.number("at")).toString();
          out.println(at + "  job " + entry.text("jobId") + "  " + Humane.line(entry.text("id")));
        }
      }
      return id.isPresent() && entries.isEmpty() ? FAILED : OK;
    };
  }

  /**
   * As the program does it, for a running Spark session.
   *
   * @param conf Hadoop's configuration of the session
   * @param id only this one; empty for all
   * @param forget whether it is forgotten
   * @return an array with an object for each: {@code id}, {@code jobId}, {@code application} or
   *     null, and {@code at}, in milliseconds since 1970
   * @throws NothingThereException if there is no table
   */
  public static String ofSession(Configuration conf, String table, String id, boolean forget)
      throws IOException {
    return Json.line(toMaps(find(table, conf, Optional.of(id).filter(t -> !t.isEmpty()), forget)));
  }

  private static List<Record> find(
      String table, Configuration conf, Optional<String> id, boolean forget) throws IOException {
    Stores stores = new Stores(conf);
    Path resolved = stores.resolve(new Path(table));
    CommitLedger ledger = new CommitLedger(stores.all(), resolved);
    List<Record> found = new ArrayList<>();
    for (String each : id.isPresent() ? List.of(id.get()) : ledger.list()) {
      try {
        // One that is listed may be forgotten since.
        ledger.find(each).ifPresent(found::add);
      } catch (CorruptManifestException e) {
        // A driver died while it noted this one, whose journal tells the next job; or a disk
        // failed.
        LOG.warn("It is not known whether {} has the data of {}", resolved, each, e);
      }
    }
    if (found.isEmpty()) {
      NothingThereException.unlessMissing(
          resolved, () -> stores.status(resolved).orElseThrow(FileNotFoundException::new));
    }
    if (forget) {
      ledger.forget(id.get());
    }
    return found;
  }

  private static List<Json.Fields> toMaps(List<Record> entries) {
    return entries.stream()
        .map(
            entry ->
                new Json.Fields()
                    .with("id", entry.text("id"))
                    .with("jobId", entry.text("jobId"))
                    .with(
                        "application", entry.has("application") ? entry.text("application") : null)
                    .with("at", entry.number("at")))
        .collect(Collectors.toList());
  }
}
