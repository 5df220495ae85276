// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static io.manifestcommitter.spark.SparkJobHarness.JOB_ID;
import static io.manifestcommitter.spark.SparkJobHarness.STAGING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.LifeSigns.JobIsAliveException;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.jobs.Recovery.Outcome;
import io.manifestcommitter.journal.CommitJournal.LostJournalException;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.Recoveries.PassingTime;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A store that stays down from one request of a job commit on, at every request; then recovery,
 * which may itself meet such a store at every request. The table is then exactly the old or the new
 * one, and past the point of no return the new one.
 */
class SparkJobRecoveryTest {
  /** Every request. */
  private static final String ALL = ".*";

  private static final Map<String, String> OLD_IN_TABLE = Map.of("/table/p=1/old", "old");
  private static final Map<String, String> IN_TABLE =
      Map.of("/table/p=1/old", "old", "/table/p=1/a", "new p=1/a", "/table/p=3/b", "new p=3/b");

  /**
   * A job up to its commit that writes nowhere else, so that one deletion may be all its cleanup.
   */
  private static SparkJobHarness inTable(
      String scheme, String directoryRename, TableWrite write, Map<String, String> settings)
      throws IOException {
    SparkJobHarness spark = new SparkJobHarness(scheme);
    spark.with(CommitterConfig.DIRECTORY_RENAME, directoryRename).oneThread();
    settings.forEach(spark.conf::set);
    OLD_IN_TABLE.forEach(spark.state::write);
    spark.state.write("/table/_SUCCESS", "the last report");
    spark.setUp(write).commitTask(0, "p=1/a", "p=3/b");
    spark.state.resetRequests();
    return spark;
  }

  /** Its report says that all rows are there, and some have gone by then. */
  @ParameterizedTest
  @ValueSource(strings = {"hdfs", "abfs", "gs"})
  void anAppendThatIsRolledBackButForItsReportIsRolledBackByRecovery(String scheme)
      throws IOException {
    SparkJobHarness spark = SparkJobFaultTest.prepared(scheme, "append", "off");

    String failure = failsAfterItsReport(spark, "delete");

    assertThat(failure).contains("manifest-committer recover " + spark.table);
    assertThat(spark.recoverAsMarked(false)).isEqualTo(Outcome.ROLLED_BACK);
    assertThat(spark.visible()).isEqualTo(SparkJobFaultTest.OLD);
    assertThat(spark.state.files()).containsEntry("/table/_SUCCESS", "the last report");
    assertThat(spark.staging()).isEmpty();
  }

  /** Neither can be rolled back nor noted: all stays as it is, report and rows. */
  @ParameterizedTest
  @ValueSource(strings = {"hdfs", "abfs", "gs"})
  void anAppendWhoseReportStaysKeepsItsRowsWhereThatCannotBeNoted(String scheme)
      throws IOException {
    SparkJobHarness spark = SparkJobFaultTest.prepared(scheme, "append", "off");

    String failure = failsAfterItsReport(spark, "delete", "create", "write");

    assertThat(failure).contains("manifest-committer recover " + spark.table);
    assertThat(spark.visible()).isEqualTo(SparkJobFaultTest.expected("append"));
    assertThat(spark.recoverAsMarked(false)).isEqualTo(Outcome.COMPLETED);
    assertThat(spark.visible()).isEqualTo(SparkJobFaultTest.expected("append"));
  }

  /**
   * Spark is told that it succeeded, and another committer's report takes the place of its own
   * before anybody meets its journal.
   */
  @ParameterizedTest
  @CsvSource({"abfs,auto", "abfs,off", "hdfs,auto", "hdfs,off"})
  void anAppendThatSucceededIsCompletedThoughItsReportIsReplacedAndItsJournalStays(
      String scheme, String directoryRename) throws IOException {
    SparkJobHarness spark = inTable(scheme, directoryRename, TableWrite.append(), Map.of());
    boolean[] isReported = {false};
    spark.state.onRequest(
        (number, operation, path) -> {
          isReported[0] |= committed(spark);
          return isReported[0] ? Fate.FAILS_BEFORE : Fate.NORMAL;
        });

    spark.commit();
    spark.state.noFault();
    assertThat(spark.staging()).contains(STAGING + "/00/journal-planned-0");
    spark.state.write("/table/_SUCCESS", "another report");
    spark.state.write("/table/_SUCCESS.files", "another list");

    assertThat(spark.recoverAsMarked(true)).isEqualTo(Outcome.COMPLETED);
    assertThat(spark.visible()).isEqualTo(IN_TABLE);
    assertThat(spark.state.files()).containsEntry("/table/_SUCCESS", "another report");
    assertThat(spark.state.files()).containsEntry("/table/_SUCCESS.files", "another list");
    assertThat(spark.staging()).isEmpty();
  }

