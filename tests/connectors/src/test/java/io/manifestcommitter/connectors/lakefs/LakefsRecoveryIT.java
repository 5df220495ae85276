// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors.lakefs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.manifestcommitter.cli.Answers;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.connectors.lakefs.LakeJob.Kind;
import io.manifestcommitter.emulator.Door;
import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.jobs.StagedJob;
import io.manifestcommitter.lakefs.LakefsJobs;
import io.manifestcommitter.lakefs.LakefsTable;
import io.manifestcommitter.read.WholeReader;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.testing.Failures;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code recover}, {@code clean} and held jobs make of each state of a job's branches. */
@Execution(ExecutionMode.CONCURRENT)
class LakefsRecoveryIT {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** After which others take a job for dead, in milliseconds. */
  private static final int TIMEOUT = 1_000;

  /** A heart that beats while its driver lives. */
  private static final Map<String, String> BEATS =
      Map.of(CommitterConfig.HEARTBEAT_INTERVAL, "20ms", CommitterConfig.HEARTBEAT_TIMEOUT, "60s");

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private Lake lake;

  @BeforeEach
  void start() throws IOException {
    lake = Lake.with(LakeJob.OLD);
  }

  @AfterEach
  void close() {
    threads.shutdownNow();
    lake.close();
  }

  @Test
  void aDeadJobWithoutACommitIsRolledBack() throws Exception {
    LakeJob job = new LakeJob(lake, Kind.STATIC).setUp().runTasks();
    die(job);

    JsonNode one = only(recover(false));

    assertThat(one.path("outcome").asText()).isEqualTo("rolled_back");
    assertThat(one.path("jobId").asText()).isEqualTo(job.id);
    assertThat(one.path("staging").asText()).startsWith("s3a://lake/manifest-").endsWith(job.id);
    requireTable(LakeJob.OLD);
    assertThat(recover(false)).isEmpty();
  }

  @Test
  void aJobThatLivesAndHasNoCommitIsNotTold() throws Exception {
    LakeJob job = new LakeJob(lake, Kind.APPEND, BEATS).setUp().runTasks();

    assertThat(recover(false)).isEmpty();

    job.commit();
    requireTable(job.after(LakeJob.OLD));
  }

