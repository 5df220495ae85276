// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.fs.Path;

/** What stands at a table's path, and what lies there beside data. */
final class TableRoot {
  private static final Set<String> FOREIGN_RECORDS = Set.of("_delta_log", ".hoodie");
  private static final String ICEBERG_METADATA = "metadata";
  private static final Set<String> REPORTS = Set.of(JobPaths.SUCCESS_MARKER, JobPaths.FILE_LIST);

  private final Path table;
  private final List<StagingRoot> stagingRoots = new ArrayList<>();
  private final List<String> foreignRecords = new ArrayList<>();
  private final List<Path> metadata = new ArrayList<>();
  private final List<Path> inPlaceOfReport = new ArrayList<>();
  private Kind kind = Kind.DIRECTORY;
  private boolean isBare = true;
  private boolean hasReport;

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
    try {
      store.list(table, root::note);
    } catch (FileNotFoundException e) {
      root.kind = Kind.NOTHING;
    }
    return root;
  }

  private void note(StoreEntry entry) {
    isBare = false;
    if (!entry.isDirectory()) {
      if (entry.path().equals(table)) {
        kind = Kind.FILE;
      }
      hasReport |= REPORTS.contains(entry.name());
      return;
    }
    if (REPORTS.contains(entry.name())) {
      inPlaceOfReport.add(entry.path());
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

  /** Whether nothing is there, or a directory with nothing in it. */
  boolean isBare() {
    return isBare;
  }

  /** Whether a job's report is there. */
  boolean hasReport() {
    return hasReport;
  }

  /** The staging directories of jobs of the Spark protocol. */
  List<StagingRoot> stagingRoots() {
    return stagingRoots;
  }

  /**
   * Refuses to overwrite a table of a format that keeps its own record of files: overwriting its
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
      throw new IOException(
          table
              + " holds "
              + foreignRecords.get(0)
              + ", so it is a Delta, Hudi or Iceberg table. Overwriting it as plain files would destroy it: write it"
              + " with its own format, or remove the table first. Nothing was touched.");
    }
  }

  /**
   * Refuses a directory where the job's report goes, before the job runs.
   *
   * @throws IOException naming it
   */
  void requirePlaceForReport() throws IOException {
    if (!inPlaceOfReport.isEmpty()) {
      throw new IOException(
          inPlaceOfReport.get(0)
              + " is a directory, where the job's report goes. Nothing was touched: move it away.");
    }
  }

  private void noteIceberg(StoreEntry entry) {
    if (entry.name().endsWith(".metadata.json") || entry.name().equals("version-hint.text")) {
      foreignRecords.add(ICEBERG_METADATA + "/" + entry.name());
    }
  }
}
