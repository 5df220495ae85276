// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static io.manifestcommitter.spark.SparkJobHarness.STAGING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.cli.Clean;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.LifeSigns;
import io.manifestcommitter.jobs.LifeSigns.Pause;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.jobs.Recovery.LeftoverException;
import io.manifestcommitter.jobs.Recovery.Outcome;
import io.manifestcommitter.jobs.StagedJob;
import io.manifestcommitter.jobs.StagedJobs;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.Recoveries.PassingTime;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What jobs leave in a table that have ended: it never stands in the way of another job. */
class LeftoverTest {
  private static final String SECOND = "5e0f8a52-90c1-4a7b-8c11-0d3c1c2b7a22";

  @ParameterizedTest
  @CsvSource({
    "abfs,static,rollback", "abfs,static,fail", "abfs,static,warn",
    "hdfs,static,rollback", "hdfs,dynamic,rollback", "hdfs,append,rollback",
    "gs,static,rollback", "gs,partition,fail", "gs,dynamic,warn"
  })
  void whatNobodyMayRemoveStopsNoJob(String scheme, String kind, String mode) throws IOException {
    SparkJobHarness first = leftBehind(scheme, kind);
    first.state.giveAway(STAGING);

    SparkJobHarness second = first.other(SECOND).with(CommitterConfig.UNFINISHED_JOBS, mode);
    write(second, kind);

    assertThat(second.visible()).isEqualTo(expectedAfterBoth(kind));
    assertThat(first.state.exists(STAGING)).isTrue();
    assertThat(second.staging()).allMatch(path -> path.startsWith(STAGING));
  }

  /** Asked before the point of no return: the table is as before, and nothing is left. */
  @ParameterizedTest
  @CsvSource({
    "static,auto,false",
    "static,off,false",
    "dynamic,auto,false",
    "partition,off,false",
    "static,auto,true",
    "dynamic,off,true"
  })
  void anOverwriteOfWhatNobodyMayDeleteFailsBeforeItChangesAnything(
      String kind, String directoryRename, boolean isSticky) throws IOException {
    SparkJobHarness spark = SparkJobFaultTest.prepared("hdfs", kind, directoryRename);
    if (isSticky) {
      spark.state.giveAwaySticky("/table/p=1");
    } else {
      spark.state.giveAway("/table/p=1");
    }

    assertThatThrownBy(spark::commit)
        .hasMessageContaining("nothing was changed")
        .hasMessageContaining("/table/p=1 belongs to somebody:others with rwx")
        .hasMessageContaining(isSticky ? "old belongs to somebody" : "may not delete");
    spark.job().abort();

    assertThat(spark.visible()).isEqualTo(SparkJobFaultTest.OLD);
    assertThat(spark.staging()).isEmpty();
    write(spark.other(SECOND), "append", "p=2/second");
    assertThat(spark.visible()).hasSize(SparkJobFaultTest.OLD.size() + 1);
  }

  /** Of one partition, which shows both: jobs into all others go on. */
  @ParameterizedTest
  @CsvSource({
    "abfs,append,p=2/second", "abfs,static-p2,p=2/second", "abfs,dynamic,p=2/second",
    "gs,append,p=4/second", "gs,static-p2,p=2/second", "gs,dynamic,p=3/second"
  })
  void oldDataThatMayNotBeDeletedStopsNoJobIntoOtherPlaces(String scheme, String kind, String file)
      throws IOException {
    SparkJobHarness first = withOldDataThatMayNotBeDeleted(scheme);

    SparkJobHarness second =
        first
            .other(SECOND)
            .setUp(
                kind.equals("static-p2")
                    ? TableWrite.replacing("/table/p=2")
                    : SparkJobFaultTest.write(kind));
    second.commitTask(0, file);
    second.commit();

    assertThat(second.visible()).containsEntry("/table/" + file, "new " + file);
    assertThat(second.visible()).containsKeys("/table/p=1/old", "/table/p=1/a");
    first.state.release();
    assertThat(first.recoverAsMarked(false)).isEqualTo(Outcome.COMPLETED);
    assertThat(second.visible())
        .containsEntry("/table/" + file, "new " + file)
        .containsKey("/table/p=1/a")
        .doesNotContainKey("/table/p=1/old");
    assertThat(first.staging()).isEmpty();
  }

