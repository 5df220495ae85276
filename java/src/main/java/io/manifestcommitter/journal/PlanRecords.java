// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.journal;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileIdentity;
import io.manifestcommitter.manifest.PathText.PlaceText;
import io.manifestcommitter.manifest.Record;
import io.manifestcommitter.manifest.RecordFile;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.JobPlan.Target;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.plan.Swaps.Swap;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.apache.hadoop.fs.Path;

/**
 * A plan as records:
 *
 * <pre>
 * job        version jobId tasks makesTable marksSuccess commitId?   first
 * target     directory staging                      the table's first
 * only       path                                   of a held job: where no other data may be
 * made       path                                   a directory that did not exist
 * old        path                                   a directory whose files are replaced
 * oldFile    name size etag? modified written       in the directory before
 * swap       place staged? aside?
 * directory  source? destination                    of the files that follow; uploads have no source
 * file       name size etag? modified               in the directory before
 * </pre>
 *
 * <p>Paths are those of {@link PlaceText}: a plan does not know the name of its table, and is read
 * under the name by which its reader came. A custom location of a partition, outside of the table,
 * is named in full, as the job did, and read under the reader's name of the same store.
 *
 * <p>A plan of another version is refused: the version that wrote it can recover the table.
 */
final class PlanRecords {
  static final long VERSION = 6;

  /** With the identity of the commit, which earlier versions would forget. */
  static final long WITH_ID = 7;

  /** Of a held job, which earlier versions would take for dead. With or without an identity. */
  static final long HELD = 8;

  private PlanRecords() {}

  static void write(OutputStream out, JobPlan plan) throws IOException {
    RecordFile.Writer records = new RecordFile.Writer(out);
    PlaceText places = new PlaceText(plan.table, UnaryOperator.identity());
    Record job =
        new Record("job")
            .with("version", version(plan))
            .with("jobId", plan.jobId)
            .with("tasks", plan.tasks)
            .with("makesTable", plan.makesTable ? 1 : 0)
            .with("marksSuccess", plan.marksSuccess ? 1 : 0);
    plan.commitId.ifPresent(id -> job.with("commitId", id));
    records.write(job);
    for (Target target : plan.targets) {
      records.write(
          new Record("target")
              .with("directory", places.write(target.directory))
              .with("staging", places.write(target.staging)));
    }
    for (Path place : plan.heldOver()) {
      records.write(new Record("only").with("path", places.write(place)));
    }
    for (Path directory : plan.missingDirectories) {
      records.write(new Record("made").with("path", places.write(directory)));
    }
    for (OldDirectory old : plan.replaced) {
      records.write(new Record("old").with("path", places.write(old.path)));
      for (StoreEntry file : old.files()) {
        records.write(
            of("oldFile", file.name(), file.identity()).with("written", file.lastWritten()));
      }
    }
    for (Swap swap : plan.swaps.all) {
      Record record = new Record("swap").with("place", places.write(swap.place));
      swap.staged.ifPresent(path -> record.with("staged", places.write(path)));
      swap.aside.ifPresent(path -> record.with("aside", places.write(path)));
      records.write(record);
    }
    Optional<Path> source = Optional.empty();
    Path destination = null;
    for (FileEntry file : plan.files) {
      if (!file.sourceName().equals(file.name())) {
        throw new IllegalArgumentException(file + " changes its name, as no staged file does");
      }
      if (!file.sourceDirectory().equals(source)
          || !file.destinationDirectory().equals(destination)) {
        source = file.sourceDirectory();
        destination = file.destinationDirectory();
        Record record = new Record("directory").with("destination", places.write(destination));
        source.ifPresent(path -> record.with("source", places.write(path)));
        records.write(record);
      }
      records.write(of("file", file.name(), file.identity()));
    }
    records.finish();
  }

  private static long version(JobPlan plan) {
    if (plan.isHeld()) {
      return HELD;
    }
    return plan.commitId.isPresent() ? WITH_ID : VERSION;
  }

  private static Record of(String kind, String name, FileIdentity file) {
    Record record =
        new Record(kind)
            .with("name", name)
            .with("size", file.length)
            .with("modified", file.modificationTime);
    return file.etag.isEmpty() ? record : record.with("etag", file.etag);
  }
}
