// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.jobs.LifeSigns.Life;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.store.Store;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the staging directories in a table tell of their jobs: how far each came. */
final class OtherJobs {
  private static final Logger LOG = LoggerFactory.getLogger(OtherJobs.class);

  private final Store store;

  OtherJobs(Store store) {
    this.store = store;
  }

  /** Those that began to commit, but for what a job was told to keep. One request each. */
  List<StagingRoot> begun(List<StagingRoot> roots) throws IOException {
    List<StagingRoot> begun = new ArrayList<>();
    for (StagingRoot root : roots) {
      if (hasJournal(root, journal -> journal.state() != CommitJournal.State.KEPT)) {
        begun.add(root);
      }
    }
    return begun;
  }

  /** Whether a job's commit has begun and has more left to do than to clean up. One request. */
  boolean isUnfinished(StagingRoot root) throws IOException {
    return hasJournal(root, journal -> !journal.state().isEnd());
  }

  /** One that cannot be used counts: {@link Recovery#run} tells what is wrong with it. */
  private boolean hasJournal(StagingRoot root, Predicate<CommitJournal> condition)
      throws IOException {
    try {
      return CommitJournal.find(store, root.attempt()).filter(condition).isPresent();
    } catch (CorruptManifestException e) {
      LOG.debug("{} has a journal that cannot be used", root.root(), e);
      return true;
    }
  }

  private boolean hasEnded(StagingRoot root) throws IOException {
    try {
      return CommitJournal.find(store, root.attempt())
          .filter(journal -> journal.state().isEnd())
          .isPresent();
    } catch (CorruptManifestException e) {
      LOG.debug("{} has a journal that cannot be used", root.root(), e);
      return false;
    }
  }

  /** Those that replace some of these places, and have not ended. */
  List<StagingRoot> replacing(Collection<Path> places, StagingRoot own) throws IOException {
    List<StagingRoot> others = new ArrayList<>();
    for (StagingRoot other : StagingRoots.list(store, own.directory())) {
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
        && !hasEnded(other);
  }

  /**
   * Requires that no job that lives replaces any of the places of a dead job; one that may be dead,
   * too, is watched. Changes nothing. Two requests, and one for each staging directory of another
   * job; none if there are no places.
   *
   * @param pause between two looks
   * @throws PlacesInUseException if one does
   */
  void requireFree(Collection<Path> places, StagingRoot dead, LifeSigns signs, Pause pause)
      throws IOException {
    if (places.isEmpty()) {
      return;
    }
    List<StagingRoot> replacing = replacing(places, dead);
    for (Map.Entry<StagingRoot, Life> each :
        signs.await(replacing, other -> ReplaceNote.exists(store, other), pause).entrySet()) {
      if (each.getValue() == Life.ALIVE) {
        throw new PlacesInUseException(dead, each.getKey());
      }
    }
  }

  /**
   * As {@link #requireFree}, and keeps others out while the dead job is recovered. That has a
   * heartbeat by now, so that jobs wait for it. Where there is no room for a note that is missing,
   * there is none for another job either.
   *
   * @throws PlacesInUseException if one replaces some of the places
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
      if (signs.look(other) != Life.DEAD || !(isUnfinished(other) || fence(other))) {
        throw new PlacesInUseException(dead, other);
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
    ReplaceNote.delete(store, dead);
    if (!isUnfinished(dead)) {
      return true;
    }
    if (note.isPresent()) {
      ReplaceNote.writeAgain(store, dead, note.get());
    }
    return false;
  }
}
