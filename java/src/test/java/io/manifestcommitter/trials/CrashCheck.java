// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.spark.DriverJob;
import io.manifestcommitter.testing.MemoryStoreState.Snapshot;
import io.manifestcommitter.testing.TableWrite;
import io.manifestcommitter.trials.ReaderPage.ReaderCourse;
import io.manifestcommitter.trials.ReaderPage.ReaderView;
import io.manifestcommitter.trials.ReaderWrite.ReaderPlace;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What has to hold of a store after one kind of write was cut short, and after what was done about
 * it. Each method says what is wrong; nothing if all is well.
 */
final class CrashCheck {
  private final CrashStore store;
  private final ReaderWrite write;
  private final TableWrite dead;
  private final NavigableMap<String, String> old;
  private final NavigableMap<String, String> fresh;
  private final NavigableSet<String> oldDirectories;
  private final NavigableSet<String> freshDirectories;
  private final String lastReport;
  private final String reportWithoutMarker;

  /**
   * A check.
   *
   * @param before the store before the job
   * @param after the store after a job that nothing happened to; the store is left so
   */
  CrashCheck(CrashStore store, ReaderWrite write, Snapshot before, Snapshot after) {
    this.store = store;
    this.write = write;
    this.dead = write.by(DriverJob.DEAD_WORD);
    old = write.old();
    fresh = dead.after(old);
    store.state().restore(before);
    oldDirectories = store.tableDirectories();
    lastReport = store.text(CrashStore.TABLE + "/_SUCCESS");
    store.state().restore(after);
    freshDirectories = store.tableDirectories();
    reportWithoutMarker = store.text(CrashStore.TABLE + "/_SUCCESS");
  }

  NavigableMap<String, String> old() {
    return old;
  }

  NavigableMap<String, String> fresh() {
    return fresh;
  }

  /**
   * Whether the job can only go forward: it is past its point of no return, or has reported, or is
   * done. A journal that is finished, or gone, says only that nothing is left to do in either
   * direction.
   */
  boolean isForward() {
    return hasJournal("committed")
        || (hasReport() && !hasJournal("revoked"))
        || (hasJournal("planned") && hasReportLeft())
        || ((hasJournal("finished") || !hasJournal("")) && !store.visible().equals(old));
  }

  /** Whether there is something to recover. */
  boolean isBegun() {
    return hasJournal("");
  }

  /** Whether a commit has begun and has more left to do than to clean up. */
  boolean isUnfinished() {
    return hasJournal("planned") || hasJournal("revoked") || hasJournal("committed");
  }

  /** Whether there is something to finish. */
  boolean isPlanned() {
    return hasJournal("planned");
  }

  private boolean hasReport() {
    String report = store.text(CrashStore.TABLE + "/_SUCCESS");
    return report.contains(DriverJob.DEAD) && report.endsWith("}");
  }

  /**
   * Whether the report of an append, by which it is known to be complete, was renamed into the
   * table, whatever another job made of it there.
   */
  private boolean hasReportLeft() {
    String prepared = CrashStore.TABLE + "/_manifest_" + DriverJob.DEAD + "/00/old/[0-9]+/_SUCCESS";
    return store.marksSuccess()
        && !store.isUploaded()
        && dead.isAppend()
        && store.state().files().keySet().stream()
            .noneMatch(path -> path.matches(prepared + "(.files)?"));
  }

  /**
   * Of several, where a rename copies, the first one counts, and none beside what is copied; where
   * output is uploaded, the furthest.
   */
  private boolean hasJournal(String inState) {
    String directory = CrashStore.TABLE + "/_manifest_" + DriverJob.DEAD + "/00/journal";
    if (store.state().exists(directory + ".tmp")) {
      return false;
    }
    List<String> states =
        new ArrayList<>(List.of("planned", "revoked", "committed", "finished", "kept"));
    if (store.isUploaded()) {
      Collections.reverse(states);
    }
    for (String state : states) {
      String prefix = directory + "-" + state;
      String first = store.state().files().ceilingKey(prefix);
      if (first != null && first.startsWith(prefix)) {
        return state.startsWith(inState);
      }
    }
    return false;
  }