  /** No report tells that it succeeded, so the journal has to, before Spark is told. */
  @ParameterizedTest
  @CsvSource({"abfs,auto", "abfs,off", "hdfs,auto", "gs,off"})
  void anAppendWithoutReportSucceedsOnlyOnceItsJournalSaysSo(String scheme, String directoryRename)
      throws IOException {
    boolean isDown = true;
    int succeeded = 0;
    for (int from = 1; isDown; from++) {
      SparkJobHarness spark =
          inTable(
              scheme,
              directoryRename,
              TableWrite.append(),
              Map.of(CommitterConfig.MARK_SUCCESSFUL_JOBS, "false"));
      spark.state.onRequest(Fault.deadFrom(from, Fate.FAILS_BEFORE));
      String failure = Failures.of(spark::commit);
      if (!failure.isEmpty()) {
        spark.job().abort();
      }
      isDown = spark.state.requests().size() >= from;
      spark.state.noFault();
      spark.recover(Direction.AS_MARKED, true);
      assertThat(spark.visible())
          .as("down from request %d: %s", from, failure)
          .isEqualTo(failure.isEmpty() ? IN_TABLE : OLD_IN_TABLE);
      succeeded += isDown && failure.isEmpty() ? 1 : 0;
    }
    assertThat(succeeded).as("but for its cleanup").isPositive();
  }

  /** What has left the staging directory tells that all is there, and some rows are gone. */
  @ParameterizedTest
  @CsvSource({"hdfs", "abfs", "gs"})
  void anAppendThatDiesWhileItIsRolledBackAfterItsReportIsRolledBackByRecovery(String scheme)
      throws IOException {
    int died = 0;
    boolean goesOn = true;
    for (int after = 0; goesOn; after++) {
      SparkJobHarness spark = SparkJobFaultTest.prepared(scheme, "append", "off");
      goesOn = diesInRollBack(spark, after);
      spark.state.noFault();
      boolean isLeft = !spark.staging().isEmpty();
      List<Outcome> outcomes = spark.recover(Direction.AS_MARKED, true);
      boolean isWhole = outcomes.contains(Outcome.COMPLETED);
      assertThat(spark.visible())
          .as("%s, %d requests after its report", scheme, after)
          .isEqualTo(isWhole ? SparkJobFaultTest.expected("append") : SparkJobFaultTest.OLD);
      died += isLeft ? 1 : 0;
    }
    assertThat(died).isGreaterThan(3);
  }

  /**
   * The journal cannot be renamed any more once the report is there; so many requests later the
   * store is down. Says whether it was.
   */
  private static boolean diesInRollBack(SparkJobHarness spark, int after) throws IOException {
    spark.with(CommitterConfig.CLEANUP_SKIPPED, "true");
    int[] since = {-1};
    spark.state.onRequest(
        (number, operation, path) -> {
          if (since[0] < 0 && committed(spark)) {
            since[0] = 0;
          }
          if (since[0] < 0) {
            return Fate.NORMAL;
          }
          boolean isJournal = path.contains("/00/journal-planned") && !operation.equals("status");
          boolean isDown = !isJournal && since[0]++ >= after;
          return isJournal || isDown ? Fate.FAILS_BEFORE : Fate.NORMAL;
        });
    Failures.of(spark::commit);
    spark.job().abort();
    return since[0] > after;
  }

