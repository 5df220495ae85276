// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static io.manifestcommitter.spark.SparkJobHarness.JOB_ID;
import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.jobs.Recovery.Outcome;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A commit that was cut short at any request is finished, or meets what other jobs did since. */
class SparkJobResumeTest {
  private static final String OTHERS = "/table/p=1/other";

  @ParameterizedTest
  @CsvSource({
    "abfs,append,auto",
    "abfs,static,auto",
    "abfs,dynamic,auto",
    "hdfs,partition,auto",
    "hdfs,static,auto",
    "gs,append,auto",
    "gs,static,auto",
    "gs,dynamic,auto",
    "abfs,dynamic,off"
  })
  void aCommitThatWasCutShortCanBeFinished(String scheme, String kind, String directoryRename)
      throws IOException {
    int requests = requests(scheme, kind, directoryRename);
    Map<Outcome, Integer> outcomes = new TreeMap<>();
    for (Fate fate : List.of(Fate.FAILS_BEFORE, Fate.FAILS_AFTER)) {
      for (int at = 1; at <= requests; at++) {
        SparkJobHarness spark = cutShort(scheme, kind, directoryRename, at, fate);
        boolean wasCommitted = isCommitted(spark);
        for (StagingRoot root : spark.recovery(true).find(spark.table)) {
          outcomes.merge(spark.recovery(true).run(root, Direction.COMPLETE), 1, Integer::sum);
          assertThat(isCommitted(spark)).isTrue();
          wasCommitted = true;
        }
        assertThat(spark.visible())
            .as("%s %s, cut short at request %d %s", scheme, kind, at, fate)
            .isEqualTo(wasCommitted ? SparkJobFaultTest.expected(kind) : SparkJobFaultTest.OLD);
      }
    }
    System.out.printf(
        "%s %s, directory.rename %s: cut short at each of %d requests, twice: %s%n",
        scheme, kind, directoryRename, requests, outcomes);
    assertThat(outcomes.get(Outcome.COMPLETED)).isGreaterThan(5);
  }

  @ParameterizedTest
  @CsvSource({
    "abfs,static,COMPLETE",
    "abfs,static,AS_MARKED",
    "abfs,append,COMPLETE",
    "abfs,append,AS_MARKED",
    "gs,dynamic,COMPLETE",
    "gs,dynamic,AS_MARKED"
  })
  void finishingMayItselfBeCutShort(String scheme, String kind, Direction second)
      throws IOException {
    int requests = requests(scheme, kind, "auto");
    int twice = 0;
    for (int at = 1; at <= requests; at += 2) {
      boolean cut = true;
      for (int again = 1; cut; again += 2) {
        SparkJobHarness spark = cutShort(scheme, kind, "auto", at, Fate.FAILS_AFTER);
        List<StagingRoot> unfinished = spark.recovery(true).find(spark.table);
        cut = !unfinished.isEmpty();
        if (cut) {
          spark.state.resetRequests();
          spark.state.onRequest(Fault.deadFrom(again, Fate.FAILS_AFTER));
          cut =
              !Failures.of(() -> spark.recovery(true).run(unfinished.get(0), Direction.COMPLETE))
                  .isEmpty();
          spark.state.noFault();
        }
        for (StagingRoot root : spark.recovery(true).find(spark.table)) {
          spark.recovery(true).run(root, second);
          twice++;
        }
        assertThat(spark.visible())
            .as("%s %s, cut short at request %d, finishing at %d", scheme, kind, at, again)
            .isEqualTo(
                isCommitted(spark) ? SparkJobFaultTest.expected(kind) : SparkJobFaultTest.OLD);
      }
    }
    assertThat(twice).isGreaterThan(20);
  }

