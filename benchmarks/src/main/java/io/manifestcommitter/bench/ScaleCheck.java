package io.manifestcommitter.bench;

import io.manifestcommitter.JobPaths;
import io.manifestcommitter.manifest.FileList;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.SuccessReport;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;

/** Looks at all that a commit left behind and says what is wrong with it. */
final class ScaleCheck {
  private final ScaleStore store;
  private final ScaleJob job;
  private final String table;
  private final List<String> faults = new ArrayList<>();

  ScaleCheck(ScaleStore store) {
    this.store = store;
    this.job = store.job();
    this.table = job.paths().destination().toUri().getPath();
  }

  /** What is wrong; empty if nothing is. */
  List<String> run() throws IOException {
    long files = job.shape().files();
    expect("files renamed", files, store.log().renamedFiles());
    expect("requests that should not have been made", 0L, store.log().faults());
    faults.addAll(store.log().firstFaults());
    expect("task attempts left", 0, store.attemptsLeft());
    expect("manifests left", false, store.hasManifests());
    expect("entries of the table", entriesExpected(), new TreeSet<>(store.scratch().list(table)));
    checkReport();
    checkFileList();
    return faults;
  }

  private Set<String> entriesExpected() {
    Set<String> entries = new TreeSet<>(List.of(JobPaths.SUCCESS_MARKER, JobPaths.FILE_LIST));
    for (int p = 0; p < job.shape().partitions(); p++) {
      String partition = job.shape().partition(p);
      entries.add(partition.substring(0, partition.indexOf('/')));
    }
    return entries;
  }

  private void checkReport() throws IOException {
    try (ChannelInput in = store.scratch().open(table + "/" + JobPaths.SUCCESS_MARKER)) {
      SuccessReport report = SuccessReport.parse(in.readAllBytes(), JobPaths.SUCCESS_MARKER);
      expect("success", true, report.success());
      expect("job", ScaleJob.JOB_UUID, report.jobId());
      Map<String, Long> counters = report.statistics().counters();
      expect(
          "files in the report",
          (long) job.shape().files(),
          counters.get(StatisticNames.COMMITTER_FILES_COMMITTED));
      expect(
          "bytes in the report",
          job.bytes(),
          counters.get(StatisticNames.COMMITTER_BYTES_COMMITTED));
      expect(
          "tasks in the report",
          (long) job.shape().tasks(),
          counters.get(StatisticNames.COMMITTER_TASKS_COMPLETED));
    }
  }

  private void checkFileList() throws IOException {
    BitSet seen = new BitSet(job.shape().files());
    long lines = 0;
    try (FileList list =
        FileList.read(store.scratch().open(table + "/" + JobPaths.FILE_LIST), JobPaths.FILE_LIST)) {
      for (Optional<FileList.Entry> entry = list.next(); entry.isPresent(); entry = list.next()) {
        lines++;
        OptionalInt file = job.shape().fileNumber(entry.get().path());
        if (file.isPresent() && entry.get().size() == job.length(file.getAsInt())) {
          seen.set(file.getAsInt());
        }
      }
    }
    expect("lines of the file list", (long) job.shape().files(), lines);
    expect("files in the file list", job.shape().files(), seen.cardinality());
  }

  private void expect(String what, Object expected, Object found) {
    if (!expected.equals(found)) {
      faults.add(what + ": " + found + " instead of " + expected);
    }
  }
}