  /**
   * Once the report is there the journal cannot be renamed, and some requests for the report, or in
   * the staging directory, fail.
   */
  private static String failsAfterItsReport(SparkJobHarness spark, String... refused)
      throws IOException {
    boolean[] isReported = {false};
    spark.state.onRequest(
        (number, operation, path) -> {
          isReported[0] |= committed(spark);
          boolean isRefused = List.of(refused).contains(operation);
          boolean isJournal = path.contains("/00/journal-planned") && !operation.equals("status");
          boolean isFile =
              path.equals("/table/_SUCCESS") || List.of("create", "write").contains(operation);
          return isReported[0] && (isJournal || (isRefused && isFile))
              ? Fate.FAILS_BEFORE
              : Fate.NORMAL;
        });
    String failure = Failures.of(spark::commit);
    spark.job().abort();
    spark.state.noFault();
    return failure;
  }

  /**
   * From each request on, the store refuses all, or all of its kind; the first may be done all the
   * same.
   */
  @ParameterizedTest
  @CsvSource({
    "hdfs,append,auto",
    "abfs,static,auto",
    "abfs,dynamic,auto",
    "abfs,partition,off",
    "gs,append,off",
    "gs,dynamic,off"
  })
  void whatIsLeftWhereRequestsAreRefusedCanBeRecovered(
      String scheme, String kind, String directoryRename) throws IOException {
    SparkJobHarness clean = SparkJobFaultTest.prepared(scheme, kind, directoryRename);
    clean.commit();
    List<String> requests = clean.state.requests();
    int left = 0;
    for (int from = 1; from <= requests.size(); from++) {
      for (Fate fate : List.of(Fate.FAILS_BEFORE, Fate.FAILS_AFTER)) {
        for (String refused : List.of(requests.get(from - 1).replaceFirst(" .*", ""), ALL)) {
          SparkJobHarness spark = SparkJobFaultTest.prepared(scheme, kind, directoryRename);
          left += refusedFrom(spark, kind, refused, from, fate) ? 1 : 0;
        }
      }
    }
    assertThat(left).isPositive();
  }

  /** Says whether something was left. */
  private static boolean refusedFrom(
      SparkJobHarness spark, String kind, String refused, int from, Fate fate) throws IOException {
    spark.state.onRequest(
        (number, operation, path) ->
            number < from || !operation.matches(refused)
                ? Fate.NORMAL
                : number == from ? fate : Fate.FAILS_BEFORE);
    String failure = Failures.of(spark::commit);
    String context =
        String.format(
            "%s %s, no %s from %d %s: %s", spark.table, kind, refused, from, fate, failure);
    if (!failure.isEmpty()) {
      spark.job().abort();
    }
    spark.state.noFault();
    Map<String, String> fresh = SparkJobFaultTest.expected(kind);
    if (committed(spark)) {
      assertThat(spark.visible()).as(context).isEqualTo(fresh);
    }
    // Beside the other one, it is a copy of that, which was not deleted.
    boolean isPastMark =
        spark.staging().contains(STAGING + "/00/journal-committed-0")
            && !spark.staging().contains(STAGING + "/00/journal-planned-0");

    List<StagingRoot> unfinished = spark.recovery(true).find(spark.table);
    boolean isTold = failure.isEmpty() || failure.contains("recover " + spark.table);
    assertThat(unfinished.isEmpty() || isTold || !refused.equals(ALL)).as(context).isTrue();
    for (StagingRoot root : unfinished) {
      String recovered = Failures.of(() -> spark.recovery(true).run(root, Direction.AS_MARKED));
      assertThat(recovered).as(context).isEmpty();
    }

    boolean isNew = failure.isEmpty() || (refused.equals(ALL) ? committed(spark) : isPastMark);
    assertThat(spark.visible()).as(context).isEqualTo(isNew ? fresh : SparkJobFaultTest.OLD);
    assertThat(spark.recovery(true).find(spark.table)).as(context).isEmpty();
    return !unfinished.isEmpty();
  }

