// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.plan;

import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.FileEntries;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.plan.JobPlan.ExistingDirectories;
import io.manifestcommitter.plan.JobPlan.PlanRejectedException;
import io.manifestcommitter.plan.JobPlan.Target;
import io.manifestcommitter.plan.Swaps.Swap;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.Closeable;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.fs.Path;

/**
 * Collects what the tasks committed and refuses what contradicts itself (nothing becomes visible
 * before the plan is complete). Not for use by several threads. To be closed, unless it ended in a
 * plan; that is then what has to be.
 */
public final class JobPlanner implements Closeable {
  /** The bytes of the list of files that stay in memory: some 500,000 files. */
  private static final int IN_MEMORY = 16 << 20;

  private final String jobId;
  private final Target table;
  private final Map<Path, Target> targets = new LinkedHashMap<>();
  private final Map<Path, Target> byStaging = new HashMap<>();
  private final FileEntries.Builder files = FileEntries.builder(IN_MEMORY);
  private final PathHashes destinations = new PathHashes();
  private final Set<Path> directories = new HashSet<>();
  private final Set<Path> parents = new HashSet<>();
  private final Set<Path> occupied = new HashSet<>();
  private final Set<String> tasks = new HashSet<>();
  private int unnamedTasks;
  private boolean makesTable;
  private boolean marksSuccess;
  private Optional<String> commitId = Optional.empty();
  private Optional<List<Path>> heldOver = Optional.empty();
  private final List<String> warnings = new ArrayList<>();
  private Target lastTarget;
  private Optional<Path> lastSource;
  private Path lastDestination;

  /**
   * A plan for one job.
   *
   * @param table where the job writes to, and its staging directory there
   */
  public JobPlanner(String jobId, Target table) {
    this.jobId = Objects.requireNonNull(jobId);
    this.table = Objects.requireNonNull(table);
    this.lastTarget = table;
    targets.put(table.directory, table);
    byStaging.put(table.staging, table);
  }

  /**
   * Allows the job to publish into another tree as well: a partition's custom location.
   *
   * @throws PlanRejectedException if it holds the table, or lies in a staging directory there
   */
  public void allow(Target target) throws PlanRejectedException {
    Path directory = target.directory;
    if (StorePaths.isSameOrBelow(directory, table.directory)) {
      throw new PlanRejectedException(
          "The location " + directory + " holds the table " + table + " itself.");
    }
    if (StorePaths.isBelow(table.directory, directory)
        && StagingRoot.leadsIntoStaging(StorePaths.relative(table.directory, directory))) {
      throw new PlanRejectedException(
          "The location " + directory + " is in a staging directory, which readers do not see.");
    }
    targets.put(directory, target);
    byStaging.put(target.staging, target);
  }

  /**
   * Notes a committed task.
   *
   * @throws PlanRejectedException if another committed attempt of the task is known
   */
  public void task(String taskId) throws PlanRejectedException {
    if (!tasks.add(taskId)) {
      throw new PlanRejectedException("Two attempts of task " + taskId + " claim to be committed.");
    }
  }

  /** Notes so many committed tasks of which nothing else is known. */
  public void tasks(int number) {
    unnamedTasks = number;
  }

  /** Notes that the table's directory was not there before the job. */
  public void makesTable() {
    makesTable = true;
  }

  /** Notes that the job publishes a report. */
  public void marksSuccess() {
    marksSuccess = true;
  }

  /** Notes the identity of the commit, if it has one. */
  public void commitId(Optional<String> id) {
    commitId = id;
  }

  /** Notes that the job ends with nothing visible: see {@link JobPlan#heldOver}. */
  public void heldOver(Collection<Path> places) {
    heldOver = Optional.of(List.copyOf(places));
  }

  /** Notes what was let pass, for the report. */
  public void warn(String warning) {
    warnings.add(warning);
  }

  /**
   * Plans a file.
   *
   * @throws PlanRejectedException if its source is not in the job's staging directory, or its
   *     destination not in the table
   */
  public void publish(FileEntry file) throws IOException {
    Optional<Path> source = file.sourceDirectory();
    Path destination = file.destinationDirectory();
    boolean isNeighbour = source.equals(lastSource) && destination.equals(lastDestination);
    if (!isNeighbour || file.name().equals(lastTarget.staging.getName())) {
      Target target = targetOf(file);
      addDirectories(destination, target);
      parents.add(destination);
      lastSource = source;
      lastDestination = destination;
    }
    destinations.add(destination, file.name());
    files.add(file);
  }

