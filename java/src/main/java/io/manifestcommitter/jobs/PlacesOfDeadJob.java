// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.jobs.LifeSigns.Life;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.Store;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps other jobs away from the places that a dead job replaces while that is recovered. */
final class PlacesOfDeadJob {
  private static final Logger LOG = LoggerFactory.getLogger(PlacesOfDeadJob.class);

  private final Store store;
  private final OtherJobs others;
  private final LifeSigns signs;
  private final StagingRoot dead;
  private final Collection<Path> places;

  /**
   * The places of one job.
   *
   * @param places which it replaces; if there are none, nothing is asked
   */
  PlacesOfDeadJob(Store store, LifeSigns signs, StagingRoot dead, Collection<Path> places) {
    this.store = store;
    this.others = new OtherJobs(store);
    this.signs = signs;
    this.dead = dead;
    this.places = places;
  }

  /**
   * Requires that no job that lives replaces any of them; one that may be dead, too, is watched.
   * Changes nothing. Two requests, and one for each staging directory of another job.
   *
   * @param pause between two looks
   * @throws PlacesInUseException if one does
   */
  void requireFree(Pause pause) throws IOException {
    if (places.isEmpty()) {
      return;
    }
    List<StagingRoot> replacing = others.replacing(places, dead);
    for (Map.Entry<StagingRoot, Life> each :
        signs.await(replacing, other -> ReplaceNote.exists(store, other), pause).entrySet()) {
      if (each.getValue() == Life.ALIVE) {
        throw new PlacesInUseException(dead, each.getKey());
      }
    }
  }

  /**
   * As {@link #requireFree}, and keeps others out from here on. The dead job has a heartbeat by
   * now, so that jobs wait for it. Where there is no room for a note that is missing, there is none
   * for another job either.
   *
   * @throws PlacesInUseException if one replaces some of the places
   */
  void enter() throws IOException {
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
    for (StagingRoot other : others.replacing(places, dead)) {
      if (signs.look(other) != Life.DEAD || !(others.isUnfinished(other) || others.fence(other))) {
        throw new PlacesInUseException(dead, other);
      }
    }
  }
}
