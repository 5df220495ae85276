// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.jobs.LifeSigns.JobIsAliveException;
import io.manifestcommitter.jobs.LifeSigns.Life;
import io.manifestcommitter.jobs.LifeSigns.Pause;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.journal.CommitJournal.State;
import io.manifestcommitter.journal.Heartbeat;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.JobPlan.Target;
import io.manifestcommitter.store.Store;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The staging directories of jobs of the Spark protocol, and what they tell: how far each came. */
public final class OtherJobs {
  private static final Logger LOG = LoggerFactory.getLogger(OtherJobs.class);

  private final Store store;

  OtherJobs(Store store) {
    this.store = store;
  }

  /**
   * The staging directories in a table. One request.
   *
   * @throws FileNotFoundException if there is no table
   */
  List<StagingRoot> list(Path table) throws IOException {
    List<StagingRoot> roots = new ArrayList<>();
    store.list(
        table,
        entry -> {
          Optional<String> job = StagingRoot.jobOf(entry.name());
          if (entry.isDirectory() && job.isPresent()) {
            roots.add(new StagingRoot(table, job.get()));
          }
        });
    return roots;
  }

  /**
   * Removes a staging directory without any file in it, on a store that has no directories of its
   * own. Some servers of S3's protocol keep a directory after its last object is deleted, and each
   * later job would ask about it. A job that lives has a file there. One request where there is a
   * file, and none on other stores. What fails is left to the next job.
   *
   * @return whether the directory is gone
   */
  public static boolean removeEmpty(Store store, Path root) {
    try {
      return store.traits(root).completesUploads() && removeDirectories(store, root);
    } catch (IOException e) {
      LOG.debug("{} may be empty, and was not removed", root, e);
      return false;
    }
  }

  private static boolean removeDirectories(Store store, Path directory) throws IOException {
    List<Path> within = new ArrayList<>();
    boolean[] holdsFile = {false};
    boolean isThere =
        store.listIfThere(
            directory,
            entry -> {
              holdsFile[0] |= !entry.isDirectory();
              within.add(entry.path());
            });
    if (!isThere) {
      return true;
    }
    if (holdsFile[0]) {
      return false;
    }
    for (Path each : within) {
      if (!removeDirectories(store, each)) {
        return false;
      }
    }
    return store.deleteEmptyDirectory(directory);
  }

  /**
   * Requires that all of a plan's custom locations are the job's. A journal that names a location
   * proves nothing about it: whoever may write to one table could name another one. The job's
   * staging directory there proves that somebody who may write there meant it. One request for
   * each, in parallel.
   *
   * @param root the job's staging directory in the table
   * @param origin in which the plan was
   * @param mayBeGone whether the directories may be gone, since the commit has ended
   * @throws CorruptManifestException if one is not; it names it
   */
  void requireLocations(
      Workers workers, JobPlan plan, StagingRoot root, Object origin, boolean mayBeGone)
      throws IOException {
    workers.forEach(
        locations(plan, root),
        target -> {
          boolean[] isTable = {false};
          boolean isThere =
              store.listIfThere(
                  target.staging, entry -> isTable[0] |= Heartbeat.isHeartbeat(entry.name()));
          if (isTable[0] || !(isThere || mayBeGone)) {
            throw new CorruptManifestException(
                origin
                    + " names the location "
                    + target.directory
                    + (isTable[0]
                        ? ", which is the table of a job, by the heartbeat in "
                            + target.staging
                            + ". Nothing was changed: recover that table instead"
                        : ", where the job has no staging directory "
                            + target.staging.getName()
                            + ". Nothing was changed: if the job did write there, make that"
                            + " directory, and recover the table again"));
          }
        });
  }

  /** The custom locations of a plan. */
  static List<Target> locations(JobPlan plan, StagingRoot root) {
    List<Target> locations = new ArrayList<>(plan.targets);
    locations.removeIf(target -> target.staging.equals(root.root()));
    return locations;
  }

  /**
   * Those that began to commit, but for held jobs, and what a job was told to keep. One request
   * each.
   */
  List<StagingRoot> begun(List<StagingRoot> roots) throws IOException {
    List<StagingRoot> begun = new ArrayList<>();
    for (StagingRoot root : roots) {
      if (state(root).filter(state -> state != State.KEPT && state != State.HELD).isPresent()) {
        begun.add(root);
      }
    }
    return begun;
  }

