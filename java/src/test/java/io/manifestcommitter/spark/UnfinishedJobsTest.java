// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static io.manifestcommitter.spark.SparkJobHarness.STAGING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.LifeSigns;
import io.manifestcommitter.jobs.UnfinishedJobs;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A job into a table that holds the unfinished commit of another driver. */
class UnfinishedJobsTest {
  private static final String SECOND = "5e0f8a52-90c1-4a7b-8c11-0d3c1c2b7a22";

  @Test
  void mayFailTheJob() throws IOException {
    SparkJobHarness dead = diedHalfWay();
    stopBeating(dead);
    SparkJobHarness second = dead.other(SECOND).with(CommitterConfig.UNFINISHED_JOBS, "fail");
    Map<String, String> before = dead.state.files();
    assertThatThrownBy(() -> second.setUp(TableWrite.append()))
        .hasMessageContainingAll(STAGING, "manifest-committer recover " + second.table);
    assertThat(dead.state.files()).isEqualTo(before);
  }

  @Test
  void mayBeAWarning() throws IOException {
    SparkJobHarness dead = diedHalfWay();
    stopBeating(dead);
    Map<String, String> half = dead.visible();
    SparkJobHarness second = dead.other(SECOND).with(CommitterConfig.UNFINISHED_JOBS, "warn");
    second.setUp(TableWrite.append()).commitTask(0, "p=7/a2");
    second.commit();
    assertThat(second.visible()).containsAllEntriesOf(half).containsKey("/table/p=7/a2");
    assertThat(dead.staging()).contains(STAGING);
  }

  @Test
  void theCommitOfADriverThatLivesIsLeftAlone() throws IOException {
    SparkJobHarness alive = diedHalfWay();
    Map<String, String> half = alive.visible();
    int[] pauses = {0};
    SparkJobHarness second = alive.other(SECOND);
    second.waiting(
        waiting -> {
          if (++pauses[0] % 3 == 0) {
            alive.state.write(STAGING + "/heartbeat", "alive");
          }
          alive.state.passTime(4000);
        });
    second.setUp(TableWrite.append()).commitTask(0, "p=7/a2");
    second.commit();
    assertThat(second.visible()).containsAllEntriesOf(half).containsKey("/table/p=7/a2");
    assertThat(alive.staging()).contains(STAGING);
    assertThat(pauses[0]).as("at the commit").isEqualTo(3);
  }

  @Test
  void aDriverThatDiedAMomentAgoIsNotTakenForOneThatLives() throws IOException {
    SparkJobHarness dead = diedHalfWay();
    SparkJobHarness second = dead.other(SECOND).setUp(TableWrite.append());
    assertThat(second.staging()).as("it may live").anyMatch(path -> path.startsWith(STAGING));
    second.commit();
    assertThat(second.visible()).isEqualTo(SparkJobFaultTest.OLD);
    assertThat(second.staging()).noneMatch(path -> path.startsWith(STAGING));
  }

  /**
   * Whatever the store's clock says: a heartbeat that is a day old, or of tomorrow, may move in the
   * next second.
   */
  @ParameterizedTest
  @ValueSource(longs = {-86_400_000, 86_400_000, 0})
  void noClocksAreCompared(long millis) throws IOException {
    SparkJobHarness alive = diedHalfWay();
    alive.state.passTime(millis);
    int[] pauses = {0};
    SparkJobHarness second = alive.other(SECOND);
    second.waiting(
        waiting -> {
          if (++pauses[0] == 20) {
            alive.state.write(STAGING + "/heartbeat", "alive");
          }
        });
    second.setUp(TableWrite.append());
    alive.state.passTime(1);
    second.commitTask(0, "p=7/a2");
    second.commit();
    assertThat(pauses[0]).isEqualTo(20);
    assertThat(alive.staging()).anyMatch(path -> path.contains(STAGING + "/00/journal-planned-0"));
  }

