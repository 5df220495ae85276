package io.manifestcommitter.journal;

import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.Record;
import io.manifestcommitter.manifest.RecordFile;
import io.manifestcommitter.plan.ExistingDirectories;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.JobPlanner;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.plan.PlanRejectedException;
import io.manifestcommitter.plan.Swap;
import io.manifestcommitter.plan.Target;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
  private static final long VERSION = 1;

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
   * @throws CorruptManifestException if it is damaged, or leads out of its targets
   */
  static JobPlan read(InputStream in, String jobId, Target expected, String origin)
      throws IOException {
    try (RecordFile.Reader records = new RecordFile.Reader(in, origin);
        JobPlanner planner = new JobPlanner(jobId, expected)) {
      Reading reading = new Reading(planner, jobId, expected);
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

  /** The plan as far as it is read. */
  private static final class Reading {
    private final JobPlanner planner;
    private final String jobId;
    private final Target table;
    private final List<Target> targets = new ArrayList<>();
    private final Set<Path> made = new HashSet<>();
    private final List<OldDirectory> old = new ArrayList<>();
    private final List<Swap> swaps = new ArrayList<>();
    private final List<StoreEntry> oldFiles = new ArrayList<>();
    private final Map<Path, StoreEntry> topLevelFiles = new HashMap<>();
    private Path oldPath;

    Reading(JobPlanner planner, String jobId, Target table) {
      this.planner = planner;
      this.jobId = jobId;
      this.table = table;
      targets.add(table);
    }

    void add(Record record) throws IOException {
      switch (record.kind()) {
        case "job":
          job(record);
          break;
        case "target":
          target(new Target(record.path("directory"), record.path("staging")));
          break;
        case "made":
          made.add(requirePlace(record.path("path")));
          break;
        case "old":
          endOld();
          oldPath = requireTargetOrPlace(record.path("path"));
          break;
        case "oldFile":
          oldFiles.add(
              StoreEntry.file(
                  requirePlace(record.path("path")),
                  record.number("size"),
                  record.has("etag") ? record.text("etag") : "",
                  record.number("modified")));
          break;
        case "swap":
          swap(record);
          break;
        case "file":
          planner.publish(
              new FileEntry(
                  record.path("source"),
                  record.path("destination"),
                  record.number("size"),
                  record.has("etag") ? record.text("etag") : "",
                  record.number("modified")));
          break;
        default:
          throw new IllegalArgumentException(
              "it has a record '" + record.kind() + "' that this version does not know");
      }
    }

    JobPlan plan() throws IOException {
      endOld();
      Set<Path> existing = new HashSet<>(planner.directories());
      existing.removeAll(made);
      return planner.plan(new ExistingDirectories(existing, Set.of()), old, swaps);
    }

    private void job(Record record) throws PlanRejectedException {
      if (record.number("version") != VERSION) {
        throw new IllegalArgumentException(
            "it is of version " + record.number("version") + ", which this jar does not know");
      }
      if (!record.text("jobId").equals(jobId) || !record.path("table").equals(table.directory())) {
        throw new IllegalArgumentException(
            "it is of job " + record.text("jobId") + " into " + record.path("table"));
      }
      if (record.number("makesTable") != 0) {
        planner.makesTable();
      }
      for (long task = 0; task < record.number("tasks"); task++) {
        planner.task(Long.toString(task));
      }
    }

    private void target(Target target) {
      if (!target.staging().getName().equals(table.staging().getName())
          || !target.directory().equals(target.staging().getParent())) {
        throw new IllegalArgumentException(
            target.staging() + " is not a staging directory of this job");
      }
      if (!target.directory().equals(table.directory())) {
        planner.allow(target);
        targets.add(target);
      }
    }

    private void swap(Record record) {
      endOld();
      Path place = requirePlace(record.path("place"));
      Path staged = record.has("staged") ? requireStaging(record.path("staged")) : null;
      Path aside = record.has("aside") ? requireStaging(record.path("aside")) : null;
      StoreEntry file = topLevelFiles.get(place);
      if (file != null && staged == null && aside != null) {
        swaps.add(Swap.withdraw(file, aside));
      } else if (staged == null && aside != null) {
        swaps.add(Swap.withdraw(place, aside));
      } else if (staged != null) {
        swaps.add(aside == null ? Swap.publish(place, staged) : Swap.replace(place, staged, aside));
      } else {
        throw new IllegalArgumentException("nothing is to happen at " + place);
      }
    }

    private void endOld() {
      if (oldPath != null) {
        for (StoreEntry file : oldFiles) {
          if (!file.path().getParent().equals(oldPath)) {
            throw new IllegalArgumentException(file.path() + " is not in " + oldPath);
          }
          if (isTarget(oldPath)) {
            topLevelFiles.put(file.path(), file);
          }
        }
        old.add(new OldDirectory(oldPath, oldFiles));
      } else if (!oldFiles.isEmpty()) {
        throw new IllegalArgumentException("an old file is in no directory");
      }
      oldPath = null;
      oldFiles.clear();
    }

    private Path requireTargetOrPlace(Path path) {
      return isTarget(path) ? path : requirePlace(path);
    }

    private boolean isTarget(Path path) {
      return targets.stream().anyMatch(target -> target.directory().equals(path));
    }

    /** In one of the targets, and in none of their staging trees. */
    private Path requirePlace(Path path) {
      boolean inTarget = false;
      for (Target target : targets) {
        if (StorePaths.isSameOrBelow(target.staging(), path)) {
          throw new IllegalArgumentException(path + " is in the job's staging directory");
        }
        inTarget |= StorePaths.isBelow(target.directory(), path);
      }
      if (!inTarget) {
        throw new IllegalArgumentException(path + " is outside the job's destination " + targets);
      }
      return path;
    }

    private Path requireStaging(Path path) {
      for (Target target : targets) {
        if (StorePaths.isBelow(target.staging(), path)) {
          return path;
        }
      }
      throw new IllegalArgumentException(path + " is outside the job's staging directories");
    }
  }
}
