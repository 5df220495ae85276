// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.faults.Verdict.End;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Runs cases, several at once, each lane with an emulator of its own. */
final class Matrix {
  /** No case takes nearly so long; one that does waits for something that never comes. */
  private static final Duration WEDGED = Duration.ofMinutes(3);

  private static final int PROGRESS = 500;

  private static final Duration WEDGED_IF_SLOW = Duration.ofMinutes(20);

  /**
   * A busy machine may be late with some other answer, and an impatient client then goes another
   * way. Where that way misses the request that was to go wrong, the case runs once more.
   */
  private static final int RUNS_IF_IMPATIENT = 3;

  private final Tally tally;

  Matrix(Tally tally) {
    this.tally = tally;
  }

  /** Runs all of them; most of the time of each is spent on waiting before a retry. */
  void run(StoreUnderTest store, List<FaultCase> cases, int lanes)
      throws IOException, InterruptedException {
    if (cases.isEmpty()) {
      return;
    }
    ConcurrentLinkedQueue<FaultCase> queue = new ConcurrentLinkedQueue<>(cases);
    AtomicInteger done = new AtomicInteger();
    ExecutorService threads = Executors.newFixedThreadPool(lanes);
    ScheduledExecutorService watch = Executors.newSingleThreadScheduledExecutor();
    try {
      List<Future<Void>> running = new ArrayList<>();
      for (int i = 0; i < lanes; i++) {
        running.add(
            threads.submit(
                () -> {
                  try (Lane lane = Lane.open(store)) {
                    for (FaultCase next = queue.poll(); next != null; next = queue.poll()) {
                      run(lane, next, watch);
                      if (done.incrementAndGet() % PROGRESS == 0) {
                        System.out.printf("%s: %d of %d%n", store, done.get(), cases.size());
                      }
                    }
                  }
                  return null;
                }));
      }
      for (Future<Void> lane : running) {
        lane.get();
      }
    } catch (ExecutionException e) {
      throw new IOException("A lane of the matrix ended", e.getCause());
    } finally {
      threads.shutdownNow();
      watch.shutdownNow();
    }
  }

  private void run(Lane lane, FaultCase faultCase, ScheduledExecutorService watch)
      throws InterruptedException {
    Thread self = Thread.currentThread();
    AtomicBoolean wedged = new AtomicBoolean();
    ScheduledFuture<?> alarm =
        watch.schedule(
            () -> {
              wedged.set(true);
              self.interrupt();
            },
            (faultCase.takesMinutes() ? WEDGED_IF_SLOW : WEDGED).toMillis(),
            TimeUnit.MILLISECONDS);
    try {
      lane.expectStall(faultCase.fault() == Fault.DONE_STALLED);
      lane.run(
          () -> {
            int left = lane.isImpatient() ? RUNS_IF_IMPATIENT : 1;
            while (!meets(lane, faultCase)) {
              if (--left == 0) {
                tally.notMet(faultCase);
                break;
              }
            }
            return null;
          });
    } catch (IOException | RuntimeException | AssertionError | InterruptedException e) {
      tally.violation(faultCase, wedged.get() ? new AssertionError("It does not end", e) : e);
    } finally {
      alarm.cancel(false);
      lane.emulator().faults().clear();
      if (wedged.get()) {
        Thread.interrupted();
      }
    }
  }

  /** Runs the case once; false if the request that was to go wrong was not made. */
  private boolean meets(Lane lane, FaultCase faultCase) throws IOException {
    lane.onExistingDirectory(faultCase.onto());
    Trial trial = faultCase.scenario().trial(lane, faultCase.repair());
    trial.prepare();
    FaultRule rule =
        faultCase.fault().rule(faultCase.store(), faultCase.operation(), faultCase.n());
    lane.emulator().faults().add(rule);
    Optional<Exception> failure = act(trial);
    lane.emulator().faults().clear();
    Verdict verdict;
    try {
      verdict = trial.judge(failure);
      assertThat(lane.onDisk()).as("on the executor's disk").isEmpty();
      if (!faultCase.mayLeaveUploads()) {
        trial.assertNoUploads();
      }
    } catch (IOException | RuntimeException | AssertionError e) {
      failure.ifPresent(e::addSuppressed);
      throw e;
    }
    trial.forget();
    lane.emulator().log().clear();
    if (rule.applied() == 0) {
      return false;
    }
    tally.count(faultCase, verdict);
    if (verdict.end() != End.OK) {
      failure.ifPresent(e -> tally.example(faultCase, e));
    }
    return true;
  }

  // Scala's methods throw checked exceptions that they do not declare.
  private static Optional<Exception> act(Trial trial) {
    try {
      trial.act();
      return Optional.empty();
    } catch (Exception e) {
      return Optional.of(e);
    }
  }
}
