// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import io.manifestcommitter.layout.JobPaths;
import java.io.IOException;
import java.util.BitSet;
import java.util.Iterator;
import java.util.OptionalInt;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;

/** Reads the whole table after a commit of the Spark protocol, as a reader of it would. */
final class SparkScaleCheck {
  private final SparkScaleStore store;
  private final JobShape shape;
  private final String table;
  private final BitSet seen;
  private int old;

  /**
   * A check.
   *
   * @param table its path without scheme
   */
  SparkScaleCheck(SparkScaleStore store, JobShape shape, String table) {
    this.store = store;
    this.shape = shape;
    this.table = table;
    this.seen = new BitSet(shape.files());
  }

  /**
   * Adds what is wrong to the faults of the store.
   *
   * @param oldFiles how many files were there before the job
   * @param oldName their name
   */
  void run(int oldFiles, String oldName) throws IOException {
    Faults faults = store.faults();
    walk("", oldName);
    faults.expect("files of the job in the table", shape.files(), seen.cardinality());
    faults.expect("older files in the table", oldFiles, old);
    ReportCheck report = new ReportCheck(shape, SparkScaleCommit.JOB_ID, faults);
    report.report(store.open(table + "/" + JobPaths.SUCCESS_MARKER));
    report.fileList(store.open(table + "/" + JobPaths.FILE_LIST));
  }

  private void walk(String directory, String oldName) throws IOException {
    String path = table + directory;
    Iterator<FileStatus> entries = store.list(path, new Path(path));
    while (entries.hasNext()) {
      FileStatus entry = entries.next();
      String name = entry.getPath().getName();
      String below = directory + "/" + name;
      boolean report = name.equals(JobPaths.SUCCESS_MARKER) || name.equals(JobPaths.FILE_LIST);
      if (directory.isEmpty() && report) {
        continue;
      }
      if (entry.isDirectory() && !name.startsWith("_")) {
        walk(below, oldName);
      } else if (!entry.isDirectory() && name.equals(oldName)) {
        old++;
      } else {
        see(below, entry);
      }
    }
  }

  private void see(String below, FileStatus entry) {
    OptionalInt file = shape.fileNumber(below.substring(1));
    if (!file.isPresent()
        || entry.getLen() != ScaleFiles.length(file.getAsInt())
        || seen.get(file.getAsInt())) {
      store.faults().add(below + " does not belong there");
    } else {
      seen.set(file.getAsInt());
    }
  }
}
