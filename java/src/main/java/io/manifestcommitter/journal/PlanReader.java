// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.journal;

import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileIdentity;
import io.manifestcommitter.manifest.PlaceText;
import io.manifestcommitter.manifest.Record;
import io.manifestcommitter.manifest.Upload;
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
import java.util.function.ToIntFunction;
import org.apache.hadoop.fs.Path;

/**
 * Reads a plan from its records. They are believed only as far as a job of this id could have
 * written them. Sources and destinations mirror each other, and old data goes to where the job
 * moves it aside. Nothing lies outside the targets of the plan, or in a staging directory. Whatever
 * else they say is an {@link IllegalArgumentException}.
 */
final class PlanReader {
  private final JobPlanner planner;
  private final String jobId;
  private final Target table;
  private final PlaceText places;
  private final HeapBudget heap;
  private final ToIntFunction<Path> holders;
  private final Map<Path, StagingRoot> byDirectory = new HashMap<>();
  private final Map<Path, StagingRoot> byRoot = new HashMap<>();
  private final Set<Path> made = new HashSet<>();
  private final List<OldDirectory> old = new ArrayList<>();
  private final Set<Path> oldPaths = new HashSet<>();
  private final List<StoreEntry> oldFiles = new ArrayList<>();
  private final Map<Path, StoreEntry> movable = new HashMap<>();
  private final List<Swap> swaps = new ArrayList<>();
  private final Set<Path> swapped = new HashSet<>();
  private final Set<Path> asides = new HashSet<>();
  private boolean begun;
  private Path oldPath;
  private Path source;
  private Path destination;
  private Path lastPlacesParent;
  private Path lastPlacesTarget;
  private StagingRoot lastRoot;

  /**
   * A plan of one job; to be read into {@code planner}.
   *
   * @param places how the table's paths are written
   * @param holders the holder of each staging directory when the plan is used: the records name
   *     what its driver had
   */
  PlanReader(
      JobPlanner planner,
      String jobId,
      Target table,
      PlaceText places,
      HeapBudget heap,
      ToIntFunction<Path> holders) {
    this.planner = planner;
    this.jobId = jobId;
    this.table = table;
    this.places = places;
    this.heap = heap;
    this.holders = holders;
  }

