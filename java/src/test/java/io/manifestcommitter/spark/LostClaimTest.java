// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.jobs.Recovery.Outcome;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A driver that pauses for so long that its job is recovered, and then goes on. Recovery has the
 * last word: the driver fails, and changes nothing more.
 */
class LostClaimTest {
  private static final Set<String> CHANGES =
      Set.of("rename", "delete", "create", "write", "mkdirs");

  @ParameterizedTest
  @CsvSource({
    "abfs,append,off,AS_MARKED",
    "abfs,append,auto,COMPLETE",
    "abfs,static,auto,AS_MARKED",
    "abfs,static,auto,COMPLETE",
    "abfs,dynamic,auto,AS_MARKED",
    "hdfs,partition,auto,AS_MARKED",
    "gs,dynamic,auto,AS_MARKED",
    "gs,static,auto,COMPLETE"
  })
  void recoveryHasTheLastWord(
      String scheme, String kind, String directoryRename, Direction direction) throws IOException {
    int rolledBack = 0;
    int finished = 0;
    boolean reached = true;
    for (int at = 1; reached; at++) {
      SparkJobHarness spark = SparkJobFaultTest.prepared(scheme, kind, directoryRename);
      RecoveryAt recovery = new RecoveryAt(spark, at, direction);
      spark.state.gate(recovery);
      boolean failed = spark.commitOrAbort().isPresent();
      spark.state.noGate();
      reached = recovery.requests >= at;

      String context =
          String.format(
              "%s %s, %s before request %d of the driver, %s",
              scheme, kind, recovery.outcomes, at, recovery.request);
      boolean isBack = recovery.outcomes.contains(Outcome.ROLLED_BACK);
      rolledBack += isBack ? 1 : 0;
      finished += recovery.outcomes.contains(Outcome.COMPLETED) ? 1 : 0;
      assertThat(spark.visible())
          .as(context)
          .isEqualTo(isBack ? SparkJobFaultTest.OLD : SparkJobFaultTest.expected(kind));
      assertThat(spark.state.files().get("/table/_SUCCESS"))
          .as(context)
          .contains(isBack ? "the last report" : SparkJobHarness.JOB_ID);
      assertThat(failed).as(context).isEqualTo(recovery.isEarly());
    }
    assertThat(direction == Direction.COMPLETE ? finished : rolledBack).isGreaterThan(5);
  }

  /** Else the driver could go on past its point of no return while it is rolled back. */
  @ParameterizedTest
  @CsvSource({"abfs,static,auto", "abfs,append,off", "gs,dynamic,auto"})
  void recoveryTakesTheJournalBeforeItChangesTheTable(
      String scheme, String kind, String directoryRename) throws IOException {
    SparkJobHarness spark = SparkJobFaultTest.prepared(scheme, kind, directoryRename);
    spark.state.onRequest(Fault.deadFrom("write", path -> path.endsWith("/_SUCCESS")));
    assertThatThrownBy(spark::commit).isInstanceOf(IOException.class);
    List<String> changes = new ArrayList<>();
    List<String> early = new ArrayList<>();
    spark.state.onRequest(
        (number, operation, path) -> {
          if (CHANGES.contains(operation) && !path.contains("/_manifest_")) {
            changes.add(operation + " " + path);
            if (spark.state.exists(SparkJobHarness.STAGING + "/00/journal-planned-0")) {
              early.add(operation + " " + path);
            }
          }
          return Fate.NORMAL;
        });

    new RecoveryAt(spark, 0, Direction.AS_MARKED).recover();

    assertThat(changes).isNotEmpty();
    assertThat(early).isEmpty();
    assertThat(spark.visible()).isEqualTo(SparkJobFaultTest.OLD);
  }

  /** What the driver then writes makes its staging directory again; its report does not count. */
  @ParameterizedTest
  @ValueSource(strings = {"abfs", "hdfs"})
  void aReportThatIsMadeAgainIsNotThatOfWhoLostTheCommit(String scheme) throws IOException {
    SparkJobHarness spark = new SparkJobHarness(scheme);
    SparkJobFaultTest.OLD.forEach(spark.state::write);
    spark.state.write("/table/_SUCCESS", "the last report");
    spark.setUp(TableWrite.append()).commitTask(0, "p=1/a", "p=3/b");
    RecoveryAt recovery = new RecoveryAt(spark, 1, Direction.AS_MARKED);
    boolean[] isLost = {false};
    spark.state.gate(
        (client, operation, path) -> {
          if (!isLost[0] && operation.equals("write") && path.endsWith("/00/old/0/_SUCCESS")) {
            isLost[0] = true;
            // Else its way into the table would show that the commit is lost.
            while (spark.state.exists(SparkJobHarness.STAGING + "/00/old/0/_SUCCESS.files")) {
              Thread.onSpinWait();
            }
            recovery.pass(client, operation, path);
          }
        });
    spark.state.onRequest(
        Fault.first("write", Fate.FAILS_BEFORE, path -> path.endsWith("/00/old/0/_SUCCESS")));

    assertThat(spark.commitOrAbort()).isPresent();

    assertThat(recovery.outcomes).containsExactly(Outcome.ROLLED_BACK);
    assertThat(spark.visible()).isEqualTo(SparkJobFaultTest.OLD);
    assertThat(spark.state.files().get("/table/_SUCCESS")).contains("the last report");
  }

