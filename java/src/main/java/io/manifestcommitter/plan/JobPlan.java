// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.plan;

import io.manifestcommitter.manifest.FileEntries;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.plan.Swaps.Swap;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.fs.Path;

/**
 * Everything a job commit is about to do, checked: the files that become visible, the directories
 * that have to be made for them, and the old data that goes afterwards. Nothing is added to a
 * commit after its plan was made.
 *
 * <p>Made by {@link JobPlanner} only. Immutable. To be closed: a long list of files lies in a local
 * file.
 */
public final class JobPlan implements Closeable {
  public final String jobId;

  /** The trees that the job publishes into; the table is the first. */
  public final List<Target> targets;

  /** The table's directory. */
  public final Path table;

  /** The files to publish. Each destination occurs once. */
  public final FileEntries files;

  /** The directories of all levels that did not exist, so are this job's to roll back. */
  public final Set<Path> missingDirectories;

  /**
   * Files of others at paths where directories have to be; empty in the Spark protocol, which
   * refuses them.
   */
  public final List<Path> filesInTheWay;

  /** Old data to remove once everything else is done. */
  public final List<OldDirectory> replaced;

  private final Set<Path> taken;

  /** Places that are published, or replaced, by renames of whole directories. */
  public final Swaps swaps;

  /** How many committed tasks the plan holds, those without files included. */
  public final int tasks;

  /** Whether the table's directory was not there before the job, so is its to roll back. */
  public final boolean makesTable;

  /** Whether the job publishes a report. */
  public final boolean marksSuccess;

  /** The identity under which the table takes the job's data once, if it has one. */
  public final Optional<String> commitId;

  private final Optional<List<Path>> heldOver;

  /** What the planner let pass with a warning. */
  public final List<String> warnings;

  JobPlan(
      String jobId,
      List<Target> targets,
      FileEntries files,
      Set<Path> missingDirectories,
      Collection<Path> filesInTheWay,
      Collection<OldDirectory> replaced,
      Set<Path> taken,
      Swaps swaps,
      int tasks,
      boolean makesTable,
      boolean marksSuccess,
      Optional<String> commitId,
      Optional<List<Path>> heldOver,
      List<String> warnings) {
    this.jobId = Objects.requireNonNull(jobId);
    this.targets = List.copyOf(targets);
    this.table = this.targets.get(0).directory;
    this.files = Objects.requireNonNull(files);
    this.missingDirectories = Set.copyOf(missingDirectories);
    this.filesInTheWay = List.copyOf(filesInTheWay);
    this.replaced = List.copyOf(replaced);
    this.taken = Set.copyOf(taken);
    this.swaps = Objects.requireNonNull(swaps);
    this.tasks = tasks;
    this.makesTable = makesTable;
    this.marksSuccess = marksSuccess;
    this.commitId = commitId;
    this.heldOver = heldOver;
    this.warnings = List.copyOf(warnings);
  }

  /** Whether the job ends with nothing visible, and somebody publishes it later. */
  public boolean isHeld() {
    return heldOver.isPresent();
  }

  /**
   * The places where a held job may be published only over the state that it saw. Whatever the plan
   * replaces is in one of them. Empty for a write that adds to what is there.
   */
  public List<Path> heldOver() {
    return heldOver.orElse(List.of());
  }

  /**
   * Whether its commit notes its point of no return in the journal: it replaces something, has an
   * identity, or was held. The report of any other job tells that.
   */
  public boolean notesPointOfNoReturn() {
    return !replaced.isEmpty() || commitId.isPresent() || isHeld();
  }

  /**
   * The directories to make: making these makes all that are missing, but those that swaps bring
   * with them.
   *
   * @param failed the swaps whose directories have to be made all the same
   */
  public Collection<Path> directoriesToMake(Set<Swap> failed) {
    Set<Path> leaves = new TreeSet<>(missingDirectories);
    leaves.removeIf(directory -> swaps.bringing(directory).isPresent());
    swaps.directories().stream()
        .filter(directory -> swaps.bringing(directory).filter(failed::contains).isPresent())
        .forEach(leaves::add);
    for (Path directory : List.copyOf(leaves)) {
      leaves.remove(directory.getParent());
    }
    return new ArrayList<>(leaves);
  }