  /**
   * Plans a directory that a task made, which may have no files.
   *
   * @throws PlanRejectedException if it is not in the table
   */
  public void directory(Path directory) throws PlanRejectedException {
    if (directory.equals(table.directory)) {
      return;
    }
    if (!table.holdsDestination(directory)) {
      throw new PlanRejectedException(
          "The directory " + directory + " is outside the job's destination " + table + ".");
    }
    addDirectories(directory, table);
  }

  /**
   * The directories below the targets that have to exist for the files planned so far, of all
   * levels.
   */
  public Set<Path> directories() {
    return new TreeSet<>(directories);
  }

  /** Notes directories that exist: no file may go where one of them is. */
  public void occupied(Collection<Path> existing) {
    for (Path directory : existing) {
      if (destinations.mayContain(PathHashes.hash(directory))) {
        occupied.add(directory);
      }
    }
  }

  /** The directories in which the files planned so far will lie. */
  public Set<Path> parents() {
    return new TreeSet<>(parents);
  }

  /**
   * The finished plan.
   *
   * @param existing what stands at {@link #directories()} today
   * @param replaced the old data that goes once everything else is done
   * @param swaps what of that is done by renames of whole directories; the rest is, file by file
   * @throws PlanRejectedException if two files claim one destination, or one destination is a file
   *     and also the directory of another
   */
  public JobPlan plan(
      ExistingDirectories existing, Collection<OldDirectory> replaced, List<Swap> swaps)
      throws IOException {
    FileEntries all = files.build();
    try {
      return plan(all, existing, replaced, new Swaps(swaps, directories, all));
    } catch (IOException | RuntimeException | Error e) {
      all.close();
      throw e;
    }
  }

  private JobPlan plan(
      FileEntries all, ExistingDirectories existing, Collection<OldDirectory> replaced, Swaps swaps)
      throws PlanRejectedException {
    Map<Path, String> claimed = claimed(all, replaced);
    requireFree(directories, claimed, " is also a directory that other files go to.");
    requireFree(
        occupied, claimed, " is a directory. Move it away, or let the job write to another name.");
    Set<Path> missing = new HashSet<>(directories);
    missing.removeAll(existing.directories);
    return new JobPlan(
        jobId,
        List.copyOf(targets.values()),
        all,
        missing,
        existing.files,
        replaced,
        taken(replaced, claimed.keySet()),
        swaps,
        tasks.size() + unnamedTasks,
        makesTable,
        marksSuccess,
        commitId,
        heldOver,
        warnings);
  }

  private static void requireFree(
      Set<Path> directories, Map<Path, String> claimed, String otherwise)
      throws PlanRejectedException {
    for (Path directory : directories) {
      if (claimed.containsKey(directory)) {
        throw new PlanRejectedException(
            directory + ", where " + claimed.get(directory) + " goes," + otherwise);
      }
    }
  }

  /** Drops what was collected, unless a plan has it. */
  @Override
  public void close() throws IOException {
    files.close();
  }

  /**
   * The origins by destination of those files that deserve a look: the others clash with nothing
   * for certain.
   *
   * @throws PlanRejectedException if two of them claim one destination
   */
  private Map<Path, String> claimed(FileEntries all, Collection<OldDirectory> replaced)
      throws PlanRejectedException {
    Set<Long> suspects = destinations.repeated();
    directories.forEach(directory -> addSuspect(suspects, PathHashes.hash(directory)));
    occupied.forEach(directory -> addSuspect(suspects, PathHashes.hash(directory)));
    for (OldDirectory old : replaced) {
      old.files().forEach(file -> addSuspect(suspects, destinations.hash(old.path, file.name())));
    }
    Map<Path, String> origins = new HashMap<>();
    if (suspects.isEmpty()) {
      return origins;
    }
    for (FileEntry file : all) {
      if (suspects.contains(PathHashes.hash(file.destination()))) {
        String other = origins.put(file.destination(), file.origin());
        if (other != null) {
          throw new PlanRejectedException(
              "Two files claim the destination "
                  + file.destination()
                  + ": "
                  + other
                  + " and "
                  + file.origin()
                  + ". Tasks have to write files of different names.");
        }
      }
    }
    return origins;
  }

