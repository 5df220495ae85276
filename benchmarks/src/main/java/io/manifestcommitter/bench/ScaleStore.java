// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.BitSet;

/** What is behind the {@link ScaleFileSystem}: one job, and what has become of it. */
final class ScaleStore implements Closeable {
  private static volatile ScaleStore current;

  private final ScaleJob job;
  private final ManifestArchive archive;
  private final ScratchStore scratch;
  private final Faults faults = new Faults();
  private final RenameLog log;
  private final RequestCounter requests = new RequestCounter();
  private final BitSet deletedAttempts = new BitSet();
  private volatile boolean manifestsDeleted;

  /**
   * The store of a job.
   *
   * @param archive the directory in which its manifests are
   * @param scratch an empty directory for what its committer writes
   */
  ScaleStore(ScaleJob job, Path archive, Path scratch) throws IOException {
    this.job = job;
    this.archive = new ManifestArchive(archive);
    this.scratch = new ScratchStore(scratch);
    this.log = new RenameLog(job.shape().files(), faults);
  }

  /** Makes this the store of all filesystems that are opened from now on. */
  void serve() {
    current = this;
  }

  /** The store that serves. */
  static ScaleStore current() {
    return current;
  }

  ScaleJob job() {
    return job;
  }

  ManifestArchive archive() {
    return archive;
  }

  ScratchStore scratch() {
    return scratch;
  }

  RenameLog log() {
    return log;
  }

  /** What was asked for that no commit of the job should ask for. */
  Faults faults() {
    return faults;
  }

  RequestCounter requests() {
    return requests;
  }

  /** Whether the directory of a task's attempt is still there. */
  boolean hasAttempt(int task) {
    synchronized (deletedAttempts) {
      return !deletedAttempts.get(task);
    }
  }

  void deleteAttempt(int task) {
    synchronized (deletedAttempts) {
      deletedAttempts.set(task);
    }
  }

  /** Whether the manifests are still there. */
  boolean hasManifests() {
    return !manifestsDeleted;
  }

  /** Deletes what a directory above them takes with it. */
  void deleteBelow(String directory) {
    if ((job.paths().manifestDirectory().toUri().getPath() + "/").startsWith(directory + "/")) {
      manifestsDeleted = true;
    }
    if ((job.paths().taskAttemptsDirectory().toUri().getPath() + "/").startsWith(directory + "/")) {
      synchronized (deletedAttempts) {
        deletedAttempts.set(0, job.shape().tasks());
      }
    }
  }

  /** How many task attempts' directories are left. */
  int attemptsLeft() {
    synchronized (deletedAttempts) {
      return job.shape().tasks() - deletedAttempts.cardinality();
    }
  }

  @Override
  public void close() throws IOException {
    archive.close();
  }
}
