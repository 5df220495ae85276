// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import static io.manifestcommitter.testing.Failures.raise;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.testing.MemoryFileSystem;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.MeanStatistic;
import org.apache.hadoop.util.functional.CallableRaisingIOE;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestGateTest {
  private static final long MINUTE = TimeUnit.MINUTES.toMillis(1);

  private final Time time = new Time();
  private final StatisticsRecorder statistics = new StatisticsRecorder();
  private final AtomicInteger progress = new AtomicInteger();

  @Test
  void requestsAreSpreadEvenly() throws Exception {
    RequestGate gate = gate(10, MINUTE);
    pass(gate, 4);
    assertThat(time.waits).containsExactly(100L, 100L, 100L);
  }

  @Test
  void requestsThatComeSlowlyDoNotWait() throws Exception {
    RequestGate gate = gate(10, MINUTE);
    for (int i = 0; i < 4; i++) {
      pass(gate, 1);
      time.passes(150);
    }
    assertThat(time.waits).isEmpty();
  }

  @Test
  void aPauseIsNotMadeUpForByABurst() throws Exception {
    RequestGate gate = gate(10, MINUTE);
    pass(gate, 1);
    time.passes(60_000);
    pass(gate, 2);

    assertThat(time.waits).containsExactly(100L);
  }

  @Test
  void withoutALimitNothingWaits() throws Exception {
    RequestGate gate = gate(0, MINUTE);
    pass(gate, 1000);
    assertThat(time.waits).isEmpty();
    assertThat(statistics.snapshot().counters())
        .containsExactly(Map.entry(StatisticNames.OP_GET_FILE_STATUS, 1000L));
    assertThat(statistics.snapshot().meanStatistics()).isEmpty();
  }

  @Test
  void waitsAreCountedAndTimed() throws Exception {
    RequestGate gate = gate(4, MINUTE);
    pass(gate, 3);
    assertThat(statistics.snapshot().counters()).containsEntry("store_io_rate_limited", 2L);
    assertThat(statistics.snapshot().meanStatistics())
        .containsEntry("store_io_rate_limited.mean", new MeanStatistic(2, 500));
  }

  @Test
  void anInterruptEndsTheWait() throws Exception {
    RequestGate gate = gate(10, MINUTE);
    pass(gate, 1);
    time.interrupts = true;

    assertThatThrownBy(() -> pass(gate, 1)).isInstanceOf(InterruptedIOException.class);
    assertThat(Thread.interrupted()).isTrue();
    time.interrupts = false;
    pass(gate, 1);
  }

  @Test
  void everyRequestOfAStoreCounts() throws Exception {
    MemoryFileSystem.state("rate").clear();
    MemoryFileSystem.state("rate").write("/t/a", "content");
    Path table = new Path("mem://rate/t");
    FileSystem fs = table.getFileSystem(MemoryFileSystem.configuration());
    HadoopStore store = new HadoopStore(fs, StoreTraits.UNKNOWN, gate(1000, MINUTE));
    store.mkdirs(new Path(table, "p"));
    store.status(table);
    store.list(table, 0, entry -> {});
    store.readStart(new Path(table, "a"), 100);
    store.write(new Path(table, "b"), out -> out.write(1));
    store.deleteFile(new Path(table, "b"));
    store.deleteEmptyDirectory(new Path(table, "p"));
    store.deleteTree(table);

    // A file and its content are one.
    assertThat(MemoryFileSystem.state("rate").requests()).hasSize(9).contains("write /t/b");
    assertThat(time.waits).hasSize(7).containsOnly(1L);
  }

  @ParameterizedTest
  @ValueSource(ints = {429, 503})
  void aRefusedRequestIsMadeAgainAfterAPause(int status) throws Exception {
    AtomicInteger tries = new AtomicInteger();
    String answer =
        gate(0, MINUTE)
            .pass(
                RequestKind.LOOK,
                "it",
                () -> {
                  switch (tries.incrementAndGet()) {
                    case 1 -> throw new HttpFailure(status);
                    case 2 -> throw new IOException("wrapped", new HttpFailure(status));
                    case 3 -> {
                      IOException several = new IOException("several");
                      several.addSuppressed(new IOException(new HttpFailure(status)));
                      throw several;
                    }
                    default -> {}
                  }
                  return "done";
                });
    assertThat(answer).isEqualTo("done");
    assertThat(time.waits).containsExactly(200L, 400L, 800L);
    assertThat(statistics.snapshot().counters()).containsEntry("store_io_throttled", 3L);
  }

  @ParameterizedTest
  @ValueSource(ints = {404, 409, 412, 500})
  void anyOtherFailureIsNotMadeAgain(int status) {
    AtomicInteger tries = new AtomicInteger();
    HttpFailure failure = new HttpFailure(status);
    assertThatThrownBy(
            () ->
                gate(0, MINUTE)
                    .pass(
                        RequestKind.LOOK,
                        "it",
                        () -> {
                          tries.incrementAndGet();
                          throw failure;
                        }))
        .isSameAs(failure);
    assertThat(tries).hasValue(1);
    assertThat(time.waits).isEmpty();
  }

  @Test
  void aRefusalSlowsDownEveryRequest() throws Exception {
    RequestGate gate = gate(0, MINUTE);
    for (int i = 0; i < 100; i++) {
      pass(gate, 1);
      time.passes(9);
    }
    assertThat(time.waits).isEmpty();
    pass(gate, 1, refusing(new AtomicInteger(), 1, 429));
    time.waits.clear();

    pass(gate, 10);

    // 85 of 100 a second, and slowly more.
    assertThat(time.waits).hasSize(10).allMatch(wait -> wait >= 10 && wait <= 12);
  }

  @Test
  void progressIsToldWhileARequestWaits() throws Exception {
    AtomicInteger tries = new AtomicInteger();
    pass(gate(0, MINUTE), 1, refusing(tries, 7, 503));
    // Pauses of 0.2 s to 12.8 s, 25.4 s in all.
    assertThat(progress.get()).isGreaterThanOrEqualTo(25);
  }

  @Test
  void givesUpAfterItsTimeAndSaysWhatToDo() {
    AtomicInteger tries = new AtomicInteger();
    CallableRaisingIOE<Boolean> refused = refusing(tries, Integer.MAX_VALUE, 503);
    assertThatThrownBy(
            () -> gate(0, MINUTE).pass(RequestKind.LOOK, "rename of abfs://c@a/x", refused))
        .isInstanceOf(RequestGate.StoreRefusedException.class)
        .hasMessageContainingAll(
            "rename of abfs://c@a/x", "throttle.timeout", "fewer jobs", "status 503")
        .hasCauseInstanceOf(HttpFailure.class);
    assertThat(time.elapsed()).isBetween(MINUTE, 2 * MINUTE);
    assertThat(tries).hasValueLessThan(20);
  }

  @Test
  void whatFollowsAfterGivingUpHasOneTryUntilTheStoreServesAgain() throws Exception {
    RequestGate gate = gate(0, MINUTE);
    AtomicInteger tries = new AtomicInteger();
    CallableRaisingIOE<Boolean> refused = refusing(tries, Integer.MAX_VALUE, 503);
    assertThatThrownBy(() -> gate.pass(RequestKind.LOOK, "the first", refused))
        .isInstanceOf(RequestGate.StoreRefusedException.class);
    tries.set(0);
    time.waits.clear();

    for (int i = 0; i < 10; i++) {
      assertThatThrownBy(() -> gate.pass(RequestKind.LOOK, "another", refused))
          .isInstanceOf(RequestGate.StoreRefusedException.class)
          .hasMessageContaining("another");
    }
    assertThat(tries).hasValue(10);
    assertThat(time.waits).isEmpty();

    pass(gate, 1);
    tries.set(0);
    assertThatThrownBy(() -> gate.pass(RequestKind.LOOK, "a later one", refused))
        .isInstanceOf(RequestGate.StoreRefusedException.class);
    assertThat(tries).hasValueGreaterThan(3);
  }

  @Test
  void withoutPatienceTheStoresOwnErrorComesAtOnce() {
    HttpFailure failure = new HttpFailure(429);
    fail(gate(0, 0), failure);
    assertThat(time.waits).isEmpty();
  }

  @Test
  void theRateSettlesUnderALimitThatNobodyTold() throws Exception {
    RequestGate gate = gate(0, MINUTE);
    LimitedStore store = new LimitedStore(100);
    pass(gate, 400, store);
    long begun = time.elapsed();
    pass(gate, 2000, store);
    double seconds = (time.elapsed() - begun) / 1000.0;
    assertThat(2000 / seconds).isBetween(80.0, 101.0);
    assertThat(store.refused).isBetween(1, (2400 + store.refused) / 10);
  }

  @Test
  void theRateFollowsALimitThatIsRaised() throws Exception {
    RequestGate gate = gate(0, MINUTE);
    LimitedStore store = new LimitedStore(50);
    pass(gate, 500, store);
    store.perSecond = 150;
    pass(gate, 3000, store);
    long begun = time.elapsed();
    pass(gate, 1500, store);
    assertThat(1500 / ((time.elapsed() - begun) / 1000.0)).isBetween(120.0, 152.0);
  }

  @Test
  void refusalsThatOnlyTheDriverSawSlowDownToo() throws Exception {
    RequestGate gate = gate(0, MINUTE);
    pass(gate, 5);
    gate.hidden(0);
    pass(gate, 5);
    assertThat(time.waits).isEmpty();

    gate.hidden(3);
    pass(gate, 3);

    // From the 10 that were served on; there is no pause, because the driver makes one.
    assertThat(time.waits).hasSize(2).allMatch(wait -> wait >= 100 && wait <= 118);
    assertThat(statistics.snapshot().counters()).containsEntry("store_io_throttled", 3L);
  }

  @Test
  void doesNotGrowWhileRequestsTakeLonger() throws Exception {
    RequestGate gate = new RequestGate(0, 16, MINUTE, () -> {}, time);
    for (int i = 0; i < 8; i++) {
      gate.pass(RequestKind.LOOK, "it", () -> time.passes(10));
    }
    for (int i = 0; i < 16; i++) {
      long millis = 30L << i;
      gate.pass(RequestKind.LOOK, "it", () -> time.passes(millis));
    }
    assertThat(mostAtOnce(gate)).isEqualTo(5);
  }

  @Test
  void onceThereIsARateRequestsThatWaitInTheirDriverKeepNobodyOut() throws Exception {
    RequestGate gate = new RequestGate(0, 16, MINUTE, () -> {}, time);
    gate.hidden(1);
    assertThat(mostAtOnce(gate)).isEqualTo(16);
  }

  @Test
  void beginsWithAQuarterOfTheRequestsAtOnceAndGrowsToAll() throws Exception {
    RequestGate gate = new RequestGate(0, 16, MINUTE, () -> {});
    assertThat(mostAtOnce(gate)).isEqualTo(4);
    pass(gate, 16 * 8);
    assertThat(mostAtOnce(gate)).isEqualTo(16);
  }

  @Test
  void halvesTheRequestsAtOnceWhenTheStoreFails() throws Exception {
    RequestGate gate = new RequestGate(0, 16, MINUTE, () -> {}, time);
    pass(gate, 16 * 8);
    fail(gate, new IOException("connection reset"));
    assertThat(mostAtOnce(gate)).isEqualTo(8);
  }

  @Test
  void anAnswerThatAFileIsMissingIsNoFailure() throws Exception {
    RequestGate gate = new RequestGate(0, 16, MINUTE, () -> {}, time);
    pass(gate, 16 * 8);
    fail(gate, new FileNotFoundException("none"));
    assertThat(mostAtOnce(gate)).isEqualTo(16);
  }

  /** Sends more than are let through, and counts those that are. */
  private static int mostAtOnce(RequestGate gate) throws Exception {
    int many = 24;
    CountDownLatch open = new CountDownLatch(1);
    AtomicInteger under = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    ExecutorService threads = Executors.newFixedThreadPool(many);
    try {
      List<Future<?>> requests = new ArrayList<>();
      List<Thread> waiting = new ArrayList<>();
      for (int i = 0; i < many; i++) {
        requests.add(
            threads.submit(
                () -> {
                  synchronized (waiting) {
                    waiting.add(Thread.currentThread());
                  }
                  return gate.passLong(
                      RequestKind.LOOK,
                      "it",
                      () -> {
                        most.accumulateAndGet(under.incrementAndGet(), Math::max);
                        try {
                          open.await();
                        } catch (InterruptedException e) {
                          throw new IOException(e);
                        }
                        return under.decrementAndGet();
                      });
                }));
      }
      // Until every thread has come to rest, inside the gate or before it.
      while (true) {
        synchronized (waiting) {
          if (waiting.size() == many && waiting.stream().allMatch(RequestGateTest::rests)) {
            break;
          }
        }
        Thread.onSpinWait();
      }
      open.countDown();
      for (Future<?> request : requests) {
        request.get();
      }
      return most.get();
    } finally {
      threads.shutdownNow();
    }
  }

  private static boolean rests(Thread thread) {
    return thread.getState() == Thread.State.WAITING
        || thread.getState() == Thread.State.TIMED_WAITING;
  }

  /** The first tries are refused. */
  private static CallableRaisingIOE<Boolean> refusing(AtomicInteger tries, int first, int status) {
    return () -> {
      if (tries.incrementAndGet() <= first) {
        throw new HttpFailure(status);
      }
      return true;
    };
  }

  private static void fail(RequestGate gate, IOException failure) {
    assertThatThrownBy(() -> gate.pass(RequestKind.LOOK, "it", () -> raise(failure)))
        .isSameAs(failure);
  }

  private static void pass(RequestGate gate, int requests) throws IOException {
    pass(gate, requests, () -> true);
  }

  private static void pass(RequestGate gate, int requests, CallableRaisingIOE<Boolean> request)
      throws IOException {
    for (int i = 0; i < requests; i++) {
      gate.pass(RequestKind.LOOK, "it", request);
    }
  }

  private RequestGate gate(int perSecond, long patience) {
    RequestGate gate = new RequestGate(perSecond, 8, patience, progress::incrementAndGet, time);
    gate.recordTo(statistics);
    return gate;
  }

  /** A store that refuses what comes faster than it serves; each request takes 2 ms. */
  private final class LimitedStore implements CallableRaisingIOE<Boolean> {
    private static final double BURST_SECONDS = 0.1;

    private double perSecond;
    private double tokens;
    private long last;
    private int refused;

    LimitedStore(double perSecond) {
      this.perSecond = perSecond;
    }

    @Override
    public Boolean apply() throws IOException {
      time.passes(2);
      long now = time.elapsed();
      tokens = Math.min(perSecond * BURST_SECONDS, tokens + perSecond * (now - last) / 1000);
      last = now;
      if (tokens < 1) {
        refused++;
        throw new HttpFailure(429);
      }
      tokens--;
      return true;
    }
  }

  /** As the exceptions of the connectors are. */
  public static final class HttpFailure extends IOException {
    private static final long serialVersionUID = 1L;

    private final int status;

    HttpFailure(int status) {
      super("status " + status);
      this.status = status;
    }

    /** Asked for by name. */
    public int getStatusCode() {
      return status;
    }
  }

  /** Time that passes only where somebody waits or says so. */
  private static final class Time implements RequestGate.Clock {
    private static final long START = -5;

    private final List<Long> waits = new ArrayList<>();
    private long now = START;
    private boolean interrupts;

    @Override
    public long nanos() {
      return now;
    }

    @Override
    public void sleep(long nanos) throws InterruptedException {
      if (interrupts) {
        throw new InterruptedException();
      }
      waits.add(TimeUnit.NANOSECONDS.toMillis(nanos));
      now += nanos;
    }

    boolean passes(long millis) {
      now += TimeUnit.MILLISECONDS.toNanos(millis);
      return true;
    }

    long elapsed() {
      return TimeUnit.NANOSECONDS.toMillis(now - START);
    }
  }
}
