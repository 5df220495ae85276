// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static io.manifestcommitter.testing.Failures.raise;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.LifeSigns;
import io.manifestcommitter.jobs.LifeSigns.JobIsAliveException;
import io.manifestcommitter.jobs.LifeSigns.Pause;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.ReplacingJobs;
import io.manifestcommitter.journal.Heartbeat;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.Recoveries.PassingTime;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.net.NetUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The notes of replaced places: who waits for whom, and what becomes of the notes of the dead. */
class ReplacingJobsTest {
  private static final String SMALL = "1aaaaaaa-0000-4000-8000-000000000001";
  private static final String LARGE = "9bbbbbbb-0000-4000-8000-000000000002";
  private static final String SMALL_NOTE = "/table/_manifest_" + SMALL + "/00/replaces";
  private static final String LARGE_NOTE = "/table/_manifest_" + LARGE + "/00/replaces";

  private final SparkJobHarness spark = new SparkJobHarness("abfs");
  private final Store store = new Stores(spark.conf).all();
  private final List<String> waits = new ArrayList<>();
  private int pauses;

  /** Without one, others would take the job for dead and go past its note. */
  @Test
  void aJobShowsThatItLivesBeforeItLeavesItsNote() throws IOException {
    spark.old("/table/p=1/old");
    List<Boolean> lives = new ArrayList<>();
    spark.state.gate(
        (client, operation, path) -> {
          // The first beat is late: the staging directory is sealed before it comes.
          while (lives.isEmpty()
              && path.endsWith("/heartbeat")
              && !spark.state.exists(SparkJobHarness.STAGING + "/00/sealed")) {
            Thread.onSpinWait();
          }
          if (operation.equals("create") && path.endsWith("/replaces")) {
            lives.add(spark.state.exists(SparkJobHarness.STAGING + "/heartbeat"));
          }
        });
    spark.setUp(TableWrite.dynamic()).commitTask(0, "p=1/a");
    spark.commit();

    assertThat(lives).containsExactly(true);
    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/a");
  }

  @Test
  void aJobAloneLeavesItsNoteAndGoesOn() throws IOException {
    enter(SMALL, this::fails, "/table/p=1", "/table/p=2");
    assertThat(spark.state.exists(SMALL_NOTE)).isTrue();
    assertThat(spark.state.requests())
        .containsExactly("create " + SMALL_NOTE, "write " + SMALL_NOTE, "list /table");
  }

