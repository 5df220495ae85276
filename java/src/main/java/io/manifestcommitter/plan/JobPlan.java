// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.plan;

import io.manifestcommitter.manifest.FileEntries;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
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
  private final String jobId;
  private final List<Target> targets;
  private final FileEntries files;
  private final Set<Path> missingDirectories;
  private final List<Path> filesInTheWay;
  private final List<OldDirectory> replaced;
  private final Set<Path> taken;
  private final Swaps swaps;
  private final int tasks;
  private final boolean makesTable;
  private final boolean marksSuccess;
  private final List<String> warnings;

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
      List<String> warnings) {
    this.jobId = Objects.requireNonNull(jobId);
    this.targets = List.copyOf(targets);
    this.files = Objects.requireNonNull(files);
    this.missingDirectories = Set.copyOf(missingDirectories);
    this.filesInTheWay = List.copyOf(filesInTheWay);
    this.replaced = List.copyOf(replaced);
    this.taken = Set.copyOf(taken);
    this.swaps = Objects.requireNonNull(swaps);
    this.tasks = tasks;
    this.makesTable = makesTable;
    this.marksSuccess = marksSuccess;
    this.warnings = List.copyOf(warnings);
  }

  /** The job. */
  public String jobId() {
    return jobId;
  }

  /** The table's directory. */
  public Path table() {
    return targets.get(0).directory();
  }

  /** The trees that the job publishes into; the table is the first. */
  public List<Target> targets() {
    return targets;
  }

  /** The files to publish. Each destination occurs once. */
  public FileEntries files() {
    return files;
  }

  /** The sum of the files' lengths, in bytes. */
  public long bytes() {
    return files.bytes();
  }

  /** How many committed tasks the plan holds, those without files included. */
  public int tasks() {
    return tasks;
  }

  /** Whether the table's directory was not there before the job, so is its to roll back. */
  public boolean makesTable() {
    return makesTable;
  }

  /** Whether the job publishes a report. */
  public boolean marksSuccess() {
    return marksSuccess;
  }

  /** The directories of all levels that did not exist, so are this job's to roll back. */
  public Set<Path> missingDirectories() {
    return missingDirectories;
  }

  /**
   * The directories to make: making these makes all that are missing, but those that swaps bring
   * with them.
   *
   * @param failed the numbers of the swaps whose directories have to be made all the same
   */
  public Collection<Path> directoriesToMake(BitSet failed) {
    Set<Path> leaves = new TreeSet<>(missingDirectories);
    leaves.removeIf(directory -> swaps.bringing(directory) >= 0);
    swaps.directories().stream()
        .filter(directory -> failed.get(swaps.bringing(directory)))
        .forEach(leaves::add);
    for (Path directory : List.copyOf(leaves)) {
      leaves.remove(directory.getParent());
    }
    return new ArrayList<>(leaves);
  }

  /**
   * Files of others at paths where directories have to be; empty in the Spark protocol, which
   * refuses them.
   */
  public List<Path> filesInTheWay() {
    return filesInTheWay;
  }

  /** Old data to remove once everything else is done. */
  public List<OldDirectory> replaced() {
    return replaced;
  }

  /** Whether a new file takes the place of an old one, which must not then be removed there. */
  public boolean takes(Path old) {
    return taken.contains(old);
  }

  /** Places that are published, or replaced, by renames of whole directories. */
  public Swaps swaps() {
    return swaps;
  }

  /** What the planner let pass with a warning. */
  public List<String> warnings() {
    return warnings;
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
        + table()
        + ": "
        + files.count()
        + " files, "
        + bytes()
        + " bytes";
  }
}
