package io.manifestcommitter.spark;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.journal.Pause;
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
  RAN_AGAIN;

  /** How it is called in the name of a case. */
  String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
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
    if (this == RAN_AGAIN) {
      again(dead).job(store, CrashJob.NEXT, "warn", pause).commit();
      return;
    }
    CrashJob job =
        new CrashJob(store, CrashJob.NEXT)
            .with(CommitterConfig.UNFINISHED_JOBS, "warn")
            .waiting(pause);
    rows(dead).forEach(job::file);
    List<Path> replaced = new ArrayList<>();
    if (this == OVERWROTE) {
      dead.touched().forEach(place -> replaced.add(store.path(place.path())));
    }
    job.setUp(Overwrite::recorded, replaced).commit();
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
