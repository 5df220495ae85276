// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.read;

import io.manifestcommitter.commit.Audit;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.HeldJobs;
import io.manifestcommitter.lakefs.LakefsTable;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.read.OpenJob.Planned;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.store.UnsupportedStoreException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.ConsumerRaisingIOE;

/**
 * Finds the files of a table as it was before or after the commit of each job, and never between.
 *
 * <p>It looks at the staging directories and journals, lists the table, and looks again. What both
 * looks saw alike did not change in between, since no journal goes back. A job that neither look
 * saw may have begun and ended all the same. Where the time of the table's directory excludes that,
 * one listing is enough. Elsewhere, and while a commit is under way, two listings in a row have to
 * show the same files. No file comes again once it is gone, so the table held just these at the
 * look between the two. One pair of jobs escapes that: two that neither look saw, each of which
 * moved the same directory aside and back, one during each listing.
 *
 * <p>All is listed again also where only some jobs went on.
 */
public final class WholeReader extends TableReader {
  /** Of about twenty seconds, without the listings. */
  private static final int ROUNDS = 25;

  private static final int SHORTEST_PAUSE = 50;
  private static final int LONGEST_PAUSE = 1000;

  private final Store store;
  private final Workers workers;
  private final ConsumerRaisingIOE<Integer> pause;
  private final Optional<String> undone;
  private final Map<String, Planned> known = new ConcurrentHashMap<>();

  /**
   * A reader of a table, whose path is qualified.
   *
   * @param pause waits for so many milliseconds, since the next look may find the jobs further
   */
  WholeReader(
      Store store,
      Path table,
      CommitterConfig config,
      Optional<String> undone,
      ConsumerRaisingIOE<Integer> pause) {
    super(table);
    this.store = store;
    this.workers =
        new Workers(config.ioThreads, () -> {}, Audit.job(""), CommitProgress.unwatched());
    this.undone = undone;
    this.pause = pause;
  }

  /**
   * A reader of a table.
   *
   * @param conf of a job or session
   * @param undone a job that keeps what it replaced: at these places the table is read as it was
   *     before that job, and elsewhere without what the job wrote
   * @throws UnsupportedStoreException if the committer does not serve its store
   */
  public static TableReader of(Configuration conf, Path table, Optional<String> undone)
      throws IOException {
    CommitterConfig config = new CommitterConfig(conf);
    RequestGate gate = config.requestGate(() -> {});
    Optional<LakefsTable> lakefs = LakefsTable.of(conf, StorePaths.plain(table), gate);
    if (lakefs.isPresent() && undone.isPresent()) {
      throw new IOException(
          "In lakeFS each commit stays, so "
              + table
              + " is read as it was before job "
              + undone.get()
              + " by spark.read: find the commit before its merge ('lakectl log'), and read "
              + lakefs.get().at("<commit>"));
    }
    if (lakefs.isPresent()) {
      return new LakefsReader(lakefs.get(), config);
    }
    Stores stores = new Stores(conf, gate);
    try {
      Path resolved = stores.resolve(table);
      stores.requireSafeRename(resolved);
      return new WholeReader(stores.all(), resolved, config, undone, Retries::pause);
    } catch (UnsupportedStoreException e) {
      throw new UnsupportedStoreException(
          e.getMessage() + " What jobs write there is read by spark.read, as it is listed.");
    }
  }

  /**
   * The files of the table: see {@link TableReader}. On a local disk or HDFS, while no job runs:
   * two requests for the time of the table's directory, and one for each directory. Elsewhere: two
   * for each directory, one more for the table's own, and three for each staging directory.
   *
   * @throws IOException also if jobs go on all the time; it names them
   */
  @Override
  public Map<Path, StoreEntry> files() throws IOException {
    requireNoPartition();
    TableState before = look();
    requireServed(before);
    TableView last = null;
    Optional<String> why = Optional.empty();
    for (int round = 0; round < ROUNDS; round++) {
      TableView view = TableView.of(store, workers, table, before);
      if (!view.missing.isPresent() && before.isStillWithoutJobs(store, table)) {
        return view.files;
      }
      TableState after = look();
      boolean isSteady = before.isSameAs(after) && !view.missing.isPresent();
      if (isSteady
          && (before.isWithoutCommitsUntil(after) || (last != null && view.isSameAs(last)))) {
        return view.files;
      }
      if (!isSteady) {
        why = view.missing;
        pause.accept(Math.min(LONGEST_PAUSE, SHORTEST_PAUSE << Math.min(round, 10)));
      }
      last = isSteady ? view : null;
      before = after;
    }
    throw new IOException(
        table
            + " did not come to rest while it was looked at "
            + ROUNDS
            + " times. Jobs that commit: "
            + before
            + why.map(missing -> "; at last " + missing).orElse("")
            + ". Read it again when they have ended. If a driver died, run 'manifest-committer"
            + " recover "
            + table
            + "' first. spark.read shows what is there as it is");
  }

  @Override
  public Map<Path, StoreEntry> held(String jobId) throws IOException {
    Map<Path, StoreEntry> files = new HashMap<>();
    try (JobPlan plan =
        HeldJobs.plan(store, new StagingRoot(table, jobId))
            .orElseThrow(() -> TableReader.notHeld(jobId, table))) {
      for (FileEntry file : plan.files) {
        if (file.isUpload()) {
          throw new IOException(
              "The files of job "
                  + jobId
                  + " wait as uploads, which nobody can read before they are completed");
        }
        files.put(file.destination(), StoreEntry.file(file.source(), file.identity()));
      }
    }
    return files;
  }

  private TableState look() throws IOException {
    try {
      return TableState.look(store, workers, table, known, undone);
    } catch (FileNotFoundException e) {
      FileNotFoundException missing =
          new FileNotFoundException(
              "There is nothing at "
                  + table
                  + ": check the path. It names one table, without a pattern");
      missing.initCause(e);
      throw missing;
    }
  }

  private void requireServed(TableState state) throws IOException {
    for (StoreEntry entry : state.entries) {
      if (entry.path().equals(table)) {
        throw new IOException(table + " is a file: read a table's directory");
      }
      if (entry.name().equals(STREAM_LOG)) {
        throw TableReader.isSink(table);
      }
    }
  }

  /** What tells how far jobs have come is in the table's directory, not in a partition's. */
  private void requireNoPartition() throws IOException {
    Path above = table;
    while (above.getParent() != null && above.getName().indexOf('=') >= 0) {
      above = above.getParent();
    }
    boolean[] isTable = {false};
    if (!above.equals(table)) {
      store.listIfThere(
          above,
          entry ->
              isTable[0] |=
                  entry.name().equals(JobPaths.SUCCESS_MARKER)
                      || StagingRoot.isStaging(entry.name()));
    }
    if (isTable[0]) {
      throw new IOException(
          table
              + " is a partition of "
              + above
              + ", whose directory shows which jobs have committed: read that table, and filter by"
              + " the partition's columns");
    }
  }
}
