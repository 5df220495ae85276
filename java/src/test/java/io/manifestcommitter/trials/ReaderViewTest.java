// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.LocalGround;
import io.manifestcommitter.testing.NoHeartbeatLeft;
import io.manifestcommitter.testing.SparkGround;
import io.manifestcommitter.trials.ReaderPage.ReaderCourse;
import io.manifestcommitter.trials.ReaderPage.ReaderView;
import io.manifestcommitter.trials.ReaderPage.ReaderWay;
import io.manifestcommitter.trials.ReaderWatch.ReaderJob;
import io.manifestcommitter.trials.ReaderWrite.ReaderPlace;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a reader sees at every request of a job commit is what {@code docs/using/readers.md} says:
 * for each kind of write, on each store, with whole directories and without; while it succeeds, is
 * rolled back, stops dead, and is recovered.
 */
@ExtendWith(NoHeartbeatLeft.class)
@Tag("sample")
class ReaderViewTest {
  @TempDir File directory;

  /** With one thread every view of a course shows, so the page promises neither more nor less. */
  @ParameterizedTest
  @CsvSource({
    "abfs,auto", "abfs,off",
    "abfss,auto", "abfss,off",
    "hdfs,auto", "hdfs,off",
    "file,auto", "file,off",
    "gs,auto", "gs,off",
    "gs-folders,auto", "gs-folders,off",
    "s3a,auto", "s3a,off",
    "mem,auto", "mem,off"
  })
  void everyPlaceTakesItsCourse(String scheme, String directoryRename) throws IOException {
    ReaderWay way = ReaderWay.of(scheme, directoryRename);
    for (ReaderWrite write : ReaderWrite.ALL) {
      ReaderJob job = job(scheme, write, directoryRename, 1);
      ReaderWatch watch = new ReaderWatch(job, way);
      watch.on(Fault.NONE);
      job.commit();
      watch.look();

      for (ReaderPlace place : write.places()) {
        assertThat(watch.views(place))
            .as("%s, %s: %s", write, way, place)
            .isEqualTo(place.course(way).views());
      }
      assertThat(watch.reports())
          .as("%s, %s", write, way)
          .isEqualTo(
              write.hasLastReport()
                  ? List.of("the last job's", "none", "this job's")
                  : List.of("none", "this job's"));
      assertThat(watch.broken()).as("%s, %s", write, way).isEmpty();
      assertThat(ReaderWatch.visible(job.store().files()))
          .as("%s, %s", write, way)
          .isEqualTo(lastFiles(write, way));
    }
  }

