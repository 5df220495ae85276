// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.journal;

import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileIdentity;
import io.manifestcommitter.manifest.PathText.PlaceText;
import io.manifestcommitter.manifest.Record;
import io.manifestcommitter.manifest.RecordFile;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.JobPlan.ExistingDirectories;
import io.manifestcommitter.plan.JobPlan.PlanRejectedException;
import io.manifestcommitter.plan.JobPlan.Target;
import io.manifestcommitter.plan.JobPlanner;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.plan.Swaps.Swap;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToIntFunction;
import java.util.function.UnaryOperator;
import org.apache.hadoop.fs.Path;

/**
 * Reads a plan from its records. They are believed only as far as a job of this id could have
 * written them. Sources and destinations mirror each other, and old data goes to where the job
 * moves it aside. Nothing lies outside the targets of the plan, or in a staging directory. Whatever
 * else they say is an {@link IllegalArgumentException}.
 */
public final class PlanReader {
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
  private final List<Path> only = new ArrayList<>();
  private boolean isHeld;
  private boolean begun;
  private Path oldPath;
  private Optional<Path> source;
  private Path destination;

  private PlanReader(
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

  /**
   * Reads a plan.
   *
   * @param in closed in any case
   * @param table the table's target, as the reader calls it
   * @param naming gives a path the name by which the reader calls its store
   * @param holders the holder of each staging directory when the plan is used: the records name
   *     what its driver had
   * @param origin names the file in messages
   * @param heap the bytes that the JVM can have
   * @throws OtherVersionException if another version of the committer wrote it
   * @throws CorruptManifestException if it is damaged, leads out of its targets, or is no plan that
   *     a job of this id makes
   * @throws IOException also if it needs more memory than there is
   */
  static JobPlan read(
      InputStream in,
      String jobId,
      Target table,
      UnaryOperator<Path> naming,
      ToIntFunction<Path> holders,
      String origin,
      long heap)
      throws IOException {
    try (RecordFile.Reader records = new RecordFile.Reader(in, origin);
        JobPlanner planner = new JobPlanner(jobId, table)) {
      PlaceText places = new PlaceText(table.directory, naming);
      PlanReader plan =
          new PlanReader(planner, jobId, table, places, new HeapBudget(heap, origin), holders);
      try {
        Optional<Record> record = records.next();
        for (; record.isPresent(); record = records.next()) {
          plan.add(record.get(), origin);
        }
        return plan.plan();
      } catch (IllegalArgumentException | PlanRejectedException e) {
        throw records.corrupt(String.valueOf(e.getMessage()), e);
      }
    }
  }

  private void add(Record record, String origin) throws IOException {
    String kind = record.kind();
    require(begun != kind.equals("job"), "its records are not in order");
    require(kind.equals("job") || kind.equals("target") || hasTable(), "it has no table");
    switch (kind) {
      case "job":
        job(record, origin);
        break;
      case "target":
        target(path(record, "directory"), path(record, "staging"));
        break;
      case "only":
        only(path(record, "path"));
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
        directory(record);
        break;
      case "file":
        file(record);
        break;
      default:
        throw new IllegalArgumentException(
            "it has a record '" + kind + "' that this version does not know");
    }
  }

  private JobPlan plan() throws IOException {
    require(hasTable(), "it has no table");
    endOld();
    for (Path place : swapped) {
      require(
          !StorePaths.isSameOrBelowOne(swapped, place.getParent()),
          place + " and what it is in are both to be replaced");
    }
    if (isHeld) {
      planner.heldOver(only);
    }
    Set<Path> existing = new HashSet<>(planner.directories());
    existing.removeAll(made);
    return planner.plan(new ExistingDirectories(existing, Set.of()), old, swaps);
  }

  private void job(Record record, String origin) throws OtherVersionException {
    long version = record.number("version");
    if (version < PlanRecords.VERSION || version > PlanRecords.HELD) {
      throw new OtherVersionException(
          origin
              + " is of version "
              + version
              + ", and this version of the committer reads versions "
              + PlanRecords.VERSION
              + " to "
              + PlanRecords.HELD);
    }
    begun = true;
    long tasks = record.number("tasks");
    require(record.text("jobId").equals(jobId), "it is of job " + record.text("jobId"));
    require(tasks <= Integer.MAX_VALUE, "no job has " + tasks + " tasks");
    planner.tasks((int) tasks);
    isHeld = version == PlanRecords.HELD;
    if (version == PlanRecords.WITH_ID || (isHeld && record.has("commitId"))) {
      CommitLedger.requireId(record.text("commitId"));
      planner.commitId(Optional.of(record.text("commitId")));
    }
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
      require(directory.equals(table.directory), "it begins with the target " + directory);
    } else {
      require(!isTarget(directory), "it has the target " + directory + " twice");
      planner.allow(new Target(directory, staging));
    }
    byDirectory.put(directory, root);
    byRoot.put(staging, root);
  }