  /** Else that would seem dead while it works, and a third one would take the commit. */
  @ParameterizedTest
  @ValueSource(strings = {"abfs", "hdfs", "gs"})
  void whoLostTheCommitLeavesTheHeartbeatOfWhoTookIt(String scheme) throws IOException {
    SparkJobHarness spark = SparkJobFaultTest.prepared(scheme, "static", "auto");
    Configuration conf = new Configuration(spark.conf);
    conf.set(MemoryFileSystem.CLIENT, RecoveryAt.CLIENT);
    boolean[] isTaken = {false};
    spark.state.gate(
        (client, operation, path) -> {
          boolean isReturn = operation.equals("rename") && path.contains("/journal-planned-0 -> ");
          if (isReturn && !isTaken[0]) {
            isTaken[0] = true;
            try {
              CommitJournal.find(new Stores(conf).all(), spark.root().attempt())
                  .get()
                  .claim(CommitJournal.State.PLANNED, true);
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          }
        });

    String failure = Failures.of(spark::commit);
    spark.state.noGate();

    assertThat(isTaken[0]).isTrue();
    assertThat(failure).contains("was taken over", "journal-planned-");
    assertThat(spark.state.exists(SparkJobHarness.STAGING + "/heartbeat")).isTrue();
  }

  /**
   * Two requests more than a recovery makes that sets no fence (the number before the plus), and
   * one for the custom location: whoever takes a commit over pays for that it can.
   */
  @ParameterizedTest
  @CsvSource({
    "abfs,append,auto,22,42+2",
    "abfs,append,off,19,28+2",
    "hdfs,static,auto,34,65+3",
    "abfs,dynamic,auto,35,66+3",
    "gs,append,off,17,32+0",
    "gs,static,off,22,32-1",
    "s3a,append,off,20,51-5",
    "s3a,static,off,32,63-7"
  })
  void aTakeoverCostsTwoRequestsAndOneForTheLocation(
      String scheme, String kind, String directoryRename, int diesAt, String requests)
      throws IOException {
    SparkJobHarness spark = SparkJobFaultTest.prepared(scheme, kind, directoryRename);
    spark.dies(Fault.deadFrom(diesAt, Fate.FAILS_AFTER));
    spark.state.resetRequests();
    assertThat(spark.recover(Direction.AS_MARKED, /* force= */ true))
        .containsExactly(Outcome.ROLLED_BACK);
    String[] parts = requests.split("(?=[+-])", -1);
    assertThat(spark.state.requests())
        .hasSize(Integer.parseInt(parts[0]) + Integer.parseInt(parts[1]));
  }

  /** Recovers the job while its driver waits to make one of its requests. */
  private static final class RecoveryAt implements MemoryStoreState.Gate {
    private static final String CLIENT = "recovery";

    private final SparkJobHarness spark;
    private final int at;
    private final Direction direction;
    private final Configuration conf;
    private final List<Outcome> outcomes = new ArrayList<>();
    private int requests;
    private String request = "";

    RecoveryAt(SparkJobHarness spark, int at, Direction direction) {
      this.spark = spark;
      this.at = at;
      this.direction = direction;
      this.conf = new Configuration(spark.conf);
      conf.set(MemoryFileSystem.CLIENT, CLIENT);
    }

    @Override
    public void pass(String client, String operation, String path) {
      if (!client.equals(CLIENT) && ++requests == at) {
        request = operation + " " + path;
        try {
          recover();
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    }

    private void recover() throws IOException {
      outcomes.addAll(
          Recoveries.all(Recoveries.of(conf, /* force= */ true), spark.table, direction));
    }

    /** Whether the driver had still to note that its commit is finished. */
    boolean isEarly() {
      return outcomes.contains(Outcome.ROLLED_BACK) || outcomes.contains(Outcome.COMPLETED);
    }
  }
}