  @ParameterizedTest
  @CsvSource({
    "/table/p=1,/table/p=1,true",
    "/table/p=1,/table/p=1/q=2,true",
    "/table/p=1/q=2,/table,true",
    "/elsewhere/1,/elsewhere/1,true",
    "/table/p=1,/table/p=10,false",
    "/table/p=1/q=1,/table/p=1/q=2,false",
    "/table,/elsewhere/1,false"
  })
  void onlyPlacesThatMeetAreWaitedFor(String first, String second, boolean meets)
      throws IOException {
    lives(SMALL);
    enter(SMALL, this::fails, first);
    enter(LARGE, () -> ends(SMALL), second);
    assertThat(pauses).isEqualTo(meets ? 1 : 0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/table", "/table/p=1", "/elsewhere/1"})
  void aPlaceIsTheSameByEveryNameOfItsStore(String place) throws IOException {
    lives(SMALL);
    enter(SMALL, this::fails, place);
    Path table = byOtherName("/table");
    CommitterConfig config = new CommitterConfig(spark.conf);
    Store stores = new Stores(spark.conf).all();
    Pause pause = new PassingTime(waiting -> ends(SMALL));
    new ReplacingJobs(
            stores,
            config,
            new LifeSigns(stores, config, pause::nanos),
            new StagingRoot(table, LARGE))
        .settleAndEnter(List.of(byOtherName(place)), List.of(byOtherName(place)), pause);
    assertThat(pauses).isEqualTo(1);
  }

  private Path byOtherName(String path) {
    return new Path("abfss", spark.table.toUri().getAuthority(), path);
  }

  @Test
  void theLargerIdDeletesItsNoteWhileItWaits() throws IOException {
    lives(SMALL);
    enter(SMALL, this::fails, "/table/p=1");
    enter(
        LARGE,
        () -> {
          assertThat(spark.state.exists(LARGE_NOTE)).isFalse();
          pauses++;
          if (pauses == 3) {
            spark.state.remove("/table/_manifest_" + SMALL);
          }
        },
        "/table/p=1");
    assertThat(pauses).isEqualTo(3);
    assertThat(spark.state.exists(LARGE_NOTE)).isTrue();
    assertThat(waits).containsOnly("waiting for job " + SMALL + ", which replaces p=1");
  }

  @Test
  void theSmallerIdKeepsItsNoteWhileItWaits() throws IOException {
    lives(LARGE);
    enter(LARGE, this::fails, "/table/p=1");
    enter(
        SMALL,
        () -> {
          assertThat(spark.state.exists(SMALL_NOTE)).isTrue();
          ends(LARGE);
        },
        "/table/p=1");
    assertThat(pauses).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {SMALL, LARGE})
  void whoDiesWhileHeIsWaitedForIsPassed(String waiting) throws IOException {
    String dying = waiting.equals(SMALL) ? LARGE : SMALL;
    lives(dying);
    enter(dying, this::fails, "/table/p=1");
    enter(
        waiting,
        () -> {
          pauses++;
          assertThat(spark.state.exists("/table/_manifest_" + dying + "/00/replaces")).isTrue();
        },
        "/table/p=1");
    assertThat(pauses).as("of two seconds each, in a timeout of 45").isEqualTo(23);
    assertThat(spark.state.exists("/table/_manifest_" + dying + "/00/replaces")).isFalse();
  }

  /** It only stood still: it may not act on what it saw before. */
  @Test
  void whoWasTakenForDeadFailsBeforeItsFirstChange() throws IOException {
    spark.old("/table/p=1/old");
    SparkJobHarness paused = spark.other(SMALL).setUp(TableWrite.dynamic()).commitTask(0, "p=1/a");
    spark.state.before(
        "write",
        path -> path.endsWith("/journal.tmp"),
        path -> {
          spark.state.remove("/table/_manifest_" + SMALL + "/heartbeat");
          passes(LARGE, "/table/p=1");
        });

    assertThatThrownBy(paused::commit)
        .hasMessageContaining("took it for dead")
        .hasMessageContainingAll(SMALL_NOTE, "heartbeat.timeout", "run the job again");
    paused.job().abort();
    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/old");
    assertThat(spark.state.paths()).noneMatch(path -> path.contains(SMALL));
  }

  /** What another job does in the middle of a request of the first one. */
  private void passes(String jobId, String place) {
    spark.state.noFault();
    try {
      enter(jobId, this::fails, place);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Its journal was not there when it was looked for, and is when its note is gone. */
  @Test
  void whoWakesUpWhileItsNoteIsDeletedGetsItBack() throws IOException {
    Pause none = waiting -> fails();
    ReplacingJobs small = jobs(SMALL, none);
    small.settleAndEnter(
        List.of(spark.path("/table/p=1")), List.of(spark.path("/table/p=1")), none);
    spark.state.before(
        "delete",
        path -> path.equals(SMALL_NOTE),
        path -> {
          spark.state.write("/table/_manifest_" + SMALL + "/00/journal-planned-0", "a plan");
          spark.state.write("/table/_manifest_" + SMALL + "/heartbeat", "alive");
        });
    enter(
        LARGE,
        () -> {
          assertDoesNotThrow(small::requireNotTakenForDead);
          assertThat(spark.state.exists(LARGE_NOTE)).isFalse();
          spark.state.noFault();
          ends(SMALL);
        },
        "/table/p=1");
    assertThat(pauses).isEqualTo(1);
  }

  @Test
  void aDeadJobThatHadBegunIsRecoveredFirst() throws IOException {
    SparkJobHarness dead = diedHalfWay();
    String ofDead = "/table/_manifest_" + SparkJobHarness.JOB_ID;
    List<String> notes = new ArrayList<>();
    dead.state.before(
        "rename",
        path -> path.startsWith(ofDead + "/00/journal-"),
        path -> {
          assertThat(dead.state.exists(LARGE_NOTE)).as("who recovers has no note").isFalse();
          notes.add(path);
        });
    enter(LARGE, this::fails, "/table/p=1");
    assertThat(notes).as("claimed, and revoked").hasSize(3);
    assertThat(dead.visible()).isEqualTo(SparkJobFaultTest.OLD);
    assertThat(dead.staging()).noneMatch(path -> path.startsWith(ofDead));
    assertThat(dead.state.exists(LARGE_NOTE)).isTrue();
  }

  @Test
  void aDeadJobThatHadBegunMayFailTheNextOne() throws IOException {
    SparkJobHarness dead = diedHalfWay();
    spark.with(CommitterConfig.UNFINISHED_JOBS, "fail");
    assertThatThrownBy(() -> enter(LARGE, this::fails, "/table/p=1"))
        .hasMessageContaining("manifest-committer recover " + spark.table);
    assertThat(dead.state.exists(LARGE_NOTE)).isFalse();
    spark.with(CommitterConfig.UNFINISHED_JOBS, "warn");
    enter(LARGE, this::fails, "/table/p=1");
    assertThat(dead.state.exists(SparkJobHarness.STAGING + "/00/replaces")).isTrue();
  }

  @Test
  void recoveryLeavesAloneWhatAJobThatLivesReplaces() throws IOException {
    SparkJobHarness dead = diedHalfWay();
    Recovery recovery =
        Recoveries.of(
            store,
            new CommitterConfig(spark.conf),
            /* force= */ true,
            new PassingTime(
                waiting -> {
                  spark.state.passTime(2000);
                  lives(LARGE);
                }));
    lives(LARGE);
    // As if it had come first: a job that comes now would recover the dead one.
    dead.state.remove(SparkJobHarness.STAGING + "/00/replaces");
    spark.with(CommitterConfig.UNFINISHED_JOBS, "warn");
    enter(LARGE, this::fails, "/table/p=1");
    List<String> before = dead.state.paths();

    assertThatThrownBy(() -> recovery.run(dead.root(), Recovery.Direction.AS_MARKED))
        .isInstanceOf(JobIsAliveException.class)
        .hasMessageContainingAll(LARGE_NOTE, "Nothing was changed");
    assertThat(dead.state.paths()).isEqualTo(before);

    ends(LARGE);
    recovery.run(dead.root(), Recovery.Direction.AS_MARKED);
    assertThat(dead.visible()).isEqualTo(SparkJobFaultTest.OLD);
  }

  @Test
  void aDamagedNoteIsAClearError() throws IOException {
    enter(SMALL, this::fails, "/table/p=1");
    byte[] damaged = spark.state.bytes(SMALL_NOTE);
    damaged[damaged.length / 2] ^= 1;
    for (byte[] content : List.of(damaged, "no note".getBytes(StandardCharsets.UTF_8))) {
      spark.state.write(SMALL_NOTE, content);
      assertThatThrownBy(() -> enter(LARGE, this::fails, "/table/p=2"))
          .isInstanceOf(CorruptManifestException.class)
          .hasMessageContainingAll(SMALL_NOTE, "When that job is over, delete the file");
      ends(LARGE);
    }
  }

  /** Whoever writes it has not looked yet, and will see the whole notes of all others. */
  @Test
  void anyPartOfANoteIsNone() throws IOException {
    enter(SMALL, this::fails, "/table/p=1");
    byte[] whole = spark.state.bytes(SMALL_NOTE);
    lives(SMALL);
    for (int length = 0; length < whole.length; length++) {
      spark.state.write(SMALL_NOTE, Arrays.copyOf(whole, length));
      enter(LARGE, this::fails, "/table/p=1");
    }
    spark.state.write(SMALL_NOTE, whole);
    enter(LARGE, () -> ends(SMALL), "/table/p=1");
    assertThat(pauses).isEqualTo(1);
  }

  /** Somebody took this job for dead, saw that it lives, and died when he put its note back. */
  @Test
  void whoseNoteIsCutShortWasTakenForDead() throws IOException {
    ReplacingJobs jobs = jobs(SMALL, waiting -> fails());
    jobs.settleAndEnter(
        List.of(spark.path("/table/p=1")), List.of(spark.path("/table/p=1")), waiting -> fails());
    jobs.requireNotTakenForDead();
    byte[] whole = spark.state.bytes(SMALL_NOTE);
    for (int length = 0; length < whole.length; length++) {
      spark.state.write(SMALL_NOTE, Arrays.copyOf(whole, length));
      assertThatThrownBy(jobs::requireNotTakenForDead).hasMessageContaining("took it for dead");
    }
    spark.state.remove(SMALL_NOTE);
    assertThatThrownBy(jobs::requireNotTakenForDead).hasMessageContaining("took it for dead");
  }

  /** It died in a recovery, or in its commit before it had looked. */
  @Test
  void recoveryWritesTheNoteOfADeadJobThatIsCutShort() throws IOException {
    SparkJobHarness dead = diedHalfWay();
    String note = SparkJobHarness.STAGING + "/00/replaces";
    byte[] whole = dead.state.bytes(note);
    dead.state.write(note, Arrays.copyOf(whole, whole.length / 2));
    List<String> seen = new ArrayList<>();
    dead.state.before(
        "rename",
        path -> path.contains("/old/"),
        path -> {
          seen.add(path);
          assertThat(dead.state.bytes(note)).hasSizeGreaterThan(whole.length / 2);
        });
    dead.recoverAsMarked(/* force= */ true);
    assertThat(seen).isNotEmpty();
    assertThat(dead.visible()).isEqualTo(SparkJobFaultTest.OLD);
  }

  @ParameterizedTest
  @ValueSource(strings = {SMALL, LARGE})
  void waitingForAJobThatLivesHasAnEnd(String waiting) throws IOException {
    String other = waiting.equals(SMALL) ? LARGE : SMALL;
    spark.with(CommitterConfig.REPLACE_WAIT, "10m");
    long before = System.currentTimeMillis();
    lives(other);
    enter(other, this::fails, "/table/p=1");
    assertThatThrownBy(
            () ->
                enter(
                    waiting,
                    () -> {
                      assertThat(pauses++).as("pauses").isLessThan(300);
                      spark.state.passTime(TimeUnit.SECONDS.toMillis(2));
                      lives(other);
                    },
                    "/table/p=1"))
        .hasMessageContaining("still lives")
        .hasMessageContaining("Job " + waiting + " waited 600 s for job " + other)
        .hasMessageContaining("works there on " + NetUtils.getLocalHostname() + " since ")
        .hasMessageContaining(Instant.ofEpochMilli(before).toString().substring(0, 15))
        .hasMessageContaining(CommitterConfig.REPLACE_WAIT);
    assertThat(pauses).as("of two seconds each").isEqualTo(300);
    assertThat(spark.state.exists("/table/_manifest_" + waiting + "/00/replaces")).isFalse();
    assertThat(spark.state.exists("/table/_manifest_" + other + "/00/replaces")).isTrue();
  }

  @Test
  void aJobThatIsToStopWaitsNoMore() throws IOException {
    lives(SMALL);
    enter(SMALL, this::fails, "/table/p=1");
    assertThatThrownBy(
            () ->
                enter(
                    LARGE,
                    () -> raise(new InterruptedIOException("The commit was interrupted")),
                    "/table/p=1"))
        .isInstanceOf(InterruptedIOException.class);
    assertThat(spark.state.exists(LARGE_NOTE)).isFalse();
  }

  @Test
  void nobodyWaitsForAJobThatEndedAndWasNotCleanedUp() throws IOException {
    spark.with("mapreduce.fileoutputcommitter.cleanup.skipped", "true");
    SparkJobHarness first = spark.other(SMALL).setUp(TableWrite.replacing("/table"));
    first.commitTask(0, "p=1/a");
    first.commit();
    assertThat(first.staging()).isNotEmpty().doesNotContain(SMALL_NOTE);
  }

  private ReplacingJobs jobs(String jobId, Pause pause) {
    CommitterConfig config = new CommitterConfig(spark.conf);
    return new ReplacingJobs(
        store,
        config,
        new LifeSigns(store, config, pause::nanos),
        new StagingRoot(spark.table, jobId));
  }

  private void enter(String jobId, Meanwhile meanwhile, String... places) throws IOException {
    List<Path> paths = new ArrayList<>();
    for (String place : places) {
      paths.add(spark.path(place));
    }
    Pause pause =
        new PassingTime(
            waiting -> {
              waits.add(waiting.toString());
              meanwhile.run();
            });
    jobs(jobId, pause).settleAndEnter(paths, paths, pause);
  }

  /** What happens while a job waits. */
  @FunctionalInterface
  private interface Meanwhile {
    void run() throws IOException;
  }

  private void fails() {
    throw new AssertionError("waits for nobody");
  }

  private void lives(String jobId) throws IOException {
    Heartbeat.start(
            store, new StagingRoot(spark.table, jobId).root(), new CommitterConfig(spark.conf))
        .close();
  }

  private void ends(String jobId) {
    pauses++;
    spark.state.remove("/table/_manifest_" + jobId);
  }

  /** An overwrite with its first old directory aside, some time ago. */
  private static SparkJobHarness diedHalfWay() throws IOException {
    SparkJobHarness dead = SparkJobFaultTest.prepared("abfs", "dynamic", "auto");
    assertThat(dead.dies(Fault.deadAfter("rename", path -> path.equals("/table/p=1")))).isTrue();
    dead.state.remove(SparkJobHarness.STAGING + "/heartbeat");
    return dead;
  }
}
