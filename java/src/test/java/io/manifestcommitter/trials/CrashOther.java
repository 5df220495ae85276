// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.LifeSigns.Pause;
import io.manifestcommitter.spark.DriverJob;
import io.manifestcommitter.testing.SparkGround;
import io.manifestcommitter.testing.TableWrite;
import io.manifestcommitter.trials.ReaderWrite.ReaderPlace;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Another job that comes to its end between the death of a driver and the recovery of what it left,
 * and leaves that alone ({@code unfinished.jobs} = {@code warn}).
 */
enum CrashOther {
  /** One more file at each place that the dead job changes. */
  APPENDED,
  /** One file instead of all at each place that the dead job changes. */
  OVERWROTE,
  /** The same job by another driver. */
  RAN_AGAIN,
  /** One file at a place that the dead job has nothing to do with. */
  APPENDED_ELSEWHERE,
  /** The same, instead of all that is there. */
  OVERWROTE_ELSEWHERE;

  /** Those that change what the dead job changes. */
  static final List<CrashOther> AT_THE_SAME_PLACES = List.of(APPENDED, OVERWROTE, RAN_AGAIN);

  /** The word of the one that does the same. */
  static final String AGAIN = "again";

  /** How it is called in the name of a case. */
  String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Whether it has nothing to do with what the dead job changes. */
  boolean isElsewhere() {
    return !AT_THE_SAME_PLACES.contains(this);
  }

  /** What it does. */
  TableWrite write(ReaderWrite dead) {
    if (this == RAN_AGAIN) {
      return dead.by(AGAIN);
    }
    NavigableMap<String, String> rows = new TreeMap<>();
    if (isElsewhere()) {
      String place = dead.hasPartitions() ? SparkGround.TABLE + "/p=9" : "/elsewhere/9";
      rows.put(place + "/other", "other " + place + "/other");
      return (this == OVERWROTE_ELSEWHERE ? TableWrite.replacing(place) : TableWrite.append())
          .with(rows);
    }
    for (ReaderPlace place : dead.touched()) {
      String like = (place.freshFiles().isEmpty() ? place.oldFiles() : place.freshFiles()).first();
      String file = like.substring(0, like.lastIndexOf('/')) + "/other";
      rows.put(file, "other " + file);
    }
    String[] touched = dead.touched().stream().map(ReaderPlace::path).toArray(String[]::new);
    return (this == OVERWROTE ? TableWrite.replacing(touched) : TableWrite.append()).with(rows);
  }

  /**
   * Runs it from its setup to its end.
   *
   * @param pause what it does while it waits
   */
  void run(CrashStore store, ReaderWrite dead, Pause pause) throws IOException {
    job(store, dead, "warn", pause).commit();
  }

  /** A job that does it, set up, its tasks not yet run. */
  DriverJob job(CrashStore store, ReaderWrite dead, String unfinishedJobs, Pause pause)
      throws IOException {
    return job(store, write(dead), unfinishedJobs, pause);
  }

  /** The same for any other write. */
  static DriverJob job(CrashStore store, TableWrite write, String unfinishedJobs, Pause pause)
      throws IOException {
    return new DriverJob(store, DriverJob.NEXT)
        .with(CommitterConfig.UNFINISHED_JOBS, unfinishedJobs)
        .waiting(pause)
        .setUp(write);
  }
}
