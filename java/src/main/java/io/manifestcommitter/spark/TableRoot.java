// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.JobDescription;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.journal.Heartbeat;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.fs.Path;

/** What stands at a table's path, and what lies there beside data. */
final class TableRoot {
  static final Set<String> FOREIGN_RECORDS = Set.of("_delta_log", ".hoodie");
  static final String ICEBERG_METADATA = "metadata";
  private static final Set<String> REPORTS = Set.of(JobPaths.SUCCESS_MARKER, JobPaths.FILE_LIST);

  private final Path table;
  private final List<StagingRoot> stagingRoots = new ArrayList<>();
  private final List<String> foreignRecords = new ArrayList<>();
  private final List<Path> metadata = new ArrayList<>();
  private final List<StoreEntry> reports = new ArrayList<>();
  private Kind kind = Kind.DIRECTORY;

  private TableRoot(Path table) {
    this.table = table;
  }

  /** What stands at a path. */
  enum Kind {
    NOTHING,
    FILE,
    DIRECTORY
  }

  /** Looks at a table. One request. */
  static TableRoot list(Store store, Path table) throws IOException {
    TableRoot root = new TableRoot(table);
    if (!store.listIfThere(table, root::note)) {
      root.kind = Kind.NOTHING;
    }
    return root;
  }

  private void note(StoreEntry entry) {
    if (REPORTS.contains(entry.name())) {
      reports.add(entry);
    }
    if (!entry.isDirectory()) {
      if (entry.path().equals(table)) {
        kind = Kind.FILE;
      }
      return;
    }
    if (FOREIGN_RECORDS.contains(entry.name())) {
      foreignRecords.add(entry.name());
    } else if (entry.name().equals(ICEBERG_METADATA)) {
      metadata.add(entry.path());
    }
    StagingRoot.jobOf(entry.name()).ifPresent(job -> stagingRoots.add(new StagingRoot(table, job)));
  }

  Kind kind() {
    return kind;
  }

  /** Whether a job's report is there. */
  boolean hasReport() {
    return reports.stream().anyMatch(report -> !report.isDirectory());
  }

  /** The staging directories of jobs of the Spark protocol. */
  List<StagingRoot> stagingRoots() {
    return stagingRoots;
  }

  /**
   * Refuses to overwrite a table of a format that keeps its own record of files. Overwriting its
   * root as a plain directory would delete that record, and every version of the table with it. One
   * request where there is a directory called {@code metadata}.
   *
   * @throws IOException naming what was found
   */
  void requirePlainFiles(Store store) throws IOException {
    for (Path directory : metadata) {
      store.list(directory, this::noteIceberg);
    }
    if (!foreignRecords.isEmpty()) {
      throw foreign(table, foreignRecords.get(0));
    }
  }

  /** The failure of a job that would overwrite a table of such a format. */
  static IOException foreign(Path table, String record) {
    return new IOException(
        table
            + " holds "
            + record
            + ", so it is a Delta, Hudi or Iceberg table. Overwriting it as plain files would destroy it: write it"
            + " with its own format, or remove the table first. Nothing was touched.");
  }

  /**
   * Refuses a directory where the job's report goes, and a report that this user may not move
   * aside, before the job runs. No request if the last report is this user's; else as many as
   * {@link Store#deletionDenied} makes.
   *
   * @throws IOException naming it
   */
  void requirePlaceForReport(Store store) throws IOException {
    List<Path> foreign = new ArrayList<>();
    for (StoreEntry report : reports) {
      if (report.isDirectory()) {
        throw new IOException(
            report.path()
                + " is a directory, where the job's report goes. Nothing was touched: move it away.");
      }
      if (!report.isOwn()) {
        foreign.add(report.path());
      }
    }
    Optional<String> denied =
        foreign.isEmpty()
            ? Optional.empty()
            : store.deletionDenied(table, Optional.empty(), foreign);
    if (denied.isPresent()) {
      throw new IOException(
          "The report of the last job, "
              + foreign.get(0)
              + ", cannot be replaced: "
              + denied.get()
              + ". Nothing was touched: "
              + JobDescription.REPORT_IN_THE_WAY);
    }
  }

  private void noteIceberg(StoreEntry entry) {
    if (isIcebergs(entry.name())) {
      foreignRecords.add(ICEBERG_METADATA + "/" + entry.name());
    }
  }

  /** Whether a file in a directory called {@code metadata} is one of Iceberg's, by its name. */
  static boolean isIcebergs(String name) {
    return name.endsWith(".metadata.json") || name.equals("version-hint.text");
  }