  /** This process stood still, and perhaps the other one with it. */
  @Test
  void aLongGapBetweenTwoLooksCountsAsOneInterval() throws IOException {
    SparkJobHarness alive = diedHalfWay();
    long[] now = {0};
    int[] pauses = {0};
    Store store = new Stores(alive.conf).all();
    CommitterConfig config = new CommitterConfig(alive.conf);
    LifeSigns signs = new LifeSigns(store, config, () -> now[0]);
    signs.await(
        List.of(alive.root()),
        one -> true,
        waiting -> {
          pauses[0]++;
          now[0] += TimeUnit.HOURS.toNanos(1);
        });
    assertThat(signs.look(alive.root())).isEqualTo(LifeSigns.Life.DEAD);
    long intervals = config.heartbeatTimeout / config.heartbeatInterval;
    assertThat(pauses[0]).isBetween((int) intervals, (int) intervals + 1);
  }

  @Test
  void whatADriverLeftThatNeverBeganIsRemovedWithoutAWait() throws IOException {
    SparkJobHarness killed = SparkJobFaultTest.prepared("abfs", "static", "auto");
    int[] pauses = {0};
    long[] now = {0};
    Store store = new Stores(killed.conf).all();
    CommitterConfig config = new CommitterConfig(killed.conf);
    LifeSigns signs = new LifeSigns(store, config, () -> now[0]);
    UnfinishedJobs unfinished =
        new UnfinishedJobs(store, config, signs, List.of(), waiting -> pauses[0]++);
    List<StagingRoot> roots = List.of(killed.root());
    unfinished.settle(roots);
    assertThat(killed.state.exists(STAGING)).as("it was not watched").isTrue();
    for (int look = 0; look < 10; look++) {
      signs.lookAt(roots);
      now[0] += TimeUnit.SECONDS.toNanos(10);
    }
    killed.state.write(STAGING + "/heartbeat", "alive again");
    killed.state.passTime(1);
    unfinished.settle(roots);
    assertThat(killed.state.exists(STAGING)).as("it moved at last").isTrue();
    for (int look = 0; look < 10; look++) {
      signs.lookAt(roots);
      now[0] += TimeUnit.SECONDS.toNanos(10);
    }
    unfinished.settle(roots);
    assertThat(killed.state.exists(STAGING)).isFalse();
    assertThat(pauses[0]).isZero();
    assertThat(killed.commitOrAbort()).as("it lives after all").isPresent();
    assertThat(killed.visible()).isEqualTo(SparkJobFaultTest.OLD);
  }

  /** Of which each waits for the one before it, and the last for nobody. */
  @Test
  void severalAreWaitedForAtTheSameTime() throws IOException {
    SparkJobHarness dead = diedHalfWay();
    String[] roots = {"/table/_manifest_1-copy", "/table/_manifest_2-copy"};
    for (String root : roots) {
      dead.state.write(root + "/00/journal-committed-0", "a plan");
      dead.state.write(root + "/heartbeat", "alive");
    }
    int[] pauses = {0};
    SparkJobHarness second = dead.other(SECOND);
    second.waiting(
        waiting -> {
          pauses[0]++;
          dead.state.passTime(5000);
          for (String root : roots) {
            dead.state.write(root + "/heartbeat", "alive");
          }
        });
    second.setUp(TableWrite.append());
    assertThat(pauses[0]).as("in setup").isZero();
    second.commit();
    assertThat(pauses[0]).as("of two seconds each, in a timeout of 45").isEqualTo(23);
    assertThat(second.visible()).isEqualTo(SparkJobFaultTest.OLD);
  }

  @Test
  void whoEndsWhileItIsWaitedForIsNobodysMatter() throws IOException {
    SparkJobHarness alive = diedHalfWay();
    Map<String, String> half = alive.visible();
    int[] pauses = {0};
    SparkJobHarness second = alive.other(SECOND);
    second.waiting(
        waiting -> {
          pauses[0]++;
          alive.state.remove(STAGING);
        });
    second.with(CommitterConfig.UNFINISHED_JOBS, "fail").setUp(TableWrite.append());
    second.commit();
    assertThat(pauses[0]).isEqualTo(1);
    assertThat(second.visible()).isEqualTo(half);
  }

