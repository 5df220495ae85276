// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.read;

import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.journal.CommitJournal.State;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.read.OpenJob.Planned;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;

/** How far the jobs in a table have come, as one look found it. Immutable. */
final class TableState {
  /** The entries of the table's directory. */
  final List<StoreEntry> entries = new ArrayList<>();

  /** The jobs whose commits have begun, and have not ended. */
  final List<OpenJob> open = new ArrayList<>();

  private final long changed;
  private final TreeSet<String> roots = new TreeSet<>();
  private final TreeMap<String, String> journals = new TreeMap<>();

  private TableState(long changed) {
    this.changed = changed;
  }

  /**
   * A look. One request for the table, one for each staging directory, and those of {@link
   * OpenJob#find}. One more where the time of a directory tells of its entries.
   *
   * @param known the plans that were read, by their jobs
   * @param undone the job before which the table is looked at, if there is one
   * @throws java.io.FileNotFoundException if there is no table
   */
  static TableState look(
      Store store, Workers workers, Path table, Map<String, Planned> known, Optional<String> undone)
      throws IOException {
    // First: a change that comes between the two is seen by the next look.
    TableState state = new TableState(changed(store, table));
    store.list(table, state.entries::add);
    List<StagingRoot> roots = new ArrayList<>();
    for (StoreEntry entry : state.entries) {
      Optional<String> job = StagingRoot.jobOf(entry.name());
      if (entry.isDirectory() && job.isPresent()) {
        roots.add(new StagingRoot(table, job.get()));
        state.roots.add(job.get());
      }
    }
    for (Optional<OpenJob> found :
        workers.map(
            roots,
            root -> OpenJob.find(store, root, known, undone.equals(Optional.of(root.jobId()))))) {
      if (found.isPresent()) {
        OpenJob job = found.get();
        state.journals.put(job.root.jobId(), job.journal);
        if (!job.hasEnded()) {
          state.open.add(job);
        }
      }
    }
    if (undone.isPresent()
        && state.open.stream()
            .noneMatch(job -> job.state == State.KEPT && job.root.jobId().equals(undone.get()))) {
      throw new IOException(
          "Job "
              + undone.get()
              + " keeps no replaced data in "
              + table
              + ". A write does so that has "
              + CommitterConfig.KEEP_REPLACED
              + ", until 'manifest-committer clean' removes it");
    }
    return state;
  }

  /** When an entry of the table's directory last came or went; 0 where nothing tells. */
  private static long changed(Store store, Path table) throws IOException {
    return store.traits(table).directoryTimeTellsOfEntries()
        ? store.status(table).map(StoreEntry::lastWritten).orElse(0L)
        : 0;
  }

  /**
   * Whether no job that either look saw has come further in between. One that was set up meanwhile,
   * and has no journal by the later look, has changed nothing.
   */
  boolean isSameAs(TableState later) {
    return journals.equals(later.journals)
        && later.roots.containsAll(roots)
        && report().equals(later.report());
  }

  /**
   * Whether no job was in the table, and none has come since, as far as one request tells: each
   * makes and removes its staging directory there.
   */
  boolean isStillWithoutJobs(Store store, Path table) throws IOException {
    return changed != 0 && roots.isEmpty() && changed == changed(store, table);
  }

  /** As above, of jobs that had begun to commit, or have begun or ended until a later look. */
  boolean isWithoutCommitsUntil(TableState later) {
    return changed != 0 && changed == later.changed && open.isEmpty() && later.open.isEmpty();
  }

  /** What tells one {@code _SUCCESS} from another. */
  private String report() {
    return entries.stream()
        .filter(entry -> entry.name().equals(JobPaths.SUCCESS_MARKER))
        .map(entry -> entry.length() + " " + entry.etag() + " " + entry.lastWritten())
        .collect(Collectors.joining());
  }

  /** The jobs that keep a reader waiting. */
  @Override
  public String toString() {
    return open.isEmpty() ? "none at the last look" : open.toString();
  }
}
