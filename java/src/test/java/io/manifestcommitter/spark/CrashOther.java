package io.manifestcommitter.spark;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.Pause;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.apache.hadoop.fs.Path;

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

  /** How it is called in the name of a case. */
  String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Whether it has nothing to do with what the dead job changes. */
  boolean isElsewhere() {
    return !AT_THE_SAME_PLACES.contains(this);
  }

  private static String elsewhere(CrashWrite dead) {
    return dead.hasPartitions() ? CrashStore.TABLE + "/p=9" : "/elsewhere/9";
  }

  /** What it makes of a table. */
  NavigableMap<String, String> after(CrashWrite dead, Map<String, String> before) {
    if (this == RAN_AGAIN) {
      return again(dead).after(before);
    }
    NavigableMap<String, String> after = new TreeMap<>(before);
    for (ReaderPlace place : dead.touched()) {
      if (this == OVERWROTE) {
        after.keySet().removeIf(file -> file.startsWith(place.path() + "/"));
      }
    }
    after.putAll(rows(dead));
    return after;
  }

  /** What it adds. */
  NavigableMap<String, String> rows(CrashWrite dead) {
    if (this == RAN_AGAIN) {
      return again(dead).rows();
    }
    NavigableMap<String, String> rows = new TreeMap<>();
    if (isElsewhere()) {
      String file = elsewhere(dead) + "/other";
      rows.put(file, "other " + file);
      return rows;
    }
    for (ReaderPlace place : dead.touched()) {
      String like = (place.freshFiles().isEmpty() ? place.oldFiles() : place.freshFiles()).first();
      String file = like.substring(0, like.lastIndexOf('/')) + "/other";
      rows.put(file, "other " + file);
    }
    return rows;
  }

  /**
   * Runs it from its setup to its end.
   *
   * @param pause what it does while it waits
   */
  void run(CrashStore store, CrashWrite dead, Pause pause) throws IOException {
    job(store, dead, "warn", pause).commit();
  }

  /** A job that does it, set up, its tasks not yet run. */
  CrashJob job(CrashStore store, CrashWrite dead, String unfinishedJobs, Pause pause)
      throws IOException {
    if (this == RAN_AGAIN) {
      return again(dead).job(store, CrashJob.NEXT, unfinishedJobs, pause);
    }
    CrashJob job =
        new CrashJob(store, CrashJob.NEXT)
            .with(CommitterConfig.UNFINISHED_JOBS, unfinishedJobs)
            .waiting(pause);
    rows(dead).forEach(job::file);
    List<Path> replaced = new ArrayList<>();
    if (this == OVERWROTE) {
      dead.touched().forEach(place -> replaced.add(store.path(place.path())));
    }
    if (this == OVERWROTE_ELSEWHERE) {
      replaced.add(store.path(elsewhere(dead)));
    }
    return job.setUp(Overwrite::recorded, replaced);
  }

  static CrashWrite again(CrashWrite dead) {
    return new CrashWrite(dead.write(), "again");
  }

  /** The part of a table that is at a place. */
  static NavigableMap<String, String> at(ReaderPlace place, Map<String, String> table) {
    NavigableMap<String, String> at = new TreeMap<>(table);
    at.keySet().removeIf(file -> !file.startsWith(place.path() + "/"));
    return at;
  }
}