  /** In its setup, where it is known what it replaces. */
  @ParameterizedTest
  @CsvSource({
    "abfs,static,true",
    "abfs,partition,true",
    "abfs,append,false",
    "abfs,dynamic,false",
    "gs,static,true",
    "gs,append,false",
    "gs,dynamic,false"
  })
  void oldDataThatMayNotBeDeletedStopsJobsIntoTheSamePlaceWhichSayWhatToDo(
      String scheme, String kind, boolean inSetUp) throws IOException {
    SparkJobHarness first = withOldDataThatMayNotBeDeleted(scheme);
    Map<String, String> before = first.visible();

    SparkJobHarness second = first.other(SECOND);
    if (!inSetUp) {
      second.setUp(SparkJobFaultTest.write(kind)).commitTask(0, "p=1/second");
    }
    assertThatThrownBy(
            () -> {
              if (inSetUp) {
                second.setUp(SparkJobFaultTest.write(kind));
              } else {
                second.commit();
              }
            })
        .hasMessageContaining("/table/p=1/old (")
        .hasMessageContaining("Permission denied")
        .hasMessageContaining("'manifest-committer recover " + first.table + "'");
    if (!inSetUp) {
      second.job().abort();
    }

    assertThat(second.visible()).isEqualTo(before);
    assertThat(second.staging()).noneMatch(path -> path.contains(SECOND));
    first.state.release();
    write(first.other("6f1f8a52-90c1-4a7b-8c11-0d3c1c2b7a33"), kind);
    assertThat(first.visible()).doesNotContainKey("/table/p=1/old");
    assertThat(first.staging()).isEmpty();
  }

  /** A static overwrite whose new data is complete, and of whose old data one file stays. */
  private static SparkJobHarness withOldDataThatMayNotBeDeleted(String scheme) throws IOException {
    SparkJobHarness spark = SparkJobFaultTest.prepared(scheme, "static", "off");
    spark.state.hold("/table/p=1/old");
    assertThatThrownBy(spark::commit)
        .hasMessageContaining("/table/p=1/old (")
        .hasMessageContaining("'manifest-committer recover " + spark.table + "'");
    spark.job().abort();
    assertThat(spark.visible()).containsKeys("/table/p=1/old", "/table/p=1/a");
    assertThat(spark.visible()).doesNotContainKey("/table/p=2/old");
    return spark;
  }

  /** As a job that ended and could not clean up: the heartbeat is gone, so nobody waits for it. */
  @ParameterizedTest
  @ValueSource(strings = {"abfs", "hdfs", "gs"})
  void aJobThatCannotCleanUpLeavesNoSignOfLife(String scheme) throws IOException {
    SparkJobHarness spark = SparkJobFaultTest.prepared(scheme, "static", "auto");
    refuseDeletionOfStaging(spark);
    spark.commit();
    spark.state.noFault();

    assertThat(spark.state.exists(STAGING)).isTrue();
    assertThat(spark.recoverAsMarked(false)).isEqualTo(Outcome.CLEANED_UP);
    assertThat(spark.staging()).isEmpty();
  }

  /** What is one's own may be deleted from a sticky directory of somebody else. */
  @Test
  void onesOwnDataInAStickyDirectoryMayBeOverwritten() throws IOException {
    SparkJobHarness spark = SparkJobFaultTest.prepared("hdfs", "partition", "auto");
    spark.state.remove("/table/p=1/old");
    spark.state.giveAwaySticky("/table/p=1");
    spark.old("/table/p=1/old");

    spark.commit();

    assertThat(spark.visible()).isEqualTo(SparkJobFaultTest.expected("partition"));
  }

  @Test
  void whatCanBeRemovedIsRemovedByTheNextJob() throws IOException {
    SparkJobHarness first = leftBehind("hdfs", "static");

    write(first.other(SECOND), "static");

    assertThat(first.staging()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"damaged", ""})
  void aDamagedJournalThatIsFinishedStopsNoJob(String content) throws IOException {
    SparkJobHarness first = leftBehind("abfs", "append");
    first.state.write(STAGING + "/00/journal-finished-0", content);

    write(first.other(SECOND), "append");

    assertThat(first.visible()).isEqualTo(expectedAfterBoth("append"));
  }

  @Test
  void recoverySaysWhatItCouldNotRemove() throws IOException {
    SparkJobHarness first = leftBehind("hdfs", "static");
    first.state.giveAway(STAGING);
    Map<String, String> before = first.state.files();

    assertThatThrownBy(() -> first.recover(Direction.AS_MARKED, /* force= */ false))
        .isInstanceOfSatisfying(
            LeftoverException.class, e -> assertThat(e.outcome).isEqualTo(Outcome.CLEANED_UP))
        .hasMessageContainingAll(STAGING, "Permission denied");
    assertThat(first.state.files()).isEqualTo(before);
  }

  /** The journal is finished, and the deletion after it is refused. */
  @Test
  void aRecoveryThatCannotCleanUpHasRecovered() throws IOException {
    SparkJobHarness dead = SparkJobFaultTest.prepared("abfs", "static", "auto");
    dead.state.onRequest(Fault.deadFrom("rename", path -> path.endsWith("/sealed/p=3")));
    assertThatThrownBy(dead::commit).isInstanceOf(IOException.class);
    refuseDeletionOfStaging(dead);
    dead.state.remove(STAGING + "/heartbeat");

    SparkJobHarness second = dead.other(SECOND);
    write(second, "append");

    Map<String, String> expected = new HashMap<>(SparkJobFaultTest.OLD);
    expected.put("/table/p=1/second", "new p=1/second");
    assertThat(second.visible()).isEqualTo(expected);
    assertThat(dead.staging())
        .anyMatch(path -> path.contains("/journal-finished-"))
        .doesNotContain(STAGING + "/heartbeat");
  }

