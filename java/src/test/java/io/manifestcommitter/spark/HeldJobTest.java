// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.cli.Answers;
import io.manifestcommitter.cli.Clean;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.HeldJobs;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.progress.Commits;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Jobs that are held, published and discarded; HeldTest has the deaths and faults. */
class HeldJobTest {
  private static final String NEXT = "91b2c7aa-7d20-4a36-b1c3-5e0fd2a4be02";
  private static final String ID = "run 1";

  @ParameterizedTest
  @ValueSource(strings = {"abfs", "hdfs", "gs", "s3a"})
  void aHeldJobIsListedAndThenPublishedOnce(String scheme) throws IOException {
    SparkJobHarness spark = new SparkJobHarness(scheme).old("/table/p=1/old");
    spark.with(CommitterConfig.SUMMARY_REPORT_DIRECTORY, spark.path("/_reports").toString());
    hold(spark, TableWrite.replacing("/table/p=1"), "p=1/a", "p=2/b");

    spark.job().abort();

    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/old");
    assertThat(spark.state.exists(SparkJobHarness.STAGING + "/heartbeat")).isFalse();
    assertThat(told(spark))
        .contains(
            "\"jobId\":\"" + SparkJobHarness.JOB_ID + "\"",
            "\"files\":2",
            "\"partitions\":[\"p=1\",\"p=2\"]",
            "\"overwrites\":true",
            "\"readable\":" + !scheme.equals("s3a"));
    SuccessReport report = spark.report("/_reports/summary-" + SparkJobHarness.JOB_ID + ".json");
    assertThat(report.success()).isTrue();
    assertThat(report.diagnostics()).containsEntry("held.by", SparkJobHarness.JOB_ID);
    assertThat(states(SparkJobHarness.JOB_ID)).contains("held");

    publish(spark);

    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/a", "/table/p=2/b");
    assertThat(spark.report("/table/_SUCCESS").diagnostics())
        .containsEntry("table", spark.table.toString());
    assertThat(spark.staging()).isEmpty();
    assertThat(told(spark)).isEqualTo("[]");
    assertThatThrownBy(() -> publish(spark)).hasMessageContaining("is not held in");
    assertThatThrownBy(() -> discard(spark)).hasMessageContaining("is not held in");
    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/a", "/table/p=2/b");
  }

  @ParameterizedTest
  @ValueSource(strings = {"abfs", "hdfs", "gs", "s3a"})
  void aDiscardedJobLeavesNothing(String scheme) throws IOException {
    SparkJobHarness spark = new SparkJobHarness(scheme);
    hold(spark, TableWrite.append(), "p=1/a");

    discard(spark);

    assertThat(spark.visible()).isEmpty();
    assertThat(spark.staging()).isEmpty();
    assertThat(spark.state.exists("/table")).isFalse();
    assertThatThrownBy(() -> publish(spark)).hasMessageContaining("is not held in");
  }

  @ParameterizedTest
  @ValueSource(strings = {"abfs", "hdfs", "gs", "s3a"})
  void anOverwriteIsPublishedOnlyOverTheStateThatItSaw(String scheme) throws IOException {
    SparkJobHarness spark = new SparkJobHarness(scheme).old("/table/p=1/old");
    hold(spark, TableWrite.replacing("/table"), "p=1/a");
    commit(spark.other(NEXT), TableWrite.append(), "p=2/b");

    assertThatThrownBy(() -> publish(spark))
        .hasMessageContainingAll(
            "1 files are there that it did not see",
            "/table/p=2/b",
            "the job is still held",
            "manifest-committer discard");
    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/old", "/table/p=2/b");
    assertThat(spark.state.exists(SparkJobHarness.STAGING + "/heartbeat")).isFalse();

    spark.state.remove("/table/p=2/b");
    publish(spark);
    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/a");
  }

  @Test
  void anOverwriteIsNotPublishedOverWhatIsGoneOrWrittenAgain() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("hdfs").old("/table/p=1/old", "/table/p=1/more");
    hold(spark, TableWrite.replacing("/table"), "p=1/a");
    spark.state.remove("/table/p=1/more");
    assertThatThrownBy(() -> publish(spark))
        .hasMessageContainingAll("1 files that it is to replace are gone", "/table/p=1/more");

