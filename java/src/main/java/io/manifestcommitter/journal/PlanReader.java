package io.manifestcommitter.journal;

import io.manifestcommitter.StagingRoot;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.Record;
import io.manifestcommitter.plan.ExistingDirectories;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.JobPlanner;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.plan.Swap;
import io.manifestcommitter.plan.Target;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.Path;

/**
 * Makes a plan of the records of one. They are believed only as far as a job of this id could have
 * written them: sources and destinations mirror each other, old data goes to where the job moves it
 * aside, and nothing lies outside its targets, or in a staging root. Whatever else they say is an
 * {@link IllegalArgumentException}.
 */
final class PlanReader {
  private final JobPlanner planner;
  private final String jobId;
  private final Target table;
  private final HeapBudget heap;
  private final List<StagingRoot> roots = new ArrayList<>();
  private final Set<Path> made = new HashSet<>();
  private final List<OldDirectory> old = new ArrayList<>();
  private final Set<Path> oldPaths = new HashSet<>();
  private final List<StoreEntry> oldFiles = new ArrayList<>();
  private final Map<Path, StoreEntry> topLevelFiles = new HashMap<>();
  private final List<Swap> swaps = new ArrayList<>();
  private final Set<Path> places = new HashSet<>();
  private final Set<Path> asides = new HashSet<>();
  private boolean begun;
  private Path oldPath;
  private Path lastParent;

  /** A plan of {@code jobId} for {@code table}; to be read into {@code planner}. */
  PlanReader(JobPlanner planner, String jobId, Target table, HeapBudget heap) {
    this.planner = planner;
    this.jobId = jobId;
    this.table = table;
    this.heap = heap;
  }

  void add(Record record) throws IOException {
    String kind = record.kind();
    require(begun != kind.equals("job"), "its records are not in order");
    require(kind.equals("job") || kind.equals("target") || !roots.isEmpty(), "it has no table");
    switch (kind) {
      case "job":
        job(record);
        break;
      case "target":
        target(record.path("directory"), record.path("staging"));
        break;
      case "made":
        made.add(place(record.path("path")));
        break;
      case "old":
        old(record.path("path"));
        break;
      case "oldFile":
        oldFile(record);
        break;
      case "swap":
        swap(record);
        break;
      case "file":
        file(record);
        break;
      default:
        throw new IllegalArgumentException(
            "it has a record '" + kind + "' that this version does not know");
    }
  }

  JobPlan plan() throws IOException {
    require(!roots.isEmpty(), "it has no table");
    endOld();
    for (Path place : places) {
      for (Path above = place.getParent(); above != null; above = above.getParent()) {
        if (places.contains(above)) {
          throw new IllegalArgumentException(place + " and " + above + " are both to be replaced");
        }
      }
    }
    Set<Path> existing = new HashSet<>(planner.directories());
    existing.removeAll(made);
    return planner.plan(new ExistingDirectories(existing, Set.of()), old, swaps);
  }

  private void job(Record record) {
    begun = true;
    long tasks = record.number("tasks");
    require(
        record.number("version") == PlanRecords.VERSION,
        "it is of version " + record.number("version") + ", which this jar does not know");
    require(
        record.text("jobId").equals(jobId) && record.path("table").equals(table.directory()),
        "it is of job " + record.text("jobId") + " into " + record.path("table"));
    require(tasks <= Integer.MAX_VALUE, "no job has " + tasks + " tasks");
    planner.tasks((int) tasks);
    if (record.number("makesTable") != 0) {
      planner.makesTable();
    }
  }

  private void target(Path directory, Path staging) throws IOException {
    StagingRoot root = new StagingRoot(directory, jobId);
    require(
        root.root().equals(staging) && directory.toUri().getScheme() != null,
        staging + " is not a staging directory of this job");
    heap.path(directory);
    if (roots.isEmpty()) {
      require(directory.equals(table.directory()), "it begins with the target " + directory);
    } else {
      require(!isTarget(directory), "it has the target " + directory + " twice");
      planner.allow(new Target(directory, staging));
    }
    roots.add(root);
  }