  @ParameterizedTest
  @ValueSource(strings = {"rollback", "fail", "warn"})
  void whatAJobWasToldToLeaveStays(String mode) throws IOException {
    SparkJobHarness first = new SparkJobHarness("abfs");
    SparkJobFaultTest.OLD.forEach(first.state::write);
    first.with(CommitterConfig.CLEANUP_SKIPPED, "true");
    write(first, "static", "p=1/first");
    List<String> left = first.staging();
    left.remove(STAGING + "/heartbeat");
    first.state.remove(STAGING + "/heartbeat");

    SparkJobHarness second = first.other(SECOND).with(CommitterConfig.CLEANUP_SKIPPED, "false");
    second.with(CommitterConfig.UNFINISHED_JOBS, mode);
    write(second, "append");

    assertThat(first.staging()).isEqualTo(left);
    assertThat(first.recovery(false).find(first.table)).isEmpty();
    StagedJobs staged = new StagedJobs(new Stores(first.conf).all(), config(first));
    StagedJob job = staged.find(first.table, 0).get(0);
    assertThat(job.hasUnfinishedCommit()).isFalse();
    Pause pause = new PassingTime();
    LifeSigns signs = new LifeSigns(new Stores(first.conf).all(), config(first), pause::nanos);
    staged.remove(job, /* force= */ false, signs, pause);
    assertThat(first.state.exists(STAGING)).isFalse();
  }

  @Test
  void aJobThatIsToldToCleanNothingUpRemovesNothingOfOthers() throws IOException {
    SparkJobHarness first = leftBehind("abfs", "static");
    List<String> left = first.staging();

    SparkJobHarness second = first.other(SECOND).with(CommitterConfig.CLEANUP_SKIPPED, "true");
    write(second, "append");

    assertThat(first.staging()).containsAll(left);
  }

  /** As a late attempt makes them, whose job is gone. On an object store they have no age. */
  @ParameterizedTest
  @ValueSource(strings = {"abfs", "hdfs", "gs"})
  void emptyDirectoriesOfAJobThatIsGoneHarmNobodyAndAreCleaned(String scheme) throws IOException {
    SparkJobHarness spark = new SparkJobHarness(scheme).other(SECOND);
    SparkJobFaultTest.OLD.forEach(spark.state::write);
    spark.state.mkdirs(STAGING + "/00/output/p=1");

    write(spark, "static");

    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/second");
    assertThat(spark.recovery(false).find(spark.table)).isEmpty();
    Configuration brief = Recoveries.watchingBriefly(spark.conf);
    assertThat(Clean.ofSession(brief, spark.table.toString(), "24h", false, false, false))
        .contains("\"state\":\"abandoned\"", "\"removed\":true");
    assertThat(spark.staging()).noneMatch(path -> path.startsWith("/table/"));
  }

  /** Committed; its staging directory, whose deletion failed, has no heartbeat any more. */
  private static SparkJobHarness leftBehind(String scheme, String kind) throws IOException {
    SparkJobHarness spark = SparkJobFaultTest.prepared(scheme, kind, "auto");
    refuseDeletionOfStaging(spark);
    spark.commit();
    spark.state.noFault();
    assertThat(spark.staging()).anyMatch(path -> path.contains("/journal-finished-"));
    return spark;
  }

  private static void refuseDeletionOfStaging(SparkJobHarness spark) {
    spark.state.onRequest(Fault.on("delete", Fate.FAILS_BEFORE, path -> path.equals(STAGING)));
  }

  private static void write(SparkJobHarness spark, String kind) throws IOException {
    write(spark, kind, "p=1/second");
  }

  private static void write(SparkJobHarness spark, String kind, String file) throws IOException {
    spark.setUp(SparkJobFaultTest.write(kind)).commitTask(0, file);
    spark.commit();
  }

  private static Map<String, String> expectedAfterBoth(String kind) {
    Map<String, String> expected = new HashMap<>(SparkJobFaultTest.expected(kind));
    if (kind.equals("static")) {
      expected.clear();
    } else if (!kind.equals("append")) {
      expected.keySet().removeIf(path -> path.startsWith("/table/p=1/"));
    }
    expected.put("/table/p=1/second", "new p=1/second");
    return expected;
  }

  private static CommitterConfig config(SparkJobHarness spark) {
    return new CommitterConfig(spark.conf);
  }
}
