// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.spark.DriverJob;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.SparkGround;
import io.manifestcommitter.trials.ReaderPage.ReaderCourse;
import io.manifestcommitter.trials.ReaderPage.ReaderView;
import io.manifestcommitter.trials.ReaderPage.ReaderWay;
import io.manifestcommitter.trials.ReaderWrite.ReaderPlace;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A reader that lists the whole table before every request of a job, and notes what it finds at
 * each place, and everything that breaks a promise of {@code docs/using/readers.md} about the whole
 * of it. It never throws: it looks from inside of the job's requests.
 */
final class ReaderWatch {
  private static final String REPORT = SparkGround.TABLE + "/" + JobPaths.SUCCESS_MARKER;

  private final ReaderJob job;
  private final ReaderWay way;
  private final Map<ReaderPlace, List<ReaderView>> seen = new LinkedHashMap<>();
  private final List<String> reports = new ArrayList<>();
  private final List<String> broken = new ArrayList<>();
  private boolean marked;

  ReaderWatch(ReaderJob job, ReaderWay way) {
    this.job = job;
    this.way = way;
    job.write().places().forEach(place -> seen.put(place, new ArrayList<>()));
  }

  /** Looks before each request, and then does as {@code fault} says. */
  void on(Fault fault) {
    job.store()
        .onRequest(
            (number, operation, path) -> {
              look();
              return fault.fate(number, operation, path);
            });
  }

  /** Looks once. */
  synchronized void look() {
    NavigableMap<String, String> files = job.store().files();
    marked |= hasJournal(files, "committed");
    Set<String> visible = visible(files);
    Map<ReaderPlace, ReaderView> now = new LinkedHashMap<>();
    Set<String> foreign = new TreeSet<>(visible);
    for (ReaderPlace place : seen.keySet()) {
      Optional<ReaderView> view = ReaderView.of(place.oldFiles(), place.freshFiles(), visible);
      if (!view.isPresent()) {
        broken.add(place + " shows a mixture without a name: " + visible);
        return;
      }
      now.put(place, view.get());
      foreign.removeAll(place.oldFiles());
      foreign.removeAll(place.freshFiles());
      note(seen.get(place), view.get());
    }
    if (!foreign.isEmpty()) {
      broken.add("nobody should see " + foreign);
    }
    String report = report(files);
    note(reports, report);
    checkContents(files, visible);
    checkOrder(files, visible, now, report);
  }

  /** The views of a place, each once, in their order. */
  List<ReaderView> views(ReaderPlace place) {
    return seen.get(place);
  }

  ReaderView last(ReaderPlace place) {
    return views(place).get(views(place).size() - 1);
  }

  /** Whose {@code _SUCCESS} was there: none, the last job's, this job's. */
  List<String> reports() {
    return reports;
  }

  /** Promises that were broken; each once. */
  Set<String> broken() {
    return new TreeSet<>(broken);
  }

  /** Whether recovery completes the job: past its point of no return, or by an append's report. */
  boolean isMarked() {
    return marked || reports.get(reports.size() - 1).equals("this job's");
  }

  /** All files outside of hidden directories that are not hidden themselves. */
  static Set<String> visible(Map<String, String> files) {
    Set<String> visible = new TreeSet<>(files.keySet());
    visible.removeIf(path -> path.contains("/_") || path.contains("/."));
    return visible;
  }

  private void checkContents(Map<String, String> files, Set<String> visible) {
    for (String file : visible) {
      String content = files.get(file);
      if (!content.equals("old " + file) && !content.equals("new " + file)) {
        broken.add(file + " shows " + content);
      }
    }
  }

  private void checkOrder(
      NavigableMap<String, String> files,
      Set<String> visible,
      Map<ReaderPlace, ReaderView> now,
      String report) {
    boolean allFirst = true;
    boolean allLast = true;
    for (Map.Entry<ReaderPlace, ReaderView> place : now.entrySet()) {
      ReaderCourse course = place.getKey().course(way);
      allFirst &= place.getValue() == course.first();
      allLast &= place.getValue() == course.last();
      if (!marked) {
        for (String old : place.getKey().oldFiles()) {
          if (!files.containsValue("old " + old)) {
            broken.add(old + " is deleted before the point of no return");
          }
        }
      } else if (!visible.containsAll(place.getKey().freshFiles())) {
        broken.add(
            "past the point of no return not all of the new files of " + place.getKey() + " show");
      }
    }
    if (!allFirst && !allLast && hasJournal(files, "finished")) {
      broken.add("the journal is finished half-way: " + now);
    }
    if (!allFirst && !allLast && !hasJournal(files, "")) {
      broken.add("there is no journal while the table changes: " + now);
    }
    if (report.equals("this job's") && !allLast) {
      broken.add("_SUCCESS is there before the end: " + now);
    }
  }

  private static boolean hasJournal(NavigableMap<String, String> files, String state) {
    String first = files.ceilingKey(ReaderJob.ATTEMPT + "/journal-" + state);
    return first != null && first.startsWith(ReaderJob.ATTEMPT + "/journal-" + state);
  }

  private static String report(Map<String, String> files) {
    String report = files.get(REPORT);
    if (report == null) {
      return "none";
    }
    if (report.equals(ReaderJob.LAST_REPORT)) {
      return "the last job's";
    }
    return report.contains(ReaderJob.JOB_ID) && report.endsWith("}") ? "this job's" : "a part";
  }

  private static <T> void note(List<T> list, T item) {
    if (list.isEmpty() || !list.get(list.size() - 1).equals(item)) {
      list.add(item);
    }
  }

  @Override
  public String toString() {
    return new TreeMap<>(Map.of("views", seen, "reports", reports)).toString();
  }

  /** One Spark write of a kind, at the moment before its job commit. */
  static final class ReaderJob {
    static final String LAST_REPORT = "the last report";
    static final String JOB_ID = "7d0c2f9e-52a1-4a0b-9a44-6f7a31c8e2d5";
    static final String ATTEMPT = SparkGround.TABLE + "/_manifest_" + JOB_ID + "/00";

    private final SparkGround store;
    private final ReaderWrite write;
    private final DriverJob job;

    /** Fills a table, and has the tasks of a job write to it. */
    ReaderJob(SparkGround store, ReaderWrite write, String directoryRename, int threads)
        throws IOException {
      this.store = store;
      this.write = write;
      write.old().forEach(store::put);
      if (write.hasLastReport()) {
        store.put(SparkGround.TABLE + "/" + JobPaths.SUCCESS_MARKER, LAST_REPORT);
        store.put(SparkGround.TABLE + "/" + JobPaths.FILE_LIST, "the last list");
      }
      job =
          new DriverJob(store, JOB_ID)
              .with(CommitterConfig.DIRECTORY_RENAME, directoryRename)
              .with(CommitterConfig.IO_THREADS, Integer.toString(threads))
              .setUp(write.table())
              .runTasks();
    }

    SparkGround store() {
      return store;
    }

    ReaderWrite write() {
      return write;
    }

    void commit() throws IOException {
      job.commit();
    }

    /** As Spark does after a commit that failed. */
    void abort() {
      job.abort();
    }

    /** Recovers what was left of the job, if anything was. */
    void recover() throws IOException {
      Recoveries.all(
          Recoveries.of(store.configuration(), /* force= */ true),
          store.path(SparkGround.TABLE),
          Recovery.Direction.AS_MARKED);
    }
  }
}
