// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import io.manifestcommitter.layout.JobPaths;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Looks at all that a commit of the Hadoop protocol left behind. */
final class ScaleCheck {
  private final ScaleStore store;
  private final ScaleJob job;
  private final String table;
  private final Faults faults;

  ScaleCheck(ScaleStore store) {
    this.store = store;
    this.job = store.job();
    this.faults = store.faults();
    this.table = job.paths().destination.toUri().getPath();
  }

  /** Adds what is wrong to the faults of the store. */
  void run() throws IOException {
    long files = job.shape().files();
    faults.expect("files renamed", files, store.log().renamedFiles());
    faults.expect("task attempts left", 0, store.attemptsLeft());
    faults.expect("manifests left", false, store.hasManifests());
    faults.expect(
        "entries of the table", entriesExpected(), new TreeSet<>(store.scratch().list(table)));
    ReportCheck report = new ReportCheck(job.shape(), ScaleJob.JOB_UUID, faults);
    report.report(store.scratch().open(table + "/" + JobPaths.SUCCESS_MARKER));
    report.fileList(store.scratch().open(table + "/" + JobPaths.FILE_LIST));
  }

  private Set<String> entriesExpected() {
    Set<String> entries = new TreeSet<>(List.of(JobPaths.SUCCESS_MARKER, JobPaths.FILE_LIST));
    for (int p = 0; p < job.shape().partitions(); p++) {
      String partition = job.shape().partition(p);
      entries.add(partition.substring(0, partition.indexOf('/')));
    }
    return entries;
  }
}