  /** Its commit failed, and could not be rolled back, or was past its point of no return. */
  @ParameterizedTest
  @CsvSource({
    "abfs,append,off",
    "gs,append,auto",
    "abfs,static,auto",
    "gs,dynamic,auto",
    "hdfs,dynamic,auto"
  })
  void whoLeavesSomethingBehindIsSettledAtOnce(String scheme, String kind, String directoryRename)
      throws IOException {
    SparkJobHarness failed = SparkJobFaultTest.prepared(scheme, kind, directoryRename);
    boolean[] refuses = {false};
    failed.state.onRequest(
        (number, operation, path) -> {
          boolean isFirstChange =
              operation.equals("rename")
                  && path.matches("/table/p=.*|.*/output/p=1.*|.*/sealed/p=1.*");
          boolean isRefused =
              refuses[0]
                  && (operation.equals("rename") || operation.equals("delete"))
                  && !path.endsWith("/heartbeat");
          refuses[0] |= isFirstChange;
          return isRefused ? Fate.FAILS_BEFORE : Fate.NORMAL;
        });
    assertThatThrownBy(failed::commit)
        .satisfies(
            e ->
                assertThat(e.getSuppressed())
                    .anyMatch(told -> told.getMessage().contains("manifest-committer recover")));
    failed.job().abort();
    failed.state.noFault();
    assertThat(failed.state.exists(STAGING)).isTrue();
    assertThat(failed.state.exists(STAGING + "/heartbeat")).isFalse();

    SparkJobHarness second = failed.other(SECOND);
    second.waiting(
        waiting -> {
          throw new AssertionError("waits");
        });
    second.setUp(TableWrite.append());
    assertThat(second.visible()).isEqualTo(SparkJobFaultTest.OLD);
    assertThat(second.staging()).noneMatch(path -> path.startsWith(STAGING));
  }

  /** All that the first one has in the table goes while the second one looks at it. */
  @ParameterizedTest
  @ValueSource(strings = {"rollback", "fail", "warn"})
  void aCommitThatEndsMeanwhileIsNoUnfinishedOne(String mode) throws IOException {
    int atRequests = 0;
    boolean reached = true;
    while (reached) {
      int at = ++atRequests;
      SparkJobHarness first = diedHalfWay();
      boolean[] gone = {false};
      SparkJobHarness second = first.other(SECOND);
      second.waiting(
          waiting -> {
            if (!gone[0]) {
              first.state.write(STAGING + "/heartbeat", "alive");
            }
          });
      second.with(CommitterConfig.UNFINISHED_JOBS, mode);
      first.state.resetRequests();
      first.state.onRequest(
          (number, operation, path) -> {
            if (number == at) {
              first.state.remove(STAGING);
              gone[0] = true;
            }
            return Fate.NORMAL;
          });
      second.setUp(TableWrite.append());
      first.state.noFault();
      reached = gone[0];
      if (reached) {
        assertThat(first.state.exists(STAGING)).as("after it went at request %d", at).isFalse();
      }
      second.commitTask(0, "p=7/a2");
      second.commit();
      assertThat(second.visible()).containsKey("/table/p=7/a2");
    }
    assertThat(atRequests).isGreaterThan(6);
  }

  @Test
  void whatCannotBeRecoveredFailsTheJobBeforeItsTasks() throws IOException {
    SparkJobHarness dead = diedHalfWay();
    stopBeating(dead);
    dead.state.write(STAGING + "/00/journal-planned-0", "damaged");
    SparkJobHarness second = dead.other(SECOND);
    assertThatThrownBy(() -> second.setUp(TableWrite.append()))
        .hasMessageContainingAll("cannot be recovered", STAGING);
    assertThat(second.staging()).noneMatch(path -> path.contains(SECOND));
  }

  /** With half of its renames done. */
  private static SparkJobHarness diedHalfWay() throws IOException {
    SparkJobHarness spark = SparkJobFaultTest.prepared("abfs", "append", "off");
    assertThat(spark.dies(Fault.deadAfter("rename", path -> path.endsWith("/p=1/a")))).isTrue();
    assertThat(spark.visible()).containsKey("/table/p=1/a").doesNotContainKey("/table/p=3/b");
    return spark;
  }

  /** As if it was long ago. */
  private static void stopBeating(SparkJobHarness dead) {
    dead.state.remove(STAGING + "/heartbeat");
  }
}