  private void old(Path path) throws IOException {
    endOld();
    oldPath = isTarget(path) ? path : place(path);
    require(oldPaths.add(oldPath), "it has the old directory " + path + " twice");
    heap.path(path);
  }

  private void oldFile(Record record) throws IOException {
    Path path = place(record.path("path"));
    if (!path.getParent().equals(oldPath)) {
      throw new IllegalArgumentException(path + " is not in the old directory " + oldPath);
    }
    StoreEntry file =
        StoreEntry.file(path, record.number("size"), etag(record), record.number("modified"));
    oldFiles.add(file);
    if (isTarget(oldPath)) {
      topLevelFiles.put(path, file);
    }
  }

  private void endOld() {
    if (oldPath != null) {
      old.add(new OldDirectory(oldPath, oldFiles));
    }
    oldPath = null;
    oldFiles.clear();
  }

  private void swap(Record record) throws IOException {
    endOld();
    Path place = place(record.path("place"));
    require(places.add(place), place + " is to be replaced twice");
    Path staged = record.has("staged") ? record.path("staged") : null;
    Path aside = record.has("aside") ? record.path("aside") : null;
    require(staged != null || aside != null, "nothing is to happen at " + place);
    StagingRoot root = rootOf(staged != null ? staged : aside);
    if (staged != null) {
      require(
          staged.equals(mirrored(root, root.sealed(), place)),
          staged + " is not where what goes to " + place + " is staged");
    }
    if (aside != null) {
      require(
          aside.getParent().equals(root.old())
              && StorePaths.isBelow(root.directory(), place)
              && asides.add(aside),
          aside + " is not where the old data of " + place + " goes");
      require(
          oldPaths.contains(place) || topLevelFiles.containsKey(place),
          "it does not tell the old data of " + place);
      heap.path(aside);
    }
    swaps.add(swap(place, staged, aside));
  }

  private Swap swap(Path place, Path staged, Path aside) {
    StoreEntry file = topLevelFiles.get(place);
    if (staged != null) {
      return aside == null ? Swap.publish(place, staged) : Swap.replace(place, staged, aside);
    }
    return file != null ? Swap.withdraw(file, aside) : Swap.withdraw(place, aside);
  }

  private void file(Record record) throws IOException {
    Path source = record.path("source");
    Path destination = record.path("destination");
    StagingRoot root = rootOf(source);
    if (!source.equals(mirrored(root, root.sealed(), destination))
        && !source.equals(mirrored(root, root.output(), destination))) {
      throw new IllegalArgumentException(
          source + " is not where what goes to " + destination + " is staged");
    }
    heap.file();
    if (!destination.getParent().equals(lastParent)) {
      lastParent = destination.getParent();
      heap.path(lastParent);
    }
    planner.publish(
        new FileEntry(
            source, destination, record.number("size"), etag(record), record.number("modified")));
  }

  private static String etag(Record record) {
    return record.has("etag") ? record.text("etag") : "";
  }

  /** Where in a staging tree that is which goes to a place. */
  private static Path mirrored(StagingRoot root, Path output, Path place) {
    return StorePaths.resolve(output, StorePaths.relative(root.directory(), place));
  }

  private boolean isTarget(Path path) {
    return roots.stream().anyMatch(root -> root.directory().equals(path));
  }

  /** In one of the targets, and in no staging root there. */
  private Path place(Path path) throws IOException {
    boolean inTarget = false;
    for (StagingRoot root : roots) {
      if (StorePaths.isBelow(root.directory(), path)) {
        inTarget = true;
        if (StagingRoot.leadsIntoStaging(StorePaths.relative(root.directory(), path))) {
          throw new IllegalArgumentException(path + " is in a staging directory");
        }
      }
    }
    if (!inTarget) {
      throw new IllegalArgumentException(path + " is outside the job's destinations");
    }
    heap.path(path);
    return path;
  }

  private StagingRoot rootOf(Path staged) {
    for (StagingRoot root : roots) {
      if (StorePaths.isBelow(root.root(), staged)) {
        return root;
      }
    }
    throw new IllegalArgumentException(staged + " is outside the job's staging directories");
  }

  private static void require(boolean condition, String otherwise) {
    if (!condition) {
      throw new IllegalArgumentException(otherwise);
    }
  }
}