  /** What a reader sees while nobody does anything about it. */
  List<String> frozen() {
    List<String> wrong = new ArrayList<>();
    NavigableMap<String, String> visible = store.visible();
    NavigableMap<String, String> left = new TreeMap<>(visible);
    boolean isLast = true;
    for (ReaderPlace place : write.places()) {
      Collection<String> freshFiles = place.in(dead.rows()).keySet();
      Optional<ReaderView> view = ReaderView.of(place.oldFiles(), freshFiles, visible.keySet());
      ReaderCourse course = course(place);
      if (!view.filter(course.views()::contains).isPresent()) {
        wrong.add(place + " shows " + view + ", which is not among " + course.views());
      }
      isLast &= view.filter(course.last()::equals).isPresent();
      left.keySet().removeAll(place.in(visible).keySet());
    }
    if (!left.isEmpty()) {
      wrong.add("nobody should see " + left);
    }
    Map<String, String> known = new TreeMap<>(old);
    known.putAll(dead.rows());
    visible.forEach(
        (path, content) -> {
          String whole = known.getOrDefault(path, "nothing");
          if (!content.equals(whole)) {
            wrong.add(path + " is not what it was: " + content);
          }
        });
    if (!isForward() && !store.state().files().values().containsAll(old.values())) {
      wrong.add("old data is gone before the point of no return");
    }
    if (!isForward() && !visible.equals(old) && !isBegun()) {
      wrong.add("there is no journal while the table changes");
    }
    if (hasReport() && !isLast) {
      wrong.add("_SUCCESS is there before the end");
    }
    return wrong;
  }

  /**
   * What whoever met old data that may not be deleted says about it: there is no mixture without a
   * word.
   *
   * @param failure what it failed with; empty if it did not
   * @param by the name of the store that it used
   */
  List<String> told(String failure, CrashStore by) {
    List<String> wrong = new ArrayList<>();
    NavigableMap<String, String> visible = store.visible();
    if (failure.isEmpty()) {
      if (!visible.equals(old) && !visible.equals(fresh)) {
        wrong.add("a mixture without a word: " + visible);
      }
      return wrong;
    }
    if (isForward()) {
      visible.keySet().removeAll(fresh.keySet());
      isNamed(wrong, visible.keySet(), failure);
    }
    if (isBegun()) {
      saysWhatToDo(wrong, failure, by);
    }
    return wrong;
  }

  static void isNamed(List<String> wrong, Collection<String> files, String failure) {
    for (String file : files) {
      if (!failure.contains(file + " ")) {
        wrong.add(file + " stays, and is not named: " + failure);
      }
    }
  }

  static void saysWhatToDo(List<String> wrong, String failure, CrashStore by) {
    String table = by.path(CrashStore.TABLE) + "'";
    if (!failure.contains("'manifest-committer recover " + table)
        && !failure.contains("'manifest-committer clean " + table)) {
      wrong.add("it does not say what to do: " + failure);
    }
  }

  /** Where old files do not move aside one by one, the new ones come beside them. */
  private ReaderCourse course(ReaderPlace place) {
    ReaderCourse course = place.course(store.way());
    if (store.isHoldingOld() && course == ReaderCourse.EMPTIES_AND_FILLS) {
      return ReaderCourse.TURNS_OVER;
    }
    return course;
  }

  /** Exactly the old table, or exactly the new one; nothing left to recover or in staging. */
  List<String> isExactly(boolean isNew) {
    List<String> wrong = new ArrayList<>();
    differs(wrong, "the table", store.visible(), isNew ? fresh : old);
    differs(
        wrong, "directories", store.tableDirectories(), isNew ? freshDirectories : oldDirectories);
    String report = store.text(CrashStore.TABLE + "/_SUCCESS");
    if (isNew && store.marksSuccess()) {
      if (!report.contains(DriverJob.DEAD) || !report.endsWith("}")) {
        wrong.add("_SUCCESS is " + report);
      }
    } else {
      differs(wrong, "_SUCCESS", report, isNew ? reportWithoutMarker : lastReport);
    }
    if (!isNew) {
      String lastList = lastReport.isEmpty() ? "" : CrashStore.LAST_LIST;
      differs(wrong, "the list", store.text(CrashStore.TABLE + "/_SUCCESS.files"), lastList);
    }
    differs(wrong, "staging", store.staging(), List.of());
    return wrong;
  }

  /** Something that has to succeed; with what it failed, if it did. */
  static void failed(List<String> wrong, String what, String failure) {
    if (!failure.isEmpty()) {
      wrong.add(what + ": " + failure);
    }
  }

  static void differs(List<String> wrong, String what, Object found, Object expected) {
    if (!found.equals(expected)) {
      wrong.add(what + " is " + found + ", and should be " + expected);
    }
  }
}
