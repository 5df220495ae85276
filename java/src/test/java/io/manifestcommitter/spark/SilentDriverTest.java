// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.journal.Heartbeat.SilentDriverException;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import io.manifestcommitter.testing.Recoveries;
import java.io.IOException;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A driver that stands still right before one of its changes, for longer than a heartbeat may be
 * old, and then goes on.
 */
class SilentDriverTest {
  private static final long SILENCE = TimeUnit.SECONDS.toNanos(60);

  @ParameterizedTest
  @CsvSource({
    "abfs,append,off",
    "abfs,append,auto",
    "abfs,static,auto",
    "hdfs,dynamic,auto",
    "gs,append,auto",
    "gs,static,auto"
  })
  void whoIsNotMissedRollsBack(String scheme, String kind, String directoryRename)
      throws IOException {
    int stopped = 0;
    boolean reached = true;
    for (int at = 1; reached; at++) {
      SparkJobHarness spark = new SparkJobHarness(scheme);
      Silence silence = new Silence(() -> spark.state.passTime(60_000));
      SparkJobFaultTest.prepare(spark.clock(silence), kind, directoryRename);
      silence.beginAt(at);
      Optional<Throwable> failure = spark.commitOrAbort();
      reached = silence.isOver();
      String context = String.format("silent before check %d: %s", at, failure);
      if (failure.isEmpty()) {
        assertThat(spark.visible()).as(context).isEqualTo(SparkJobFaultTest.expected(kind));
        continue;
      }
      stopped++;
      assertThat(failure).as(context).containsInstanceOf(IOException.class);
      assertThat(Stream.<Throwable>iterate(failure.get(), Objects::nonNull, Throwable::getCause))
          .as(context)
          .anyMatch(cause -> cause.toString().contains(SilentDriverException.class.getName()));
      assertIsOldOrNew(context, spark, kind);
    }
    assertThat(stopped).isGreaterThan(8);
  }

  /** Recovery, begun while the driver stands still, has come so far when the driver goes on. */
  @ParameterizedTest
  @CsvSource({
    "abfs,append,off,AS_MARKED",
    "abfs,static,auto,AS_MARKED",
    "abfs,static,auto,COMPLETE",
    "hdfs,dynamic,auto,AS_MARKED",
    "gs,append,auto,COMPLETE",
    "gs,static,auto,AS_MARKED"
  })
  void whoIsBeingRecoveredTouchesNothing(
      String scheme, String kind, String directoryRename, Direction direction) throws Exception {
    int claimed = 0;
    int met = 0;
    boolean reached = true;
    for (int at = 1; reached; at++) {
      boolean goesOn = true;
      for (int until = 1 + at % 3; goesOn; until += 3) {
        SparkJobHarness spark = new SparkJobHarness(scheme);
        Halted recovery = new Halted(spark, until, direction);
        Silence silence = new Silence(recovery::begin);
        SparkJobFaultTest.prepare(spark.clock(silence), kind, directoryRename);
        spark.state.gate(recovery);
        silence.beginAt(at);
        Optional<Throwable> failure = spark.commitOrAbort();
        reached = silence.isOver();
        boolean isClaimed = recovery.hasClaimed();
        recovery.goOn();
        goesOn = reached && recovery.wasHalted();
        spark.state.noGate();
        met++;
        claimed += isClaimed ? 1 : 0;
        String context =
            String.format(
                "silent before check %d, recovery halted at request %d, %s: driver %s, recovery %s",
                at, until, isClaimed ? "claimed" : "not claimed", failure, recovery.failure);
        if (failure.isEmpty()) {
          assertThat(spark.visible()).as(context).isEqualTo(SparkJobFaultTest.expected(kind));
        }
        assertIsOldOrNew(context, spark, kind);
      }
    }
    System.out.printf(
        "%s %s %s: %d meetings, the journal was taken in %d%n",
        scheme, kind, direction, met, claimed);
    assertThat(claimed).isGreaterThan(20);
  }