  @ParameterizedTest
  @EnumSource(Direction.class)
  void recoveryDeletesNoFileThatAnotherProgramWroteAgainWithTheSameLength(Direction direction)
      throws IOException {
    SparkJobHarness spark = SparkJobFaultTest.prepared("gs", "static", "auto");
    boolean[] isDead = {false};
    boolean isPastMark = direction == Direction.AS_MARKED;
    spark.dies(
        (number, operation, path) -> {
          isDead[0] |=
              isPastMark
                  ? operation.equals("delete") && path.endsWith("/old")
                  : operation.equals("rename") && path.matches(".*/00/old/[0-9]+/_SUCCESS.*");
          return isDead[0] ? Fate.FAILS_BEFORE : Fate.NORMAL;
        });
    spark.state.write("/table/p=2/old", "OLD");

    for (StagingRoot root : spark.recovery(true).find(spark.table)) {
      String failure = Failures.of(() -> spark.recovery(true).run(root, direction));
      assertThat(failure.isEmpty()).as(failure).isEqualTo(isPastMark);
    }

    assertThat(spark.visible()).containsEntry("/table/p=2/old", "OLD");
  }

  /** Its staging directories go while a recovery compares its locations with its journal. */
  @ParameterizedTest
  @ValueSource(strings = {"gs", "s3a"})
  void aJobThatEndsWhileItsLocationsAreLookedAtIsNoCorruptOne(String scheme) throws IOException {
    SparkJobHarness spark = SparkJobFaultTest.prepared(scheme, "append", "off");
    assertThat(spark.dies(Fault.deadFrom(14, Fate.FAILS_BEFORE))).isTrue();
    spark.state.gate(
        (client, operation, path) -> {
          if (operation.equals("list") && path.startsWith("/elsewhere/_manifest_")) {
            spark.state.remove(path);
            spark.state.remove(STAGING);
          }
        });

    assertThatThrownBy(() -> spark.recoverAsMarked(true)).isInstanceOf(LostJournalException.class);
  }

  /** To delete what is not there costs a look. */
  @Test
  void aListThatHadLeftWhenItsDriverDiedIsNotDeletedWhereItWas() throws IOException {
    SparkJobHarness clean = SparkJobFaultTest.prepared("gs", "append", "off");
    clean.commit();
    String list = "/00/old/0/_SUCCESS.files";
    int at = 1;
    for (String request : clean.state.requests()) {
      if (request.startsWith("rename") && request.contains(list + " -> ")) {
        break;
      }
      at++;
    }
    SparkJobHarness spark = SparkJobFaultTest.prepared("gs", "append", "off");
    spark.state.onRequest(Fault.deadFrom(at, Fate.FAILS_AFTER));
    assertThat(Failures.of(spark::commit)).isNotEmpty();
    spark.state.noFault();
    spark.state.resetRequests();

    assertThat(spark.recoverAsMarked(true)).isEqualTo(Outcome.ROLLED_BACK);

    assertThat(spark.state.requests())
        .anyMatch(request -> request.startsWith("status") && request.endsWith(list))
        .noneMatch(request -> request.startsWith("delete") && request.endsWith(list));
    assertThat(spark.visible()).isEqualTo(SparkJobFaultTest.OLD);
  }

  @Test
  void aRecoveryThatFailsAdvisesToRecoverAgain() throws IOException {
    SparkJobHarness spark = SparkJobFaultTest.prepared("abfs", "static", "auto");
    spark.state.onRequest(Fault.deadFrom("rename", path -> path.endsWith("/sealed/p=3")));
    Failures.of(spark::commit);
    spark.state.onRequest(
        Fault.on(
            "rename",
            Fate.FAILS_BEFORE,
            path -> path.contains("/old/") && path.contains("-_manifest_")));

    String failure = Failures.of(() -> spark.recoverAsMarked(true));

    assertThat(failure)
        .contains("could not roll back")
        .contains("manifest-committer recover " + spark.table)
        .contains(spark.root().allOld().toString())
        .doesNotContain("/replaced", "delete the files");
    spark.state.noFault();
    assertThat(spark.recoverAsMarked(true)).isEqualTo(Outcome.ROLLED_BACK);
    assertThat(spark.visible()).isEqualTo(SparkJobFaultTest.OLD);
  }