  void add(Record record) throws IOException {
    String kind = record.kind();
    require(begun != kind.equals("job"), "its records are not in order");
    require(kind.equals("job") || kind.equals("target") || hasTable(), "it has no table");
    switch (kind) {
      case "job":
        job(record);
        break;
      case "target":
        target(path(record, "directory"), path(record, "staging"));
        break;
      case "made":
        made.add(place(path(record, "path")));
        break;
      case "old":
        old(path(record, "path"));
        break;
      case "oldFile":
        oldFile(record);
        break;
      case "swap":
        swap(record);
        break;
      case "directory":
        directory(path(record, "source"), path(record, "destination"));
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
    require(hasTable(), "it has no table");
    endOld();
    for (Path place : swapped) {
      for (Path above = place.getParent(); above != null; above = above.getParent()) {
        if (swapped.contains(above)) {
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
    require(record.text("jobId").equals(jobId), "it is of job " + record.text("jobId"));
    require(tasks <= Integer.MAX_VALUE, "no job has " + tasks + " tasks");
    planner.tasks((int) tasks);
    if (record.number("makesTable") != 0) {
      planner.makesTable();
    }
    if (record.number("marksSuccess") != 0) {
      planner.marksSuccess();
    }
  }

  private Path path(Record record, String name) {
    return places.read(record.text(name));
  }

  private void target(Path directory, Path staging) throws IOException {
    StagingRoot root = new StagingRoot(directory, jobId);
    require(
        root.root().equals(staging) && directory.toUri().getScheme() != null,
        staging + " is not a staging directory of this job");
    heap.path(directory);
    if (!hasTable()) {
      require(directory.equals(table.directory()), "it begins with the target " + directory);
    } else {
      require(!isTarget(directory), "it has the target " + directory + " twice");
      planner.allow(new Target(directory, staging));
    }
    byDirectory.put(directory, root);
    byRoot.put(staging, root);
    lastPlacesParent = null;
  }

  private boolean hasTable() {
    return !byDirectory.isEmpty();
  }

  private void old(Path path) throws IOException {
    endOld();
    oldPath = isTarget(path) ? path : place(path);
    require(oldPaths.add(oldPath), "it has the old directory " + path + " twice");
    heap.path(path);
  }

  private void oldFile(Record record) throws IOException {
    require(oldPath != null, "it has an old file without a directory");
    if (record.has("link")) {
      throw new OtherVersionException(
          "The journal of job "
              + jobId
              + " in "
              + table
              + " replaces a symbolic link, as only an earlier version did");
    }
    Path path = StorePaths.resolve(oldPath, record.text("name"));
    if (!oldPath.equals(path.getParent())) {
      throw new IllegalArgumentException(path + " is not in the old directory " + oldPath);
    }
    place(path);
    StoreEntry file = StoreEntry.file(path, identity(record)).lastWritten(record.number("written"));
    oldFiles.add(file);
    if (isTarget(oldPath)) {
      movable.put(path, file);
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
    Path place = place(path(record, "place"));
    require(swapped.add(place), place + " is to be replaced twice");
    Path staged = record.has("staged") ? path(record, "staged") : null;
    Path aside = record.has("aside") ? path(record, "aside") : null;
    require(staged != null || aside != null, "nothing is to happen at " + place);
    StagingRoot root = rootOf(staged != null ? staged : aside);
    StagingRoot held = held(root);
    if (staged != null) {
      require(
          staged.equals(mirrored(root, root.sealed(), place)),
          staged + " is not where what goes to " + place + " is staged");
      staged = mirrored(root, held.sealed(), place);
    }
    if (aside != null) {
      require(
          aside.getParent().equals(root.old())
              && StorePaths.isBelow(root.directory(), place)
              && asides.add(aside),
          aside + " is not where the old data of " + place + " goes");
      require(
          oldPaths.contains(place) || movable.containsKey(place),
          "it does not list the old data of " + place);
      heap.path(aside);
      aside = new Path(held.old(), aside.getName());
    }
    swaps.add(swap(place, staged, aside));
  }

  private Swap swap(Path place, Path staged, Path aside) {
    StoreEntry file = movable.get(place);
    if (staged == null) {
      Swap swap = Swap.moveAside(place, aside);
      return file == null ? swap : swap.ofFile(file);
    }
    return aside == null ? Swap.publish(place, staged) : Swap.replace(place, staged, aside);
  }

  private void directory(Path from, Path to) throws IOException {
    StagingRoot root = rootOf(from);
    boolean isSealed = from.equals(mirrored(root, root.sealed(), to));
    if (!isSealed && !from.equals(mirrored(root, root.output(), to))) {
      throw new IllegalArgumentException(from + " is not where what goes to " + to + " is staged");
    }
    heap.path(to);
    source = isSealed ? mirrored(root, held(root).sealed(), to) : from;
    destination = to;
  }

  private void file(Record record) throws IOException {
    require(source != null, "it has a file without a directory");
    heap.file();
    FileIdentity identity = identity(record);
    // One that is damaged fails here, and not once others were completed.
    Upload.in(identity.etag());
    planner.publish(FileEntry.between(source, destination, record.text("name"), identity));
  }

  private static FileIdentity identity(Record record) {
    return new FileIdentity(
        record.number("size"), record.textOrEmpty("etag"), record.number("modified"));
  }

  /** Where in a staging directory that is which goes to a place. */
  private static Path mirrored(StagingRoot root, Path output, Path place) {
    if (place.equals(root.directory())) {
      return output;
    }
    return StorePaths.resolve(output, StorePaths.relative(root.directory(), place));
  }

  private StagingRoot held(StagingRoot root) {
    return root.heldBy(holders.applyAsInt(root.root()));
  }

  private boolean isTarget(Path path) {
    return byDirectory.containsKey(path);
  }

  /** In one of the targets, and in no staging directory there. */
  private Path place(Path path) throws IOException {
    Path parent = path.getParent();
    if (parent != null && !parent.equals(lastPlacesParent)) {
      lastPlacesParent = parent;
      lastPlacesTarget = outermostTarget(parent);
    }
    if (parent == null || lastPlacesTarget == null || !StorePaths.isBelow(lastPlacesTarget, path)) {
      throw new IllegalArgumentException(path + " is outside the job's destinations");
    }
    if (StagingRoot.leadsIntoStaging(StorePaths.relative(lastPlacesTarget, path))) {
      throw new IllegalArgumentException(path + " is in a staging directory");
    }
    heap.path(path);
    return path;
  }

  /**
   * Of the targets that are a directory, or hold it, the one that holds all others; may be null.
   */
  private Path outermostTarget(Path directory) {
    Path outermost = null;
    for (Path above = directory; above != null; above = above.getParent()) {
      if (isTarget(above)) {
        outermost = above;
      }
    }
    return outermost;
  }

  private StagingRoot rootOf(Path staged) {
    // Records come directory by directory, mostly.
    if (lastRoot != null && StorePaths.isBelow(lastRoot.root(), staged)) {
      return lastRoot;
    }
    for (Path above = staged.getParent(); above != null; above = above.getParent()) {
      StagingRoot root = byRoot.get(above);
      if (root != null && StorePaths.isBelow(root.root(), staged)) {
        lastRoot = root;
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
