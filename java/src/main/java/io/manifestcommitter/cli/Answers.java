// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.HeldJobs.HeldJob;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.journal.CommitLedger;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.progress.Commits;
import io.manifestcommitter.read.TableReader;
import io.manifestcommitter.read.WholeReader;
import io.manifestcommitter.store.StorePaths;
import io.manifestcommitter.store.Stores;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the Python package asks, and is answered: its command line by {@link Ask}, a classic session
 * by {@link #value}, and a Connect session by {@link OnServer}.
 */
public final class Answers {
  private static final Logger LOG = LoggerFactory.getLogger(Answers.class);

  private Answers() {}

  /**
   * Answers a question, or does something and tells of it.
   *
   * <ul>
   *   <li>{@code find}: an object with {@code path}, {@code isDirectory} and {@code length}; null
   *       if there is nothing
   *   <li>{@code read}: at most {@code length} bytes of a file from {@code offset}, in Base64
   *   <li>{@code recover}: see {@link Recover#ofSession}; {@code clean}: see {@link
   *       Clean#ofSession}
   *   <li>{@code history} and {@code report}: see {@link ReportData}
   *   <li>{@code ids}: the identities that a table remembers, or only {@code commitId}, which it
   *       may {@code forget}. An array with an object for each: {@code id}, {@code jobId}, {@code
   *       application} or null, and {@code at}, in milliseconds since 1970
   *   <li>{@code held}: an array with each held job, the first first: see {@link HeldJob}. Or the
   *       {@code end} of a {@code jobId}, {@code publish} or {@code discard}: one object, whose
   *       {@code errors} say why it could not be done
   *   <li>{@code files}: those of a table as it was before or after the commit of each job. An
   *       array with an object for each: {@code path}, {@code size} in bytes, and {@code place},
   *       its path below the table
   *   <li>{@code commits}: those of this JVM that run, the first first, and then the last ones that
   *       ended. An array of what {@link io.manifestcommitter.progress.CommitSnapshot#toMap} has
   *   <li>{@code cancel}: whether the commit of a {@code jobId} fails now: see {@link
   *       Commits#cancel}
   * </ul>
   *
   * @param conf Hadoop's configuration, with the settings of the session
   * @param path what it is about, if it is about a place in a store
   * @param arguments an object with what the question needs more
   * @return a line of JSON
   * @throws NothingThereException if nothing is at the path
   * @throws IOException also if it cannot be looked at
   */
  public static String value(Configuration conf, String what, String path, String arguments)
      throws IOException {
    JsonNode given = Json.read(arguments.getBytes(StandardCharsets.UTF_8));
    switch (what) {
      case "find":
        return find(conf, StorePaths.plain(new Path(path)));
      case "read":
        long offset = given.get("offset").asLong();
        return read(conf, StorePaths.plain(new Path(path)), offset, given.get("length").asInt());
      case "recover":
        boolean complete = given.get("complete").asBoolean();
        return Recover.ofSession(conf, path, complete, given.get("force").asBoolean());
      case "clean":
        return Clean.ofSession(
            conf,
            path,
            given.get("olderThan").asText(),
            given.get("dryRun").asBoolean(),
            given.get("discardUnfinished").asBoolean(),
            given.get("force").asBoolean());
      case "ids":
        String id = given.get("commitId").asText();
        return Json.line(ids(conf, path, id, given.get("forget").asBoolean()));
      case "held":
        String jobId = given.get("jobId").asText();
        return Json.line(held(conf, path, jobId, given.get("end").asText()));
      case "files":
        return Json.line(files(WholeReader.of(conf, new Path(path), Optional.empty())));
      case "history":
        return Json.line(ReportData.history(conf, path));
      case "report":
        return Json.line(ReportData.report(conf, path));
      case "commits":
        return Json.line(Commits.ofAllClassLoaders());
      case "cancel":
        return Json.line(Commits.cancel(given.get("jobId").asText()));
      default:
        throw new IllegalArgumentException(what + " is not known here");
    }
  }

  private static String find(Configuration conf, Path path) throws IOException {
    FileStatus status;
    try {
      status = path.getFileSystem(conf).getFileStatus(path);
    } catch (FileNotFoundException e) {
      return Json.line(null);
    }
    return Json.line(
        new Json.Fields()
            .with("path", status.getPath().toString())
            .with("isDirectory", status.isDirectory())
            .with("length", status.getLen()));
  }

  private static String read(Configuration conf, Path path, long offset, int length)
      throws IOException {
    try (FSDataInputStream in = path.getFileSystem(conf).open(path)) {
      in.seek(offset);
      return Json.line(Base64.getEncoder().encodeToString(in.readNBytes(length)));
    }
  }

  private static List<Json.Fields> ids(Configuration conf, String table, String id, boolean forget)
      throws IOException {
    Stores stores = new Stores(conf);
    Path resolved = stores.resolve(new Path(table));
    if (forget && stores.isLakefs(resolved)) {
      throw new IOException(
          String.format(
              "Nothing was forgotten. In lakeFS that takes a commit: delete %s ('lakectl fs rm'),"
                  + " and commit that in its branch ('lakectl commit')",
              CommitLedger.file(resolved, id)));
    }
    CommitLedger ledger = new CommitLedger(stores.all(), resolved);
    List<Json.Fields> found = new ArrayList<>();
    for (String each : id.isEmpty() ? ledger.list() : List.of(id)) {
      try {
        // One that is listed may be forgotten since.
        ledger
            .find(each)
            .ifPresent(
                entry ->
                    found.add(
                        new Json.Fields()
                            .with("id", entry.text("id"))
                            .with("jobId", entry.text("jobId"))
                            .with(
                                "application",
                                entry.has("application") ? entry.text("application") : null)
                            .with("at", entry.number("at"))));
      } catch (CorruptManifestException e) {
        // A driver died while it noted this one, whose journal tells the next job; or a disk
        // failed.
        LOG.warn("It is not known whether {} has the data of {}", resolved, each, e);
      }
    }
    if (found.isEmpty()) {
      NothingThereException.unlessMissing(
          resolved, () -> stores.all().status(resolved).orElseThrow(FileNotFoundException::new));
    }
    if (forget) {
      ledger.forget(id);
    }
    return found;
  }

  private static List<?> held(Configuration conf, String table, String jobId, String end)
      throws IOException {
    CommitterConfig config = new CommitterConfig(conf);
    if (end.isEmpty()) {
      return new TableJobs(conf, table, config, /* force= */ false).held();
    }
    List<String> errors = List.of();
    try {
      new TableJobs(conf, table, config, /* force= */ false)
          .end(jobId, end.equals("publish") ? Direction.PUBLISH : Direction.DISCARD);
    } catch (IOException e) {
      errors = Recover.errors(e);
    }
    return List.of(new Json.Fields().with("errors", errors));
  }

  private static List<Json.Fields> files(TableReader reader) throws IOException {
    List<Json.Fields> found = new ArrayList<>();
    new TreeMap<>(NothingThereException.unlessMissing(reader.table, reader::files))
        .forEach(
            (place, file) ->
                found.add(
                    new Json.Fields()
                        .with("path", file.path().toString())
                        .with("size", file.length())
                        .with("place", StorePaths.relative(reader.table, place))));
    return found;
  }
}