  private void addSuspect(Set<Long> suspects, long hash) {
    if (destinations.mayContain(hash)) {
      suspects.add(hash);
    }
  }

  /** The old files whose places new files take: they must not then go as old data. */
  private static Set<Path> taken(Collection<OldDirectory> replaced, Set<Path> destinations) {
    Set<Path> taken = new HashSet<>();
    if (destinations.isEmpty()) {
      return taken;
    }
    for (OldDirectory directory : replaced) {
      for (StoreEntry file : directory.files()) {
        if (destinations.contains(file.path())) {
          taken.add(file.path());
        }
      }
    }
    return taken;
  }

  /** Every level up to the target is a directory of the plan. */
  private void addDirectories(Path lowest, Target target) throws PlanRejectedException {
    Path directory = lowest;
    while (!directory.equals(target.directory) && directories.add(directory)) {
      if (StagingRoot.isStaging(directory.getName())) {
        throw new PlanRejectedException(
            "The directory " + lowest + " is in a staging directory, which readers do not see.");
      }
      directory = directory.getParent();
    }
  }

  /** By where it lies, if it lies somewhere, else by where it goes: the innermost one decides. */
  private Target targetOf(FileEntry file) throws PlanRejectedException {
    boolean liesNowhere = !file.sourceDirectory().isPresent();
    // Files come directory by directory, mostly.
    if (!liesNowhere && lastTarget.allows(file)) {
      return lastTarget;
    }
    Target target = null;
    Path above = (liesNowhere ? file.destination() : file.source()).getParent();
    for (; above != null && target == null; above = above.getParent()) {
      target = (liesNowhere ? targets : byStaging).get(above);
    }
    if (target != null && target.allows(file)) {
      lastTarget = target;
      return target;
    }
    throw new PlanRejectedException(
        liesNowhere || target != null
            ? "The destination "
                + file.destination()
                + " of "
                + file.origin()
                + " is outside the job's destination "
                + targets.keySet()
                + "."
            : "The source "
                + file.origin()
                + " of "
                + file.destination()
                + " is outside the job's staging directory "
                + table.staging
                + ".");
  }

  /**
   * Remembers many paths in eight bytes each: what it does not know was never added; what it knows
   * has to be looked at exactly.
   */
  static final class PathHashes {
    private static final long START = 0xcbf29ce484222325L;
    private static final long PRIME = 0x100000001b3L;

    private long[] hashes = new long[1024];
    private Path lastDirectory;
    private long lastHash;
    private int count;
    private boolean sorted = true;

    /** A number that is the same for equal paths, and hardly ever for others (FNV-1a, 64 bits). */
    static long hash(Path path) {
      URI uri = path.toUri();
      return hash(hash(hash(START, uri.getScheme()), uri.getAuthority()), uri.getPath());
    }

    private static long hash(long before, String text) {
      long hash = before;
      for (int i = 0; text != null && i < text.length(); i++) {
        hash = (hash ^ text.charAt(i)) * PRIME;
      }
      return hash;
    }

    /** The hash of a file in a directory. Neighbours are in the same one, mostly. */
    long hash(Path directory, String name) {
      if (!directory.equals(lastDirectory)) {
        lastDirectory = directory;
        lastHash = hash(directory);
        lastHash = directory.isRoot() ? lastHash : hash(lastHash, "/");
      }
      return hash(lastHash, name);
    }

    void add(Path directory, String name) {
      if (count == hashes.length) {
        hashes = Arrays.copyOf(hashes, count + count / 2);
      }
      hashes[count++] = hash(directory, name);
      sorted = false;
    }

    /** Whether a path of this hash was added; false is certain. */
    boolean mayContain(long hash) {
      sort();
      return Arrays.binarySearch(hashes, 0, count, hash) >= 0;
    }

    /** The hashes that were added more than once. */
    Set<Long> repeated() {
      sort();
      Set<Long> repeated = new HashSet<>();
      for (int i = 1; i < count; i++) {
        if (hashes[i] == hashes[i - 1]) {
          repeated.add(hashes[i]);
        }
      }
      return repeated;
    }

    private void sort() {
      if (!sorted) {
        Arrays.sort(hashes, 0, count);
        sorted = true;
      }
    }
  }
}
