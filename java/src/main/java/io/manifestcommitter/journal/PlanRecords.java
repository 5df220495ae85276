package io.manifestcommitter.journal;

import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.Record;
import io.manifestcommitter.manifest.RecordFile;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.JobPlanner;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.plan.PlanRejectedException;
import io.manifestcommitter.plan.Swap;
import io.manifestcommitter.plan.Target;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/**
 * A plan as records:
 *
 * <pre>
 * job        jobId table tasks makesTable           first
 * target     directory staging                      the table's first
 * made       path                                   a directory that did not exist
 * old        path                                   a directory whose files are replaced
 * oldFile    path size etag? modified               in the directory before
 * swap       place staged? aside?
 * file       source destination size etag? modified
 * </pre>
 */
final class PlanRecords {
  static final long VERSION = 1;

  private PlanRecords() {}

  /** Writes a plan. */
  static void write(OutputStream out, JobPlan plan) throws IOException {
    RecordFile.Writer records = new RecordFile.Writer(out);
    records.write(
        new Record("job")
            .with("version", VERSION)
            .with("jobId", plan.jobId())
            .with("table", plan.table())
            .with("tasks", plan.tasks())
            .with("makesTable", plan.makesTable() ? 1 : 0));
    for (Target target : plan.targets()) {
      records.write(
          new Record("target")
              .with("directory", target.directory())
              .with("staging", target.staging()));
    }
    for (Path directory : plan.missingDirectories()) {
      records.write(new Record("made").with("path", directory));
    }
    for (OldDirectory old : plan.replaced()) {
      records.write(new Record("old").with("path", old.path()));
      for (StoreEntry file : old.files()) {
        records.write(
            identity(
                new Record("oldFile").with("path", file.path()),
                file.length(),
                file.etag(),
                file.modificationTime()));
      }
    }
    for (Swap swap : plan.swaps().all()) {
      Record record = new Record("swap").with("place", swap.place());
      swap.staged().ifPresent(path -> record.with("staged", path));
      swap.aside().ifPresent(path -> record.with("aside", path));
      records.write(record);
    }
    for (FileEntry file : plan.files()) {
      records.write(
          identity(
              new Record("file")
                  .with("source", file.source())
                  .with("destination", file.destination()),
              file.size(),
              file.etag(),
              file.modificationTime()));
    }
    records.finish();
  }

  private static Record identity(Record record, long size, String etag, long modified) {
    record.with("size", size).with("modified", modified);
    return etag.isEmpty() ? record : record.with("etag", etag);
  }

  /**
   * Reads a plan.
   *
   * @param in closed in any case
   * @param expected the table's target: a plan for another one is refused
   * @param origin names the file in messages
   * @throws CorruptManifestException if it is damaged, leads out of its targets, or is no plan that
   *     a job of this id makes
   * @throws IOException also if it needs more memory than there is
   */
  static JobPlan read(InputStream in, String jobId, Target expected, String origin)
      throws IOException {
    return read(in, jobId, expected, origin, Runtime.getRuntime().maxMemory());
  }

  /** As above, on a JVM with so many bytes of heap. */
  static JobPlan read(InputStream in, String jobId, Target expected, String origin, long heap)
      throws IOException {
    try (RecordFile.Reader records = new RecordFile.Reader(in, origin);
        JobPlanner planner = new JobPlanner(jobId, expected)) {
      PlanReader reading = new PlanReader(planner, jobId, expected, new HeapBudget(heap, origin));
      try {
        for (Optional<Record> record = records.next();
            record.isPresent();
            record = records.next()) {
          reading.add(record.get());
        }
        return reading.plan();
      } catch (IllegalArgumentException | PlanRejectedException e) {
        throw records.corrupt(String.valueOf(e.getMessage()), e);
      }
    }
  }
}