  private boolean hasTable() {
    return !byDirectory.isEmpty();
  }

  private void only(Path path) throws IOException {
    require(isHeld, "it has the place " + path + " of a held job, and is none's");
    only.add(isTarget(path) ? path : place(path));
    heap.path(path);
  }

  private void old(Path path) throws IOException {
    endOld();
    oldPath = isTarget(path) ? path : place(path);
    require(oldPaths.add(oldPath), "it has the old directory " + path + " twice");
    heap.path(path);
  }

  private void oldFile(Record record) throws IOException {
    require(oldPath != null, "it has an old file without a directory");
    Path path = StorePaths.resolve(oldPath, record.text("name"));
    require(oldPath.equals(path.getParent()), path + " is not in the old directory " + oldPath);
    require(!StagingRoot.isStaging(path.getName()), path + " is in a staging directory");
    heap.path(path);
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
    swaps.add(new Swap(place, staged, aside, staged == null ? movable.get(place) : null));
  }

  private void directory(Record record) throws IOException {
    Path to = path(record, "destination");
    if (record.has("source")) {
      source = Optional.of(staged(path(record, "source"), to));
      heap.path(to);
    } else {
      source = Optional.empty();
      to = isTarget(to) ? to : place(to);
    }
    destination = to;
  }

  /** Where that lies now which its driver left at a path, to go to another. */
  private Path staged(Path from, Path to) {
    StagingRoot root = rootOf(from);
    boolean isSealed = from.equals(mirrored(root, root.sealed(), to));
    if (!isSealed && !from.equals(mirrored(root, root.output(), to))) {
      throw new IllegalArgumentException(from + " is not where what goes to " + to + " is staged");
    }
    return isSealed ? mirrored(root, held(root).sealed(), to) : from;
  }

  private void file(Record record) throws IOException {
    require(destination != null, "it has a file without a directory");
    heap.file();
    FileIdentity identity = identity(record);
    String name = record.text("name");
    // An upload that is damaged fails here, and not once others were completed.
    planner.publish(FileEntry.of(source, destination, name, identity));
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
    Path outermost = null;
    for (Path above = path.getParent(); above != null; above = above.getParent()) {
      outermost = isTarget(above) ? above : outermost;
    }
    if (outermost == null || !StorePaths.isBelow(outermost, path)) {
      throw new IllegalArgumentException(path + " is outside the job's destinations");
    }
    if (StagingRoot.leadsIntoStaging(StorePaths.relative(outermost, path))) {
      throw new IllegalArgumentException(path + " is in a staging directory");
    }
    heap.path(path);
    return path;
  }

  private StagingRoot rootOf(Path staged) {
    for (Path above = staged.getParent(); above != null; above = above.getParent()) {
      StagingRoot root = byRoot.get(above);
      if (root != null && StorePaths.isBelow(root.root(), staged)) {
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

  /** A journal that another version of the committer wrote. That version can recover the table. */
  public static final class OtherVersionException extends CorruptManifestException {
    private static final long serialVersionUID = 1L;

    OtherVersionException(String reason) {
      super(
          reason
              + ". Nothing was changed, and nothing is lost: recover the table with the version of"
              + " the committer that wrote it");
    }
  }

  /**
   * Counts, roughly, what a plan or note that is read keeps in memory. The file that it is read
   * from is not trusted: it may be small where its content is not.
   */
  public static final class HeapBudget {
    /** Of a file: a hash, and a place in an index of names. */
    private static final int FILE = 64;

    /** Of a path, besides its text: the objects around it, and its places in sets. */
    private static final int PATH = 300;

    private static final int COPIES = 3;

    private final String origin;
    private final long most;
    private long used;

    /**
     * A budget.
     *
     * @param heap the bytes that the JVM can have, of which some are left for everything else
     * @param origin names the file in messages
     */
    public HeapBudget(long heap, String origin) {
      this.most = heap / 4 * 3;
      this.origin = origin;
    }

    public void file() throws IOException {
      take(FILE);
    }

    public void path(Path path) throws IOException {
      take(PATH + (long) COPIES * path.toUri().getPath().length());
    }

    private void take(long bytes) throws IOException {
      used += bytes;
      if (used > most) {
        throw tooSmall(origin);
      }
    }

    /** What is thrown when a plan is too large for this JVM. */
    public static IOException tooSmall(String origin) {
      return new IOException(
          origin
              + " needs more memory than this JVM has. Nothing was changed: run this again with a"
              + " larger heap, such as JAVA_TOOL_OPTIONS=-Xmx8g");
    }
  }
}