  /**
   * Recovery was about to take the journal when the driver went on, and does so in the middle of
   * what that does: only one of them may have it.
   */
  @ParameterizedTest
  @CsvSource({"abfs,append,off", "abfs,static,auto", "hdfs,dynamic,auto", "gs,append,auto"})
  void whoWakesUpRightBeforeTheJournalIsTakenDoesNotShareIt(
      String scheme, String kind, String directoryRename) throws Exception {
    int met = 0;
    boolean reached = true;
    for (int at = 1; reached; at++) {
      boolean goesOn = true;
      for (int request = 1 + at % 2; goesOn; request += 2) {
        SparkJobHarness spark = new SparkJobHarness(scheme);
        Halted recovery = new Halted(spark, Halted.AT_CLAIM, Direction.COMPLETE);
        recovery.goOnAt(request);
        Silence silence = new Silence(recovery::begin);
        SparkJobFaultTest.prepare(spark.clock(silence), kind, directoryRename);
        spark.state.gate(recovery);
        silence.beginAt(at);
        Optional<Throwable> failure = spark.commitOrAbort();
        reached = silence.isOver();
        goesOn = recovery.wasHalted() && recovery.wentOn();
        recovery.goOn();
        spark.state.noGate();
        met += goesOn ? 1 : 0;
        String context =
            String.format(
                "silent before check %d, recovery goes on at the driver's request %d: driver %s,"
                    + " recovery %s",
                at, request, failure, recovery.failure);
        assertIsOldOrNew(context, spark, kind);
      }
    }
    assertThat(met).isGreaterThan(20);
  }

  /** After what {@code manifest-committer recover} does, without force. */
  private static void assertIsOldOrNew(String context, SparkJobHarness spark, String kind)
      throws IOException {
    spark.state.passTime(60_000);
    spark.recover(Direction.AS_MARKED, /* force= */ false);
    assertThat(spark.visible())
        .as(context)
        .isIn(SparkJobFaultTest.OLD, SparkJobFaultTest.expected(kind));
    boolean isNew = spark.visible().equals(SparkJobFaultTest.expected(kind));
    assertThat(spark.state.files().get("/table/_SUCCESS"))
        .as(context)
        .contains(isNew ? SparkJobHarness.JOB_ID : "the last report");
    assertThat(spark.staging()).as(context).noneMatch(path -> path.contains("/journal-"));
  }

  /** The driver's clock, which is asked before each change and leaps at one of them. */
  private static final class Silence implements LongSupplier {
    private final Runnable meanwhile;
    private int left;
    private long now;

    Silence(Runnable meanwhile) {
      this.meanwhile = meanwhile;
    }

    void beginAt(int check) {
      left = check;
    }

    boolean isOver() {
      return now > 0;
    }

    @Override
    public long getAsLong() {
      if (left > 0 && --left == 0) {
        meanwhile.run();
        now += SILENCE;
      }
      return now;
    }
  }

  /** A recovery that is halted before one of its requests. */
  private static final class Halted implements MemoryStoreState.Gate {
    private static final String CLIENT = "recovery";

    /** Before it takes the journal. */
    static final int AT_CLAIM = 0;

    private final SparkJobHarness spark;
    private final int until;
    private final Direction direction;
    private final CountDownLatch halted = new CountDownLatch(1);
    private final CountDownLatch goesOn = new CountDownLatch(1);
    private final AtomicInteger untilItGoesOn = new AtomicInteger();
    private volatile Thread thread;
    private int requests;
    private volatile boolean wasHalted;
    private volatile String failure = "none";

    Halted(SparkJobHarness spark, int until, Direction direction) {
      this.spark = spark;
      this.until = until;
      this.direction = direction;
    }

    /** It goes on, and to its end, before this request of the driver after it was halted. */
    void goOnAt(int request) {
      untilItGoesOn.set(request);
    }

    boolean wentOn() {
      return goesOn.getCount() == 0;
    }

    /** Returns when it is halted, or over. */
    void begin() {
      spark.state.passTime(60_000);
      thread = new Thread(this::recover, CLIENT);
      thread.start();
      await(halted);
    }

    private void recover() {
      Configuration conf = new Configuration(spark.conf);
      conf.set(MemoryFileSystem.CLIENT, CLIENT);
      try {
        Recoveries.all(Recoveries.of(conf, /* force= */ false), spark.table, direction);
      } catch (IOException | RuntimeException e) {
        failure = e.toString();
      } finally {
        halted.countDown();
      }
    }

    @Override
    public void pass(String client, String operation, String path) {
      if (client.equals(CLIENT)) {
        requests++;
        boolean isClaim = operation.equals("rename") && path.contains("/journal-");
        if (!wasHalted && (until == AT_CLAIM ? isClaim : requests == until)) {
          wasHalted = true;
          halted.countDown();
          await(goesOn);
        }
      } else if (wasHalted && untilItGoesOn.decrementAndGet() == 0) {
        goesOn.countDown();
        join();
      }
    }

    private void join() {
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }

    void goOn() throws InterruptedException {
      goesOn.countDown();
      if (thread != null) {
        thread.join();
      }
    }

    boolean wasHalted() {
      return wasHalted;
    }

    boolean hasClaimed() {
      return spark.state.paths().stream()
          .anyMatch(path -> path.matches(".*/journal-[a-z]+-[1-9].*"));
    }

    private static void await(CountDownLatch latch) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }
  }
}
