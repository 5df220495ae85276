package io.manifestcommitter.spark;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.Pause;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.apache.hadoop.fs.Path;

/**
 * A kind of write, what it makes of a table by definition, and a job that does it. Rows are the
 * contents of files: "old p" for what was there, and the writer's word before the place for others.
 */
final class CrashWrite {
  /** By the names under which they are repeated. */
  static final Map<String, ReaderWrite> ALL = new LinkedHashMap<>();

  static {
    ALL.put("append-new", ReaderWrite.NEW_PARTITIONS);
    ALL.put("append", ReaderWrite.APPEND);
    ALL.put("static", ReaderWrite.STATIC);
    ALL.put("partition", ReaderWrite.ONE_PARTITION);
    ALL.put("partition-by-nothing", ReaderWrite.ONE_PARTITION_BY_NOTHING);
    ALL.put("dynamic", ReaderWrite.DYNAMIC);
    ALL.put("conflict-replace", ReaderWrite.CONFLICT_REPLACE);
    ALL.put("location-append", ReaderWrite.LOCATION_APPEND);
    ALL.put("location-overwrite", ReaderWrite.LOCATION_OVERWRITE);
    ALL.put("flat-append", ReaderWrite.FLAT_APPEND);
    ALL.put("flat-first", ReaderWrite.FLAT_FIRST);
    ALL.put("flat-overwrite", ReaderWrite.FLAT_OVERWRITE);
    ALL.put("flat-conflict-replace", ReaderWrite.FLAT_CONFLICT_REPLACE);
  }

  /** Those that replace something. */
  static final List<String> OVERWRITES = new ArrayList<>(ALL.keySet());

  static {
    OVERWRITES.removeIf(name -> new CrashWrite(ALL.get(name), "").isAppend());
  }

  private final ReaderWrite write;
  private final String word;

  /**
   * A write.
   *
   * @param word tells its rows from those of other writers
   */
  CrashWrite(ReaderWrite write, String word) {
    this.write = write;
    this.word = word;
  }

  /** The table before. */
  static NavigableMap<String, String> old(ReaderWrite write) {
    NavigableMap<String, String> old = new TreeMap<>();
    write.places().forEach(place -> place.oldFiles().forEach(file -> old.put(file, "old " + file)));
    return old;
  }

  /** What it adds. */
  NavigableMap<String, String> rows() {
    NavigableMap<String, String> rows = new TreeMap<>();
    for (ReaderPlace place : write.places()) {
      place.freshFiles().forEach(file -> rows.put(file + "-" + word, word + " " + file));
    }
    return rows;
  }

  /** What it makes of a table. */
  NavigableMap<String, String> after(Map<String, String> before) {
    NavigableMap<String, String> after = new TreeMap<>(before);
    for (String replaced : replaced()) {
      after.keySet().removeIf(file -> file.startsWith(replaced + "/"));
    }
    after.putAll(rows());
    return after;
  }

  private List<String> replaced() {
    List<String> replaced = new ArrayList<>();
    switch (write.replaces()) {
      case TABLE:
        replaced.add(CrashStore.TABLE);
        break;
      case TABLE_AND_LOCATIONS:
        replaced.add(CrashStore.TABLE);
        write.places().forEach(place -> replaced.add(place.path()));
        break;
      case FIRST_PLACE:
        replaced.add(write.places().get(0).path());
        break;
      case WHAT_IS_WRITTEN:
      case CONFLICTS:
        rows().keySet().forEach(file -> replaced.add(file.substring(0, file.lastIndexOf('/'))));
        break;
      case NOTHING:
        break;
    }
    return replaced;
  }

  /** The places that it changes. */
  List<ReaderPlace> touched() {
    Map<String, String> before = old(write);
    Map<String, String> after = after(before);
    List<ReaderPlace> touched = new ArrayList<>(write.places());
    touched.removeIf(place -> CrashOther.at(place, before).equals(CrashOther.at(place, after)));
    return touched;
  }

  /** Whether no place of it is the table itself. */
  boolean hasPartitions() {
    return write.places().stream().noneMatch(place -> place.path().equals(CrashStore.TABLE));
  }

  boolean isAppend() {
    return write.replaces() == ReaderWrite.Replaces.NOTHING;
  }

  ReaderWrite write() {
    return write;
  }

  /** A job that does it, set up, its tasks not yet run. */
  CrashJob job(CrashStore store, String jobId, String unfinishedJobs) throws IOException {
    return job(store, jobId, unfinishedJobs, CrashJob.WOULD_WAIT);
  }

  /** The same; what it does while it waits. */
  CrashJob job(CrashStore store, String jobId, String unfinishedJobs, Pause pause)
      throws IOException {
    CrashJob job =
        new CrashJob(store, jobId)
            .with(CommitterConfig.UNFINISHED_JOBS, unfinishedJobs)
            .waiting(pause);
    if (write.replaces() == ReaderWrite.Replaces.CONFLICTS) {
      job.with(CommitterConfig.CONFLICT_MODE, "replace");
    }
    rows().forEach(job::file);
    List<Path> replaced = new ArrayList<>();
    switch (write.replaces()) {
      case WHAT_IS_WRITTEN:
        return job.setUp(Overwrite::dynamic, replaced);
      case CONFLICTS:
        return job.setUp(Overwrite::recorded, replaced);
      default:
        replaced().forEach(path -> replaced.add(store.path(path)));
        return job.setUp(Overwrite::recorded, replaced);
    }
  }
}