  /** The branch for its beats may come after the one for its files. */
  @ParameterizedTest
  @ValueSource(strings = {"recover", "clean"})
  void aJobWithoutABranchForItsBeatsIsWatched(String what) throws Exception {
    LakeJob job = new LakeJob(lake, Kind.APPEND).setUp().runTasks();
    die(job);
    String beats =
        lake.jobBranches().stream().filter(name -> name.endsWith("-beat")).findFirst().get();
    lake.deleteBranch(beats);
    long begun = System.nanoTime();

    JsonNode all = what.equals("clean") ? clean(false) : recover(false);

    assertThat(only(all).path("jobId").asText()).isEqualTo(job.id);
    assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun)).isGreaterThan(TIMEOUT);
    requireTable(LakeJob.OLD);
  }

  /** Nobody beats for a commit whose merge was refused. */
  @Test
  void aCommitWithoutABranchForItsBeatsIsDead() throws Exception {
    LakeJob job = new LakeJob(lake, Kind.APPEND).setUp().runTasks();
    job.door.faults().add(FaultRule.on("merge").always().refuse(412));
    assertThat(Failures.of(job::commit)).isNotEmpty();
    Configuration conf = conf();
    conf.set(CommitterConfig.HEARTBEAT_TIMEOUT, "10m");

    JsonNode one = only(asked(conf, "recover", request(true)));

    assertThat(one.path("outcome").asText()).isEqualTo("completed");
    requireTable(job.after(LakeJob.OLD));
  }

  @ParameterizedTest
  @CsvSource({"APPEND,false", "APPEND,true", "STATIC,false", "STATIC,true", "DYNAMIC,true"})
  void aDeadJobWithACommitGoesWhereItIsTold(Kind kind, boolean complete) throws Exception {
    LakeJob job = diesAt("merge", new LakeJob(lake, kind));

    JsonNode one = only(recover(complete));

    assertThat(one.path("outcome").asText()).isEqualTo(complete ? "completed" : "rolled_back");
    requireTable(complete ? job.after(LakeJob.OLD) : LakeJob.OLD);
  }

  /** Another job has changed the same table since. */
  @ParameterizedTest
  @EnumSource(names = {"APPEND", "STATIC", "PARTITION"})
  void aDeadJobIsCompletedAfterAnotherOne(Kind kind) throws Exception {
    LakeJob job = diesAt("merge", new LakeJob(lake, kind));
    LakeJob other = new LakeJob(lake, Kind.DYNAMIC).run();

    assertThat(only(recover(true)).path("outcome").asText()).isEqualTo("completed");

    requireTable(job.after(other.after(LakeJob.OLD)));
  }

  @Test
  void aMergedJobIsCleanedUp() throws Exception {
    LakeJob job = diesAt("branch-delete", new LakeJob(lake, Kind.STATIC));

    assertThat(only(recover(false)).path("outcome").asText()).isEqualTo("cleaned_up");

    requireTable(job.after(LakeJob.OLD));
  }

  @Test
  void whatAMergedJobLeavesIsCleanedUp() throws Exception {
    LakeJob job = diesAt("branch-delete", 2, new LakeJob(lake, Kind.APPEND));
    // Both are deleted at the same time, so either may be left, or both.
    assertThat(lake.jobBranches()).isNotEmpty();

    assertThat(only(recover(false)).path("outcome").asText()).isEqualTo("cleaned_up");

    requireTable(job.after(LakeJob.OLD));
  }

  @Test
  void aJobThatLivesAndCommitsIsLeftAlone() throws Exception {
    LakeJob job = new LakeJob(lake, Kind.APPEND, BEATS).setUp().runTasks();
    FaultRule merge = job.door.faults().add(FaultRule.on("merge").hold());
    Future<?> commit = threads.submit(job::commit);
    merge.awaitHeld();

    JsonNode one = only(recover(false));

    assertThat(one.path("outcome").isNull()).isTrue();
    assertThat(one.path("alive").asBoolean()).isTrue();
    assertThat(one.path("errors").toString()).contains("signs of life", "--force");
    merge.release();
    commit.get();
    requireTable(job.after(LakeJob.OLD));
  }

  @Test
  void aDriverThatLivesAfterAllIsTold() throws Exception {
    LakeJob job = new LakeJob(lake, Kind.APPEND, BEATS).setUp().runTasks();
    FaultRule merge = job.door.faults().add(FaultRule.on("merge").hold());
    Future<?> commit = threads.submit(job::commit);
    merge.awaitHeld();

    JsonNode one = only(asked(conf(), "recover", "{\"complete\": false, \"force\": true}"));

    assertThat(one.path("outcome").asText()).isEqualTo("rolled_back");
    merge.release();
    assertThatThrownBy(commit::get)
        .isInstanceOf(ExecutionException.class)
        .hasStackTraceContaining("is gone: another process took its driver for dead");
    requireTable(LakeJob.OLD);
  }

  @Test
  void aMergeThatLandsLateIsTold() throws Exception {
    LakeJob job = new LakeJob(lake, Kind.APPEND).setUp().runTasks();
    FaultRule merge = lake.server().faults().add(FaultRule.on("merge-resolved").hold());
    Future<?> commit = threads.submit(job::commit);
    assertThat(Waiting.until(merge, commit)).isTrue();
    Door door = lake.door();
    FaultRule looks = door.faults().add(FaultRule.on("merge-base").call(3).hold());
    Configuration conf = conf(door);
    conf.set(CommitterConfig.HEARTBEAT_INTERVAL, "500ms");
    Future<JsonNode> recovered =
        threads.submit(() -> asked(conf, "recover", "{\"complete\": false, \"force\": true}"));
    looks.awaitHeld();

    merge.release();
    commit.get();
    looks.release();

    assertThat(only(recovered.get()).path("outcome").asText()).isEqualTo("completed");
    requireTable(job.after(LakeJob.OLD));
  }

  /** The merge of the recovery is refused: all is kept, and it says what to do. */
  @Test
  void aHookThatRefusesKeepsTheCommit() throws Exception {
    LakeJob job = diesAt("merge", new LakeJob(lake, Kind.STATIC));
    Door door = lake.door();
    door.faults().add(FaultRule.on("merge").always().refuse(412));

    JsonNode one = only(asked(conf(door), "recover", "{\"complete\": true, \"force\": false}"));

    assertThat(one.path("outcome").isNull()).isTrue();
    assertThat(one.path("errors").toString()).contains("A hook refused", "recover", "--complete");
    assertThat(only(recover(true)).path("outcome").asText()).isEqualTo("completed");
    requireTable(job.after(LakeJob.OLD));
  }

  @Test
  void whatIsNotCommittedKeepsTheCommit() throws Exception {
    LakeJob job = diesAt("merge", new LakeJob(lake, Kind.APPEND));
    lake.write(Map.of("p=7/by-hand", "x"));

    JsonNode one = only(recover(true));

    assertThat(one.path("errors").toString()).contains("is not committed", "lakectl", "--complete");
    lake.commitMain();
    assertThat(only(recover(true)).path("outcome").asText()).isEqualTo("completed");
    assertThat(job.isVisible()).isTrue();
  }

  /** A commit that its driver had not proven may hold what no attempt told of. */
  @Test
  void whatWasNotProvenIsNotCompleted() throws Exception {
    LakeJob job = new LakeJob(lake, Kind.APPEND).setUp().runTasks();
    job.write(0, 1).attempt.commitApproved();
    job.door.faults().add(FaultRule.on("diff").always().drop());
    assertThat(Failures.of(job::commit)).isNotEmpty();
    die(job);

    JsonNode one = only(recover(true));

    assertThat(one.path("errors").toString()).contains("adds 6 files, and not 4", "--complete");
    assertThat(only(recover(false)).path("outcome").asText()).isEqualTo("rolled_back");
    requireTable(LakeJob.OLD);
  }

  /** Each request of a recovery loses its answer once, or fails once. */
  @ParameterizedTest
  @CsvSource({"false,false", "false,true", "true,false", "true,true"})
  void aRecoveryWhoseAnswersAreLost(boolean complete, boolean isDone) throws Exception {
    boolean isHit = true;
    for (int at = 1; isHit; at++) {
      LakeJob job = diesAt("merge", new LakeJob(lake, Kind.APPEND));
      Door door = lake.door();
      FaultRule.When when = FaultRule.on(FaultRule.ANY).call(at);
      FaultRule rule = door.faults().add(isDone ? when.applyThenDrop() : when.refuse(500));

      JsonNode all = asked(conf(door), "recover", request(complete));
      isHit = rule.applied() > 0;

      assertThat(only(all).path("outcome").asText())
          .as("%s at %s", all, at)
          .isEqualTo(complete ? "completed" : "rolled_back");
      assertThat(job.isVisible()).isEqualTo(complete);
      assertThat(lake.jobBranches()).isEmpty();
    }
  }

  @Test
  void aHeldJobIsPublishedBesideOthers() throws Exception {
    LakeJob job = held(Kind.PARTITION);
    LakeJob other = new LakeJob(lake, Kind.APPEND_ELSEWHERE).run();
    assertThat(recover(true)).isEmpty();
    JsonNode one = only(asked(conf(), "held", "{\"jobId\": \"\", \"end\": \"\"}"));
    assertThat(one.path("files").asInt()).isEqualTo(2);
    assertThat(one.path("partitions").toString()).isEqualTo("[\"p=1\"]");
    assertThat(one.path("overwrites").asBoolean()).isTrue();
    assertThat(one.path("since").asLong()).isCloseTo(System.currentTimeMillis(), within());

    assertThat(end(job, "publish")).isEmpty();

    requireTable(job.after(other.after(LakeJob.OLD)));
    assertThat(end(job, "publish").toString()).contains("is not held in");
  }

  @Test
  void aHeldJobIsPublishedOnlyOverWhatItSaw() throws Exception {
    LakeJob job = held(Kind.PARTITION);
    LakeJob other = new LakeJob(lake, Kind.APPEND).run();

    assertThat(end(job, "publish").toString())
        .contains("did not see when it was held", "p=1/", "still held", "discard");

    requireVisible(other.after(LakeJob.OLD));
    assertThat(end(job, "discard")).isEmpty();
    requireTable(other.after(LakeJob.OLD));
    assertThat(end(job, "discard").toString()).contains("is not held in");
  }

  /** Between the look and the merge: the conflict in the report makes it look again. */
  @Test
  void aHeldJobLooksAgainAfterAConflict() throws Exception {
    LakeJob job = held(Kind.PARTITION);
    Door door = lake.door();
    FaultRule merge = door.faults().add(FaultRule.on("merge").hold());
    Future<JsonNode> published = threads.submit(() -> end(conf(door), job, "publish"));
    merge.awaitHeld();
    LakeJob other = new LakeJob(lake, Kind.APPEND).run();

    merge.release();

    assertThat(published.get().toString()).contains("did not see when it was held");
    requireVisible(other.after(LakeJob.OLD));
    assertThat(end(job, "discard")).isEmpty();
  }

  @Test
  void aHeldJobStaysHeldWhereItsMergeIsRefused() throws Exception {
    LakeJob job = held(Kind.APPEND);
    Door door = lake.door();
    door.faults().add(FaultRule.on("merge").always().refuse(412));

    assertThat(end(conf(door), job, "publish").toString())
        .contains("A hook refused", "still held", "manifest-committer publish");

    assertThat(end(job, "publish")).isEmpty();
    requireTable(job.after(LakeJob.OLD));
  }

  @Test
  void whatIsHeldAndWhatIsCommittedIsNotCleaned() throws Exception {
    LakeJob held = held(Kind.APPEND);
    LakeJob committed = diesAt("merge", new LakeJob(lake, Kind.APPEND));
    LakeJob without = new LakeJob(lake, Kind.APPEND).setUp().runTasks();
    die(without);
    // A job whose last beat is younger than the timeout counts as running.
    TimeUnit.MILLISECONDS.sleep(TIMEOUT + 100);

    JsonNode all = clean(false);

    assertThat(all).hasSize(3);
    for (JsonNode one : all) {
      boolean isWithout = one.path("jobId").asText().equals(without.id);
      // What is linked and not committed is not counted.
      assertThat(one.path("files").asInt()).isEqualTo(isWithout ? 0 : 4);
      assertThat(one.path("bytes").asLong() > 0).isEqualTo(!isWithout);
      assertThat(one.path("removed").asBoolean()).as("%s", one).isEqualTo(isWithout);
      assertThat(one.path("state").asText())
          .isEqualTo(
              isWithout
                  ? "abandoned"
                  : one.path("jobId").asText().equals(held.id) ? "held" : "unfinished");
    }
    assertThat(clean(true)).hasSize(2);
    assertThat(lake.jobBranches()).singleElement().asString().endsWith(held.id);
    assertThat(committed.isVisible()).isFalse();
    requireVisible(LakeJob.OLD);
  }

  @Test
  void aJobThatLivesIsNotCleaned() throws Exception {
    LakeJob job = new LakeJob(lake, Kind.APPEND, BEATS).setUp().runTasks();

    assertThat(only(clean(false)).path("removed").asBoolean()).isFalse();

    job.commit();
    requireTable(job.after(LakeJob.OLD));
  }

  @Test
  void whatHasBegunItsCommitSinceALookIsNotRemovedByForceEither() throws Exception {
    LakeJob job = new LakeJob(lake, Kind.APPEND, BEATS).setUp().runTasks();
    LakefsTable table = LakefsTable.of(conf(), lake.table(), RequestGate.open()).orElseThrow();
    LakefsJobs jobs = new LakefsJobs(table, new CommitterConfig(conf()), /* force= */ true);
    StagedJob running = jobs.staged().get(0);
    job.door.faults().add(FaultRule.on("merge").always().refuse(412));
    assertThat(Failures.of(job::commit)).contains("hook");

    assertThatThrownBy(() -> jobs.remove(running)).hasMessageContaining("has begun its commit");

    assertThat(lake.jobBranches()).isNotEmpty();
  }

  @Test
  void filesAreThoseOfOneCommit() throws Exception {
    LakeJob first = new LakeJob(lake, Kind.APPEND).run();
    List<String> paths = new ArrayList<>();

    for (JsonNode file : asked(conf(), "files", "{}")) {
      paths.add(file.path("place").asText());
      assertThat(file.path("path").asText()).matches("s3a://lake/[0-9a-f]{64}/tables/t/p=.*");
    }

    assertThat(paths).containsExactlyInAnyOrderElementsOf(first.after(LakeJob.OLD).keySet());
  }

  @Test
  void theTableBeforeAJobIsReadAtACommit() {
    assertThatThrownBy(() -> WholeReader.of(conf(), lake.table(), Optional.of("job-1")))
        .hasMessageContainingAll("before job job-1", "lakectl log", "s3a://lake/<commit>/tables/t");
  }

  @Test
  void identitiesAreListedAndForgottenByACommit() throws Exception {
    LakeJob job = new LakeJob(lake, Kind.ONCE).run();

    JsonNode one = only(asked(conf(), "ids", "{\"commitId\": \"\", \"forget\": false}"));

    assertThat(one.path("id").asText()).isEqualTo("batch-7");
    assertThat(one.path("jobId").asText()).isEqualTo(job.id);
    assertThatThrownBy(() -> asked(conf(), "ids", "{\"commitId\": \"batch-7\", \"forget\": true}"))
        .hasMessageContainingAll("Nothing was forgotten", "lakectl fs rm", "lakectl commit");
  }

  @ParameterizedTest
  @ValueSource(strings = {"recover", "clean", "held"})
  void aTableThatIsNotThereIsTold(String what) {
    String given =
        "{\"complete\": false, \"force\": false, \"olderThan\": \"1h\", \"dryRun\": true,"
            + " \"discardUnfinished\": false, \"jobId\": \"\", \"end\": \"\"}";

    assertThatThrownBy(() -> Answers.value(conf(), what, "s3a://lake/main/tables/other", given))
        .hasMessageContaining("There is nothing at s3a://lake/main/tables/other");
  }

  private static Offset<Long> within() {
    return Offset.offset(60_000L);
  }

  /** From now on nothing comes of a driver. */
  private static void die(LakeJob job) {
    job.door.faults().clear();
    job.door.faults().add(FaultRule.on(FaultRule.ANY).always().drop());
  }

  /** Runs a job whose driver dies before a request. */
  private LakeJob diesAt(String operation, LakeJob job) throws Exception {
    return diesAt(operation, 1, job);
  }

  private LakeJob diesAt(String operation, int call, LakeJob job) throws Exception {
    job.setUp().runTasks();
    FaultRule rule = job.door.faults().add(FaultRule.on(operation).call(call).hold());
    Future<?> commit = threads.submit(job::commit);
    assertThat(Waiting.until(rule, commit)).isTrue();
    job.door.close();
    commit.cancel(/* mayInterruptIfRunning= */ true);
    return job;
  }

  private LakeJob held(Kind kind) throws IOException {
    return new LakeJob(lake, kind, Map.of(CommitterConfig.PUBLISH, "hold")).run();
  }

  private JsonNode recover(boolean complete) throws IOException {
    return asked(conf(), "recover", request(complete));
  }

  private static String request(boolean complete) {
    return "{\"complete\": " + complete + ", \"force\": false}";
  }

  private JsonNode clean(boolean discards) throws IOException {
    return asked(
        conf(),
        "clean",
        "{\"olderThan\": \"0ms\", \"dryRun\": false, \"force\": false, \"discardUnfinished\": "
            + discards
            + "}");
  }

  private JsonNode end(LakeJob job, String how) throws IOException {
    return end(conf(), job, how);
  }

  private JsonNode end(Configuration conf, LakeJob job, String how) throws IOException {
    String given = "{\"jobId\": \"" + job.id + "\", \"end\": \"" + how + "\"}";
    return asked(conf, "held", given).path(0).path("errors");
  }

  private JsonNode asked(Configuration conf, String what, String given) throws IOException {
    return JSON.readTree(Answers.value(conf, what, lake.table().toString(), given));
  }

  /** Of who looks at others, and soon takes them for dead. */
  private Configuration conf() throws IOException {
    return conf(lake.door());
  }

  private Configuration conf(Door door) {
    Configuration conf = lake.conf(door);
    conf.set(CommitterConfig.HEARTBEAT_INTERVAL, "100ms");
    conf.set(CommitterConfig.HEARTBEAT_TIMEOUT, TIMEOUT + "ms");
    return conf;
  }

  private static JsonNode only(JsonNode all) {
    assertThat(all).as("%s", all).hasSize(1);
    return all.path(0);
  }

  private void requireVisible(Map<String, String> contents) throws IOException {
    assertThat(lake.contents()).isEqualTo(contents);
    assertThat(lake.dirt()).isEmpty();
  }

  private void requireTable(Map<String, String> contents) throws IOException {
    requireVisible(contents);
    assertThat(lake.jobBranches()).isEmpty();
  }
}