  /** The directories of old data of which a file does not move aside, so is deleted where it is. */
  public List<Path> replacedInPlace() {
    List<Path> inPlace = new ArrayList<>();
    for (OldDirectory old : replaced) {
      for (StoreEntry file : swaps.movesAside(old.path) ? List.<StoreEntry>of() : old.files()) {
        if (!swaps.movesAside(file.path())) {
          inPlace.add(old.path);
          break;
        }
      }
    }
    return inPlace;
  }

  /** Whether a new file takes the place of an old one, which must not then be removed there. */
  public boolean takes(Path old) {
    return taken.contains(old);
  }

  @Override
  public void close() throws IOException {
    files.close();
  }

  @Override
  public String toString() {
    return "job "
        + jobId
        + " into "
        + table
        + ": "
        + files.size()
        + " files, "
        + files.bytes()
        + " bytes";
  }

  /**
   * A directory tree that a job publishes into, and the staging directory from which alone it may
   * do so.
   */
  public static final class Target {
    /** The table, or the custom location of a partition. */
    public final Path directory;

    /** The job's own tree below the directory. */
    public final Path staging;

    /**
     * A target.
     *
     * @throws IllegalArgumentException if the staging directory lies elsewhere
     */
    public Target(Path directory, Path staging) {
      this.directory = Objects.requireNonNull(directory);
      this.staging = Objects.requireNonNull(staging);
      if (!StorePaths.isBelow(directory, staging)) {
        throw new IllegalArgumentException(staging + " is not below " + directory);
      }
    }

    /** Whether the job may publish a file. */
    boolean allows(FileEntry file) {
      boolean isOwn =
          !file.sourceDirectory().isPresent() || StorePaths.isBelow(staging, file.source());
      return isOwn && holdsDestination(file.destination());
    }

    /** A destination below the staging directory would be deleted with it. */
    boolean holdsDestination(Path destination) {
      return StorePaths.isBelow(directory, destination)
          && !StorePaths.isSameOrBelow(staging, destination);
    }

    @Override
    public String toString() {
      return directory.toString();
    }
  }

  /** What the tasks committed cannot be published as it stands. Nothing has become visible. */
  public static final class PlanRejectedException extends IOException {
    private static final long serialVersionUID = 1L;

    /** A rejection that names what contradicts what, and what to do. */
    public PlanRejectedException(String message) {
      super(message + " Nothing was published.");
    }

    /** A rejection of what one file says. */
    public PlanRejectedException(String file, PlanRejectedException cause) {
      super(file + " cannot be used: " + cause.getMessage() + " Run the job again.", cause);
    }
  }

  /** What stands today at the paths where a plan needs directories. */
  public static final class ExistingDirectories {
    /** Needed directories that exist. */
    public final Set<Path> directories;

    /** Files that stand where directories are needed. */
    public final Set<Path> files;

    private final Map<Path, StoreEntry> entries;

    /** What was found, of which nothing more was seen. */
    public ExistingDirectories(Set<Path> directories, Set<Path> files) {
      this(directories, files, Map.of());
    }

    /**
     * What was found.
     *
     * @param entries of directories by path, as far as they were seen
     */
    public ExistingDirectories(
        Set<Path> directories, Set<Path> files, Map<Path, StoreEntry> entries) {
      this.directories = Set.copyOf(directories);
      this.files = Set.copyOf(files);
      this.entries = Map.copyOf(entries);
    }

    /**
     * The same, and the directories that hold old data: another job may have made one of them
     * between the two looks. Also what was seen of more directories.
     */
    public ExistingDirectories with(Collection<OldDirectory> old, Map<Path, StoreEntry> more) {
      Set<Path> all = new HashSet<>(directories);
      old.forEach(directory -> StorePaths.addUpwards(directory.path, all));
      Map<Path, StoreEntry> seen = new HashMap<>(entries);
      seen.putAll(more);
      return new ExistingDirectories(all, files, seen);
    }

    /** A needed directory that exists, as the store shows it. */
    public Optional<StoreEntry> entry(Path directory) {
      return Optional.ofNullable(entries.get(directory));
    }
  }
}