  /** With many threads a place may take several steps between two looks, and goes no other way. */
  @ParameterizedTest
  @CsvSource({"abfs,auto", "abfs,off", "gs,auto", "gs-folders,auto", "s3a,auto"})
  void noPlaceTakesAnotherCourseWithManyThreads(String scheme, String directoryRename)
      throws IOException {
    ReaderWay way = ReaderWay.of(scheme, directoryRename);
    for (ReaderWrite write : ReaderWrite.ALL) {
      for (int round = 0; round < 3; round++) {
        ReaderJob job = job(scheme, write, directoryRename, 16);
        ReaderWatch watch = new ReaderWatch(job, way);
        watch.on(Fault.NONE);
        job.commit();
        watch.look();

        assertThat(watch.broken()).as("%s, %s", write, way).isEmpty();
        for (ReaderPlace place : write.places()) {
          ReaderCourse course = place.course(way);
          assertThat(course.views())
              .as("%s, %s: %s", write, way, place)
              .containsSubsequence(watch.views(place));
          assertThat(watch.views(place)).startsWith(course.first()).endsWith(course.last());
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"old,TURNS_OVER,EMPTIES,APPEARS", "sealed,SWAPS_AND_FILLS,VANISHES,FILLS"})
  void aDirectoryThatTheStoreDoesNotRenameIsDoneFileByFile(
      String refused, ReaderCourse replaced, ReaderCourse removed, ReaderCourse fresh)
      throws IOException {
    ReaderWrite write = ReaderWrite.named("static");
    ReaderJob job = job("abfs", write, "auto", 1);
    ReaderWatch watch = new ReaderWatch(job, ReaderWay.WHOLE_DIRECTORIES);
    Set<String> places = Set.of("/table/p=1", "/table/p=2", "/table/p=3");
    String sealed = ReaderJob.ATTEMPT + "/sealed/";
    watch.on(
        (number, operation, path) ->
            operation.equals("rename")
                    && (refused.equals("old")
                        ? places.contains(path)
                        : path.startsWith(sealed)
                            && places.contains("/table/" + path.substring(sealed.length())))
                ? Fate.FAILS_BEFORE
                : Fate.NORMAL);
    job.commit();
    watch.look();

    assertThat(watch.broken()).isEmpty();
    Iterator<ReaderCourse> courses = List.of(replaced, removed, fresh).iterator();
    for (ReaderPlace place : write.places()) {
      assertThat(watch.views(place)).as("%s", place).isEqualTo(courses.next().views());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"abfs", "gs", "gs-folders", "s3a"})
  void aJobThatFailsOrDiesTakesEveryPlaceForwardOrBackOnTheSameCourse(String scheme)
      throws IOException {
    ReaderWay way = ReaderWay.of(scheme, "auto");
    int back = 0;
    int forward = 0;
    for (ReaderWrite write : ReaderWrite.ALL) {
      for (int at : requests(scheme, write)) {
        for (boolean dies : new boolean[] {false, true}) {
          // Either way, in turns: what becomes of the job is the matter of SparkJobFaultTest.
          boolean isBefore = dies || (at + ReaderWrite.ALL.indexOf(write)) % 2 == 0;
          Fate fate = isBefore ? Fate.FAILS_BEFORE : Fate.FAILS_AFTER;
          ReaderJob job = job(scheme, write, "auto", 1);
          ReaderWatch watch = new ReaderWatch(job, way);
          watch.on(dies ? Fault.deadFrom(at, fate) : Fault.at(at, fate));
          boolean isNew = isDone(job);
          watch.look();
          Set<String> broken = watch.broken();
          if (dies) {
            isNew = watch.isMarked();
            watch.on(Fault.NONE);
            job.recover();
            watch.look();
          }

          back += isNew ? 0 : 1;
          forward += isNew ? 1 : 0;
          String context =
              write + ", " + way + (dies ? ", dead from request " : ", request ") + at + " " + fate;
          assertThat(broken).as(context).isEmpty();
          for (ReaderPlace place : write.places()) {
            ReaderCourse course = place.course(way);
            assertThat(isThereAndBack(course, watch.views(place)))
                .as("%s: %s takes %s", context, place, watch.views(place))
                .isTrue();
            assertThat(watch.last(place))
                .as(context + ": " + place)
                .isEqualTo(isNew ? course.last() : course.first());
          }
        }
      }
    }
    assertThat(back).isPositive();
    assertThat(forward).isPositive();
  }

  @Test
  void theDocumentationSaysSo() throws IOException {
    assertThat(ReaderPage.text())
        .contains(ReaderPage.ways())
        .contains(ReaderPage.views())
        .contains(ReaderPage.courses())
        .contains(ReaderPage.writes());
  }

  private ReaderJob job(String scheme, ReaderWrite write, String directoryRename, int threads)
      throws IOException {
    File root = new File(directory, "write-" + ReaderWrite.ALL.indexOf(write));
    return new ReaderJob(store(scheme, root), write, directoryRename, threads);
  }

  /** A fresh store; all but the local filesystem are in memory. */
  private static SparkGround store(String scheme, File root) {
    if (scheme.equals("file")) {
      return new LocalGround(root);
    }
    CrashStore store = new CrashStore(scheme, "auto", /* marksSuccess= */ true);
    store.state().clear();
    return store;
  }

  /** The numbers of the requests from the one on that writes the journal: nothing shows before. */
  private List<Integer> requests(String scheme, ReaderWrite write) throws IOException {
    ReaderJob job = job(scheme, write, "auto", 1);
    List<Integer> numbers = new ArrayList<>();
    job.store()
        .onRequest(
            (number, operation, path) -> {
              if (!numbers.isEmpty() || path.startsWith(ReaderJob.ATTEMPT + "/journal")) {
                numbers.add(number);
              }
              return Fate.NORMAL;
            });
    job.commit();
    return numbers;
  }

  private static boolean isDone(ReaderJob job) {
    try {
      job.commit();
      return true;
    } catch (IOException e) {
      job.abort();
      return false;
    }
  }

  /** Whether views go forward on a course, and then perhaps back. */
  private static boolean isThereAndBack(ReaderCourse course, List<ReaderView> views) {
    int at = 0;
    boolean isBack = false;
    for (ReaderView view : views) {
      int next = course.views().indexOf(view);
      if (next < 0 || (isBack && next > at)) {
        return false;
      }
      isBack |= next < at;
      at = next;
    }
    return true;
  }

  private static Set<String> lastFiles(ReaderWrite write, ReaderWay way) {
    Set<String> files = new TreeSet<>();
    for (ReaderPlace place : write.places()) {
      files.addAll(place.freshFiles());
      ReaderView last = place.course(way).last();
      if (last == ReaderView.OLD || last == ReaderView.OLD_AND_NEW) {
        files.addAll(place.oldFiles());
      }
    }
    return files;
  }
}