  @Test
  void aDriverThatDiesWhileItWritesItsJournalLeavesNothingToRecover() throws IOException {
    SparkJobHarness spark = SparkJobFaultTest.prepared("abfs", "static", "auto");
    boolean[] dead = {false};
    spark.dies(
        (number, operation, path) -> {
          if (!dead[0] && operation.equals("write") && path.startsWith(STAGING + "/00/journal")) {
            dead[0] = true;
            return Fate.HALF_DONE;
          }
          return dead[0] ? Fate.FAILS_BEFORE : Fate.NORMAL;
        });

    assertThat(dead[0]).isTrue();
    assertThat(spark.recovery(true).find(spark.table)).isEmpty();
    assertThat(spark.visible()).isEqualTo(SparkJobFaultTest.OLD);
  }

  @Test
  void aJobWhoseDriverLivesIsLeftAloneUnlessForced() throws IOException {
    SparkJobHarness spark = SparkJobFaultTest.prepared("abfs", "dynamic", "auto");
    spark.dies(Fault.deadAfter("rename", path -> path.equals("/table/p=1")));
    Store store = new Stores(spark.conf).all();
    Recovery watching =
        Recoveries.of(
            store,
            new CommitterConfig(spark.conf),
            /* force= */ false,
            new PassingTime(
                waiting -> {
                  // By a clock that steps back: what counts is that it moves.
                  spark.state.passTime(-60_000);
                  spark.state.write(STAGING + "/heartbeat", "alive");
                }));

    assertThatThrownBy(() -> watching.run(spark.root(), Direction.AS_MARKED))
        .isInstanceOf(JobIsAliveException.class)
        .hasMessageContainingAll(STAGING, "--force");
    assertThat(spark.recoverAsMarked(true)).isEqualTo(Outcome.ROLLED_BACK);
    assertThat(spark.visible()).isEqualTo(SparkJobFaultTest.OLD);
    assertThat(spark.recovery(true).find(spark.table)).isEmpty();
  }

  /** Else the error would lead to a recovery that finds no journal. */
  @ParameterizedTest
  @ValueSource(strings = {"abfs", "gs"})
  void aCommitWhoseJournalGetsNoNameHasNothingToRollBack(String scheme) throws IOException {
    SparkJobHarness spark = new SparkJobHarness(scheme);
    SparkJobFaultTest.prepare(spark, "static", "auto");
    spark.state.onRequest(
        Fault.on("rename", Fate.FAILS_BEFORE, path -> path.contains("/00/journal")));

    assertThatThrownBy(spark::commit)
        .hasMessageContaining("Could not note the state of the commit")
        .satisfies(failure -> assertThat(failure.getSuppressed()).isEmpty());

    spark.state.noFault();
    spark.job().abort();
    assertThat(spark.visible()).isEqualTo(SparkJobFaultTest.OLD);
    assertThat(spark.staging()).isEmpty();
  }

  /** Also where its name begins as those do that no reader sees. */
  @ParameterizedTest
  @ValueSource(strings = {"p=", "_p="})
  void anOverwrittenPartitionKeepsAllOthersAsTheyAre(String name) throws IOException {
    SparkJobHarness spark = new SparkJobHarness("abfs");
    for (int p = 1; p <= 8; p++) {
      spark.state.write("/table/" + name + p + "/old", "old");
    }
    spark.setUp(TableWrite.dynamic());
    for (int p = 1; p <= 8; p++) {
      spark.commitTask(p, name + p + "/a");
    }
    spark.dies(Fault.deadFrom("write", path -> path.endsWith("/_SUCCESS")));
    spark.state.remove("/table/" + name + "3");
    spark.state.write("/table/" + name + "3/theirs", "theirs");
    Map<String, String> before = spark.visible();

    assertThatThrownBy(() -> spark.recoverAsMarked(true))
        .hasMessageContaining("/table/" + name + "3");

    assertThat(before).hasSize(8).containsKeys("/table/" + name + "1/a");
    assertThat(spark.visible()).isEqualTo(before);
  }

  private static boolean committed(SparkJobHarness spark) {
    return spark.state.files().getOrDefault("/table/_SUCCESS", "").contains(JOB_ID);
  }
}
