// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.manifest.FileList;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.SuccessReport;
import java.io.IOException;
import java.io.InputStream;
import java.util.BitSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Compares the report that a job of a {@link JobShape} left, and its list of files, with the job.
 */
final class ReportCheck {
  private final JobShape shape;
  private final String jobId;
  private final Faults faults;

  ReportCheck(JobShape shape, String jobId, Faults faults) {
    this.shape = shape;
    this.jobId = jobId;
    this.faults = faults;
  }

  void report(InputStream content) throws IOException {
    try (InputStream in = content) {
      SuccessReport report = SuccessReport.parse(in.readAllBytes(), JobPaths.SUCCESS_MARKER);
      faults.expect("success", true, report.success());
      faults.expect("job", jobId, report.jobId());
      Map<String, Long> counters = report.statistics().counters();
      faults.expect(
          "files in the report",
          (long) shape.files(),
          counters.get(StatisticNames.COMMITTER_FILES_COMMITTED));
      faults.expect(
          "bytes in the report",
          ScaleFiles.bytes(shape.files()),
          counters.get(StatisticNames.COMMITTER_BYTES_COMMITTED));
      faults.expect(
          "tasks in the report",
          (long) shape.tasks(),
          counters.get(StatisticNames.COMMITTER_TASKS_COMPLETED));
    }
  }

  void fileList(InputStream content) throws IOException {
    BitSet seen = new BitSet(shape.files());
    long lines = 0;
    try (FileList list = FileList.read(content, JobPaths.FILE_LIST)) {
      for (Optional<FileList.Entry> entry = list.next(); entry.isPresent(); entry = list.next()) {
        lines++;
        OptionalInt file = shape.fileNumber(entry.get().path);
        if (file.isPresent() && entry.get().size == ScaleFiles.length(file.getAsInt())) {
          seen.set(file.getAsInt());
        }
      }
    }
    faults.expect("lines of the file list", (long) shape.files(), lines);
    faults.expect("files in the file list", shape.files(), seen.cardinality());
  }
}