    spark.state.write("/table/p=1/more", "other");
    assertThatThrownBy(() -> publish(spark))
        .hasMessageContainingAll("did not see", "/table/p=1/more");
    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/old", "/table/p=1/more");
    discard(spark);
    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/old", "/table/p=1/more");
  }

  @Test
  void aPartitionThatMustNotExistIsAskedForAgain() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("abfs").with(CommitterConfig.CONFLICT_MODE, "fail");
    hold(spark, TableWrite.append(), "p=1/a");
    SparkJobHarness other = spark.other(NEXT).with(CommitterConfig.CONFLICT_MODE, "append");
    commit(other, TableWrite.append(), "p=1/b");

    assertThatThrownBy(() -> publish(spark)).hasMessageContaining("/table/p=1/b");
    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/b");
  }

  @ParameterizedTest
  @ValueSource(strings = {"abfs", "hdfs", "gs", "s3a"})
  void anAppendPassesAndIsPassed(String scheme) throws IOException {
    SparkJobHarness spark = new SparkJobHarness(scheme).old("/table/p=1/old");
    hold(spark, TableWrite.append(), "p=1/a", "p=2/a");
    commit(spark.other(NEXT), TableWrite.append(), "p=1/b", "p=2/b");
    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/old", "/table/p=1/b", "/table/p=2/b");

    publish(spark);

    assertThat(spark.visible())
        .containsOnlyKeys(
            "/table/p=1/old", "/table/p=1/a", "/table/p=1/b", "/table/p=2/a", "/table/p=2/b");
    assertThat(spark.staging()).isEmpty();
  }

  /** An overwrite has removed the partition that the job was to add to. */
  @ParameterizedTest
  @ValueSource(strings = {"abfs", "hdfs", "gs", "gs-folders", "s3a"})
  void anAppendIsPublishedAlsoAfterAnOverwrite(String scheme) throws IOException {
    SparkJobHarness spark = new SparkJobHarness(scheme).old("/table/p=1/old");
    hold(spark, TableWrite.append(), "p=1/a", "p=1/q=1/a");
    commit(spark.other(NEXT), TableWrite.replacing("/table"), "p=2/b");

    publish(spark);

    assertThat(spark.visible())
        .containsOnlyKeys("/table/p=1/a", "/table/p=1/q=1/a", "/table/p=2/b");
  }

  @Test
  void anOverwriteOfTheSamePlacesIsRefused() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("abfs").old("/table/p=1/old");
    hold(spark, TableWrite.replacing("/table/p=1"), "p=1/a");
    SparkJobHarness next = spark.other(NEXT).with(CommitterConfig.PUBLISH, "now");
    next.setUp(TableWrite.replacing("/table")).commitTask(0, "p=1/b");

    assertThat(next.commitOrAbort().orElseThrow())
        .hasMessageContainingAll(
            SparkJobHarness.JOB_ID + " is held",
            "manifest-committer publish",
            "manifest-committer discard",
            CommitterConfig.HOLD_CONFLICT);

    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/old");
    publish(spark);
    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/a");
  }

  @Test
  void anOverwriteOfTheSamePlacesWaits() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("abfs").old("/table/p=1/old");
    hold(spark, TableWrite.replacing("/table/p=1"), "p=1/a");
    List<String> waits = new ArrayList<>();
    SparkJobHarness next =
        spark
            .other(NEXT)
            .with(CommitterConfig.PUBLISH, "now")
            .with(CommitterConfig.HOLD_CONFLICT, "wait")
            .waiting(
                waiting -> {
                  waits.add(waiting.jobId);
                  if (waits.size() == 3) {
                    publish(spark);
                  }
                });

    next.setUp(TableWrite.replacing("/table/p=1")).commitTask(0, "p=1/b").commit();

    assertThat(waits).hasSize(3).containsOnly(SparkJobHarness.JOB_ID);
    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/b");
  }

  @Test
  void theSameIdentityDoesNothingWhileItIsHeld() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("abfs").with(CommitterConfig.COMMIT_ID, ID);
    hold(spark, TableWrite.append(), "p=1/a");
    SparkJobHarness next = spark.other(NEXT).with(CommitterConfig.PUBLISH, "now");
    next.setUp(TableWrite.append()).commitTask(0, "p=1/b");

    next.commit();
    next.job().abort();

    assertThat(states(NEXT)).contains("held");
    assertThat(spark.visible()).isEmpty();
    assertThat(spark.staging()).noneMatch(path -> path.contains(NEXT));

    discard(spark);
    commit(spark.other("c0ffee00-7d20-4a36-b1c3-5e0fd2a4be03"), TableWrite.append(), "p=1/c");
    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/c");
  }

  @ParameterizedTest
  @ValueSource(strings = {"abfs", "hdfs", "gs", "s3a"})
  void recoverAndCleanLeaveAHeldJobAloneUntilItIsOld(String scheme) throws IOException {
    SparkJobHarness spark = new SparkJobHarness(scheme);
    hold(spark, TableWrite.append(), "p=1/a");
    spark.state.passTime(TimeUnit.HOURS.toMillis(100));

    assertThat(spark.recover(Direction.AS_MARKED, /* force= */ true)).isEmpty();
    assertThat(clean(spark, /* force= */ true)).contains("\"held\"", "\"removed\":false");
    commit(spark.other(NEXT), TableWrite.append(), "p=1/b");
    assertThat(told(spark)).contains(SparkJobHarness.JOB_ID);

    spark.state.passTime(TimeUnit.HOURS.toMillis(100));
    assertThat(clean(spark, /* force= */ false)).contains("\"removed\":true");
    assertThat(spark.staging()).isEmpty();
    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/b");
  }

  /** What was staged may have been deleted by hand; an upload may have been aborted. */
  @ParameterizedTest
  @CsvSource({"abfs,are gone", "gs,are gone", "s3a,do not wait as uploads any more"})
  void whatIsNotThereAnyMoreIsNotPublished(String scheme, String why) throws IOException {
    SparkJobHarness spark = new SparkJobHarness(scheme);
    hold(spark, TableWrite.append(), "p=1/a", "p=2/b");
    spark.state.abortUpload("/table/p=1/a");
    for (String path : List.copyOf(spark.files().keySet())) {
      if (path.endsWith("/p=1/a")) {
        spark.state.remove(path);
      }
    }

    assertThatThrownBy(() -> publish(spark)).hasMessageContainingAll("1 of its 2 files", why);

    assertThat(spark.visible()).isEmpty();
    assertThat(told(spark)).contains(SparkJobHarness.JOB_ID);
    discard(spark);
    assertThat(spark.staging()).isEmpty();
  }

  /** The rename of the journal decides; on S3 the upload of its mark. */
  @ParameterizedTest
  @ValueSource(strings = {"abfs", "hdfs", "gs", "s3a"})
  void ofAPublicationAndADiscardAtOnceOneIsDone(String scheme) throws Exception {
    for (int round = 0; round < 40; round++) {
      SparkJobHarness spark = new SparkJobHarness(scheme).old("/table/p=1/old");
      hold(spark, TableWrite.replacing("/table/p=1"), "p=1/a");
      List<String> failures = new ArrayList<>(List.of("", ""));
      Thread publishes = new Thread(() -> failures.set(0, Failures.of(() -> publish(spark))));
      Thread discards = new Thread(() -> failures.set(1, Failures.of(() -> discard(spark))));
      publishes.start();
      discards.start();
      publishes.join();
      discards.join();
      spark.state.passTime(60_000);
      spark.recover(Direction.AS_MARKED, /* force= */ true);

      boolean isPublished = spark.visible().containsKey("/table/p=1/a");
      assertThat(spark.visible())
          .as("%s", failures)
          .containsOnlyKeys(isPublished ? "/table/p=1/a" : "/table/p=1/old");
      assertThat(failures.get(0).isEmpty()).as("%s", failures).isIn(false, isPublished);
      if (told(spark).equals("[]")) {
        assertThat(failures.get(1).isEmpty()).as("%s", failures).isNotEqualTo(isPublished);
      }
    }
  }

  /** Its name is one that versions without held jobs refuse to touch. */
  @Test
  void anEarlierVersionDoesNotTakeAHeldJobForDead() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("abfs");
    hold(spark, TableWrite.append(), "p=1/a");
    assertThat(spark.files().keySet())
        .filteredOn(path -> path.contains("/journal"))
        .containsExactly(SparkJobHarness.STAGING + "/00/journal-held-0");
    assertThat(CommitJournal.isJournal("journal-held-0")).isTrue();
  }

  @Test
  void aFileInTheTablesPlaceIsNotMoved() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("abfs").with(CommitterConfig.PUBLISH, "hold");
    spark.state.write("/table", "a file");
    assertThatThrownBy(() -> spark.setUp(TableWrite.replacing("/table")))
        .hasMessageContainingAll("cannot be held", "a file stands there", "Nothing was changed");
    assertThat(spark.files()).containsOnlyKeys("/table");
  }

  private static SparkJobHarness hold(SparkJobHarness spark, TableWrite write, String... files)
      throws IOException {
    spark.with(CommitterConfig.PUBLISH, "hold").setUp(write).commitTask(0, files).commit();
    return spark;
  }

  private static void commit(SparkJobHarness spark, TableWrite write, String... files)
      throws IOException {
    spark.with(CommitterConfig.PUBLISH, "now").setUp(write).commitTask(0, files).commit();
  }

  private static void publish(SparkJobHarness spark) throws IOException {
    HeldJobs.end(spark.recovery(/* force= */ false), spark.root(), Direction.PUBLISH);
  }

  private static void discard(SparkJobHarness spark) throws IOException {
    HeldJobs.end(spark.recovery(/* force= */ false), spark.root(), Direction.DISCARD);
  }

  private static String told(SparkJobHarness spark) throws IOException {
    String all = "{\"jobId\":\"\",\"end\":\"\"}";
    return Answers.value(spark.conf, "held", spark.table.toString(), all);
  }

  private static String clean(SparkJobHarness spark, boolean force) throws IOException {
    Configuration conf = new Configuration(spark.conf);
    return Clean.ofSession(
        conf,
        spark.table.toString(),
        "1h",
        /* dryRun= */ false,
        /* discardUnfinished= */ force,
        force);
  }

  private static List<String> states(String jobId) {
    List<String> states = new ArrayList<>();
    Commits.ofAllClassLoaders().stream()
        .filter(commit -> jobId.equals(commit.get("jobId")))
        .forEach(commit -> states.add((String) commit.get("state")));
    return states;
  }
}