  /**
   * A file at the path of which an overwrite makes a table. Nothing can be staged below a file, so
   * the job's setup moves it to {@code .manifest-file-$jobId} beside the table. The file goes when
   * the job has committed, and returns to its place if the job fails. After a driver's death it
   * stays where it is: no job deletes it.
   */
  static final class TableFile {
    private final Store store;
    private final Path table;
    private final Path aside;

    /** What stands at the path of the table of a job. */
    TableFile(WriteRequest write) {
      this.store = write.store;
      this.table = write.table;
      // There is nothing beside the root of a store, and it is no file.
      this.aside =
          new Path(table.isRoot() ? table : table.getParent(), ".manifest-file-" + write.jobId);
    }

    /**
     * Requires that the file can be replaced. One request.
     *
     * @throws IOException if it cannot; nothing was touched
     */
    void requireReplaceable() throws IOException {
      if (!store.traits(table).hasAtomicDirectoryRename()) {
        throw refused(", which this store cannot move aside at once");
      }
      if (store.status(table).filter(StoreEntry::isLink).isPresent()) {
        throw refused(" behind a symbolic link");
      }
    }

    /** That no table is written there. */
    IOException refused(String reason) {
      return new IOException(
          table
              + " is a file"
              + reason
              + ". It was not touched: remove it or choose another path.");
    }

    /** Makes a directory of the file, if nobody has done so yet. */
    void moveAside() throws IOException {
      Optional<StoreEntry> file = store.status(table).filter(entry -> !entry.isDirectory());
      if (file.isPresent()) {
        Retries.rename(store, file.get().movedTo(aside))
            .orThrow("The file could not be moved aside");
        if (store.status(aside).filter(StoreEntry::isDirectory).isPresent()) {
          store
              .renameDirectory(aside, table)
              .orThrow(aside + " is a table, which belongs to " + table);
          throw new IOException(
              "Another job has just made a table at " + table + ", which is back: run again");
        }
      }
      store.mkdirs(table);
    }

    /** What to know of a commit that failed. */
    IOException advice() {
      return new IOException(
          table
              + " was a file. If it is not there when the job has been aborted, it is "
              + aside
              + ": move it back once nobody needs what else is there");
    }

    /** Deletes the file of a job that committed. */
    void delete() throws IOException {
      store.deleteFile(aside);
    }

    /**
     * Returns the file of a job that failed to its place, if that is free. To be called when the
     * job has nothing left in the table.
     *
     * @throws IOException if that fails; it names both places
     */
    void putBack() throws IOException {
      Optional<StoreEntry> file = store.status(aside);
      Optional<StoreEntry> there = store.status(table);
      // Most stores would move it into a directory that is there.
      boolean isFree =
          !there.isPresent()
              || (there.get().isDirectory() && store.deleteEmptyDirectory(there.get().path()));
      if (file.isPresent() && !isFree) {
        throw advice();
      }
      if (file.isPresent()) {
        Retries.rename(store, file.get().movedTo(table)).orThrow(advice().getMessage());
      }
    }
  }

  /** What setting a job up gives: where it stages, and what it found in the table. */
  static final class JobStaging {
    /** In the table. */
    final StagingRoot root;

    /** Null if setting the job up failed before it began. */
    final Heartbeat heartbeat;

    /** Whether a file stood in the table's place. */
    final boolean replacesFile;

    /** Whether there was no table before. */
    final boolean madeTable;

    /** Whether the last job's report may be in the table. */
    final boolean mayHaveReport;

    JobStaging(
        StagingRoot root,
        Heartbeat heartbeat,
        boolean replacesFile,
        boolean madeTable,
        boolean mayHaveReport) {
      this.root = root;
      this.heartbeat = heartbeat;
      this.replacesFile = replacesFile;
      this.madeTable = madeTable;
      this.mayHaveReport = mayHaveReport;
    }

    /** Whether there was nothing before where the table is, and no file either. */
    boolean isNewTable() {
      return madeTable && !replacesFile;
    }

    /**
     * The last name of the journal; empty where the staging directory goes at once after the
     * commit. So it does where one request deletes all of it, and something else shows that the
     * commit has ended. That is the point of no return, or the report, which has left the staging
     * directory.
     *
     * @param hasLocations whether the job has staging directories at custom locations, too
     */
    Optional<CommitJournal.State> lastState(
        JobPlan plan, boolean hasLocations, CommitterConfig config, Store store) {
      if (config.cleanupSkipped || (config.keepReplaced > 0 && !plan.replaced.isEmpty())) {
        return Optional.of(CommitJournal.State.KEPT);
      }
      boolean showsItsEnd = plan.notesPointOfNoReturn() || plan.marksSuccess;
      return showsItsEnd && !hasLocations && store.traits(root.root()).hasAtomicDirectoryDeletion()
          ? Optional.empty()
          : Optional.of(CommitJournal.State.FINISHED);
    }
  }
}