  /**
   * Whether a job's commit has begun and has more left to do than to clean up. One request. A held
   * job does not count.
   */
  boolean isUnfinished(StagingRoot root) throws IOException {
    return state(root).filter(state -> state != State.HELD && !state.isEnd()).isPresent();
  }

  /**
   * How far a job came, if it began to commit. One request. A journal that cannot be used counts as
   * begun: {@link Recovery#run} tells what is wrong with it.
   */
  Optional<State> state(StagingRoot root) throws IOException {
    try {
      return CommitJournal.find(store, root.attempt()).map(CommitJournal::state);
    } catch (CorruptManifestException e) {
      LOG.debug("{} has a journal that cannot be used", root.root(), e);
      return Optional.of(State.PLANNED);
    }
  }

  /** Those that replace some of these places, and have not ended. */
  List<StagingRoot> replacing(Collection<Path> places, StagingRoot own) throws IOException {
    List<StagingRoot> others = new ArrayList<>();
    for (StagingRoot other : list(own.directory())) {
      if (isReplacing(other, places, own)) {
        others.add(other);
      }
    }
    return others;
  }

  /** As {@link #replacing}, one of them. */
  boolean isReplacing(StagingRoot other, Collection<Path> places, StagingRoot own)
      throws IOException {
    return !other.jobId().equals(own.jobId())
        && ReplaceNote.read(store, other).filter(note -> note.meets(places)).isPresent()
        && !state(other).filter(State::isEnd).isPresent();
  }

  /**
   * Requires that no job that lives replaces any of the places of a dead job; one that may be dead,
   * too, is watched. Changes nothing. Two requests, and one for each staging directory of another
   * job; none if there are no places.
   *
   * @param pause between two looks
   * @throws JobIsAliveException if one does
   */
  void requireFree(Collection<Path> places, StagingRoot dead, LifeSigns signs, Pause pause)
      throws IOException {
    if (places.isEmpty()) {
      return;
    }
    List<StagingRoot> replacing = replacing(places, dead);
    for (Map.Entry<StagingRoot, Life> each :
        signs
            .await(replacing, other -> store.status(other.replaces()).isPresent(), pause)
            .entrySet()) {
      if (each.getValue() == Life.ALIVE) {
        throw JobIsAliveException.inPlacesOf(dead, each.getKey());
      }
    }
  }

  /**
   * As {@link #requireFree}, and keeps others out while the dead job is recovered. That has a
   * heartbeat by now, so that jobs wait for it. Where there is no room for a note that is missing,
   * there is none for another job either.
   *
   * @throws JobIsAliveException if one replaces some of the places
   */
  void keepOut(Collection<Path> places, StagingRoot dead, LifeSigns signs) throws IOException {
    if (places.isEmpty()) {
      return;
    }
    if (!ReplaceNote.read(store, dead).isPresent()) {
      try {
        ReplaceNote.write(store, dead, places);
      } catch (IOException e) {
        LOG.warn("{} cannot be written again", dead.replaces(), e);
      }
    }
    for (StagingRoot other : replacing(places, dead)) {
      // A held job does nothing. A process that publishes it beats first, and then looks as well.
      if (signs.look(other) != Life.DEAD || !(hasPlan(other) || fence(other))) {
        throw JobIsAliveException.inPlacesOf(dead, other);
      }
    }
  }

  /**
   * Deletes the note of a dead job that has no journal.
   *
   * @return false if it has one by now: it lives, and may have looked for its note before
   */
  boolean fence(StagingRoot dead) throws IOException {
    Optional<byte[]> note = ReplaceNote.content(store, dead);
    store.deleteFile(dead.replaces());
    if (!hasPlan(dead)) {
      return true;
    }
    if (note.isPresent()) {
      store.write(dead.replaces(), out -> out.write(note.get()));
    }
    return false;
  }

  /** Whether a job has a journal that has not ended; a held job has, too. */
  private boolean hasPlan(StagingRoot root) throws IOException {
    return state(root).filter(state -> !state.isEnd()).isPresent();
  }
}