  @ParameterizedTest
  @CsvSource({
    "abfs,static,AS_MARKED", "abfs,dynamic,AS_MARKED", "gs,dynamic,AS_MARKED",
    "abfs,static,COMPLETE", "abfs,dynamic,COMPLETE", "gs,dynamic,COMPLETE"
  })
  void aPlaceThatAnotherJobOverwroteSinceIsNeverMixed(
      String scheme, String kind, Direction direction) throws IOException {
    int requests = requests(scheme, kind, "auto");
    int stopped = 0;
    for (int at = 1; at <= requests; at++) {
      SparkJobHarness spark = cutShort(scheme, kind, "auto", at, Fate.FAILS_AFTER);
      for (String file : place(spark).keySet()) {
        spark.state.remove(file);
      }
      spark.state.write(OTHERS, "of another job");
      String context = scheme + " " + kind + ", cut short at request " + at;
      for (StagingRoot root : spark.recovery(true).find(spark.table)) {
        if (!Failures.of(() -> spark.recovery(true).run(root, direction)).isEmpty()) {
          stopped++;
          assertThat(place(spark)).as(context).containsOnlyKeys(OTHERS);
          // As the message says.
          spark.state.remove(root.allOld().toUri().getPath());
          spark.recovery(true).run(root, Direction.AS_MARKED);
        }
      }
      assertThat(place(spark)).as(context).containsOnlyKeys(OTHERS);
      assertThat(spark.recovery(true).find(spark.table)).isEmpty();
    }
    System.out.printf(
        "%s %s %s: overwritten after each of %d requests, %d stopped%n",
        scheme, kind, direction, requests, stopped);
    if (!scheme.equals("gs") || direction == Direction.COMPLETE) {
      assertThat(stopped).isPositive();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "abfs,static,AS_MARKED",
    "abfs,dynamic,AS_MARKED",
    "gs,dynamic,AS_MARKED",
    "abfs,append,AS_MARKED",
    "abfs,static,COMPLETE",
    "abfs,dynamic,COMPLETE",
    "gs,dynamic,COMPLETE",
    "abfs,append,COMPLETE"
  })
  void whatAnotherJobAddedSinceStays(String scheme, String kind, Direction direction)
      throws IOException {
    int requests = requests(scheme, kind, "auto");
    int recovered = 0;
    for (int at = 1; at <= requests; at++) {
      SparkJobHarness spark = cutShort(scheme, kind, "auto", at, Fate.FAILS_AFTER);
      spark.state.write(OTHERS, "of another job");
      String context = scheme + " " + kind + ", cut short at request " + at;
      boolean stopped = false;
      for (StagingRoot root : spark.recovery(true).find(spark.table)) {
        stopped |= !Failures.of(() -> spark.recovery(true).run(root, direction)).isEmpty();
        recovered++;
      }
      Map<String, String> place = place(spark);
      assertThat(place.remove(OTHERS)).as(context).isEqualTo("of another job");
      if (stopped) {
        assertThat(place).as(context).isEmpty();
      } else {
        assertThat(place)
            .as(context)
            .isEqualTo(
                atPlace(
                    isCommitted(spark) ? SparkJobFaultTest.expected(kind) : SparkJobFaultTest.OLD));
      }
    }
    assertThat(recovered).isPositive();
  }

  private static int requests(String scheme, String kind, String directoryRename)
      throws IOException {
    SparkJobHarness clean = SparkJobFaultTest.prepared(scheme, kind, directoryRename);
    clean.commit();
    return clean.state.requests().size();
  }

  /** A commit whose driver could make no request after one. */
  private static SparkJobHarness cutShort(
      String scheme, String kind, String directoryRename, int at, Fate fate) throws IOException {
    SparkJobHarness spark = SparkJobFaultTest.prepared(scheme, kind, directoryRename);
    spark.dies(Fault.deadFrom(at, fate));
    return spark;
  }

  private static boolean isCommitted(SparkJobHarness spark) {
    return String.valueOf(spark.state.files().get("/table/_SUCCESS")).contains(JOB_ID);
  }

  private static Map<String, String> place(SparkJobHarness spark) {
    return atPlace(spark.visible());
  }

  private static Map<String, String> atPlace(Map<String, String> files) {
    Map<String, String> place = new HashMap<>(files);
    place.keySet().removeIf(file -> !file.startsWith("/table/p=1/"));
    return place;
  }
}
