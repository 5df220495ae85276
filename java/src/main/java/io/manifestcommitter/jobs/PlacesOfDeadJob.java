// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.Store;
import java.io.IOException;
import java.util.Collection;
import org.apache.hadoop.fs.Path;

/** Keeps other jobs away from the places that a dead job replaces while that is recovered. */
final class PlacesOfDeadJob {
  private final Store store;
  private final OtherJobs others;
  private final StagingRoot dead;
  private final Collection<Path> places;

  /**
   * The places of one job.
   *
   * @param places which it replaces; if there are none, nothing is asked
   */
  PlacesOfDeadJob(Store store, CommitterConfig config, StagingRoot dead, Collection<Path> places) {
    this.store = store;
    this.others = new OtherJobs(store, config);
    this.dead = dead;
    this.places = places;
  }

  /**
   * Requires that no job that lives replaces any of them. Changes nothing. Two requests, and one
   * for each staging directory of another job.
   *
   * @throws PlacesInUseException if one does
   */
  void requireFree() throws IOException {
    if (places.isEmpty()) {
      return;
    }
    for (StagingRoot other : others.replacing(places, dead)) {
      if (others.isAlive(other)) {
        throw new PlacesInUseException(dead, other);
      }
    }
  }

  /**
   * As {@link #requireFree}, and keeps others out from here on. The dead job has a heartbeat by
   * now, so that jobs wait for it.
   *
   * @throws PlacesInUseException if one replaces some of the places
   */
  void enter() throws IOException {
    if (places.isEmpty()) {
      return;
    }
    if (!ReplaceNote.read(store, dead).isPresent()) {
      ReplaceNote.write(store, dead, places);
    }
    for (StagingRoot other : others.replacing(places, dead)) {
      if (others.isAlive(other) || !(others.isUnfinished(other) || others.fence(other))) {
        throw new PlacesInUseException(dead, other);
      }
    }
  }
}
