// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.jobs.Recovery.Outcome;
import io.manifestcommitter.jobs.StagedJob;
import io.manifestcommitter.jobs.StagedJobs;
import io.manifestcommitter.spark.DriverJob;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A table is the same by every name of its store, and after it was renamed. */
class TableNamesTest {
  private static final ReaderWrite WRITE = ReaderWrite.named("location-overwrite");
  private static final TableWrite DEAD = WRITE.by(DriverJob.DEAD_WORD);

  @ParameterizedTest
  @CsvSource({
    "abfs,planned,ROLLED_BACK", "abfs,committed,COMPLETED", "abfs,finished,CLEANED_UP",
    "hdfs,planned,ROLLED_BACK", "hdfs,committed,COMPLETED", "hdfs,finished,CLEANED_UP",
    "gs,planned,ROLLED_BACK", "gs,committed,COMPLETED", "gs,finished,CLEANED_UP"
  })
  void aJournalIsReadUnderTheNameOfItsReader(String scheme, String state, Outcome outcome)
      throws IOException {
    CrashStore store = died(scheme, state);
    assertThat(recover(store.byOtherName())).isEqualTo(outcome);
    requireOver(store, outcome);

    store = died(scheme, state);
    store.renameTable();
    assertThat(recover(store.withTableRenamed())).isEqualTo(outcome);
    store.renameTableBack();
    requireOver(store, outcome);
  }

  @ParameterizedTest
  @CsvSource({"abfs,planned", "abfs,committed", "hdfs,finished", "gs,planned", "gs,finished"})
  void theNextJobFindsWhatWasLeftInARenamedTable(String scheme, String state) throws IOException {
    CrashStore store = died(scheme, state);
    if (state.equals("finished")) {
      // Nobody waits to see whether a job lives whose commit has ended.
      store.state().remove("/table/_manifest_" + DriverJob.DEAD + "/heartbeat");
    }
    store.renameTable();
    new DriverJob(store.withTableRenamed(), DriverJob.NEXT)
        .setUp(TableWrite.append().with(Map.of("/table/p=7/f", "next")))
        .commit();
    store.renameTableBack();
    assertThat(store.text("/table/p=7/f")).isEqualTo("next");
    store.state().remove("/table/p=7");
    requireOver(store, state.equals("planned") ? Outcome.ROLLED_BACK : Outcome.COMPLETED);
  }

  @ParameterizedTest
  @ValueSource(strings = {"abfs", "hdfs", "gs"})
  void cleanKnowsWhatIsFinishedInARenamedTable(String scheme) throws IOException {
    for (String state : List.of("planned", "committed", "finished")) {
      CrashStore store = died(scheme, state);
      store.renameTable();
      Configuration conf = store.configuration();
      List<StagedJob> jobs =
          new StagedJobs(new Stores(conf).all(), new CommitterConfig(conf))
              .find(store.withTableRenamed().path(CrashStore.TABLE), 0);
      assertThat(jobs).hasSize(1);
      assertThat(jobs.get(0).state())
          .isEqualTo(
              state.equals("finished") ? StagedJob.State.ABANDONED : StagedJob.State.UNFINISHED);
    }
  }

  /** A driver that died in its commit, a while ago. */
  private static CrashStore died(String scheme, String state) throws IOException {
    CrashStore store = new CrashStore(scheme, "auto", true);
    PairTrial.fill(store, WRITE.old());
    DriverJob job = new DriverJob(store, DriverJob.DEAD).setUp(DEAD).runTasks();
    String last = state.equals("planned") ? "journal-planned-0" : "journal-committed-0";
    boolean[] isDead = {false};
    store
        .state()
        .onRequest(
            (number, operation, path) -> {
              boolean wasDead = isDead[0];
              isDead[0] |= operation.equals("rename") && path.endsWith("/00/" + last);
              boolean isDone = !wasDead && (!isDead[0] || state.equals("finished"));
              return isDone ? Fate.NORMAL : Fate.FAILS_BEFORE;
            });
    Failures.of(job::commit);
    store.state().noFault();
    store.passTime();
    assertThat(store.staging()).anyMatch(path -> path.endsWith("/00/journal-" + state + "-0"));
    return store;
  }

  private static Outcome recover(CrashStore by) throws IOException {
    List<Outcome> outcomes =
        Recoveries.all(
            Recoveries.of(by.configuration(), /* force= */ false),
            by.path(CrashStore.TABLE),
            Direction.AS_MARKED);
    assertThat(outcomes).hasSize(1);
    return outcomes.get(0);
  }

  private static void requireOver(CrashStore store, Outcome outcome) {
    Map<String, String> old = WRITE.old();
    assertThat(store.visible()).isEqualTo(outcome == Outcome.ROLLED_BACK ? old : DEAD.after(old));
    assertThat(store.staging()).isEmpty();
  }
}
