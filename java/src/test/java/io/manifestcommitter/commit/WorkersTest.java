// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import static io.manifestcommitter.testing.Failures.raise;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.progress.CommitSnapshot.Kind;
import io.manifestcommitter.progress.CommitSnapshot.State;
import io.manifestcommitter.progress.Commits;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class WorkersTest {
  private static final int THREADS = 4;

  private final Set<Thread> used = ConcurrentHashMap.newKeySet();
  private final AtomicInteger progress = new AtomicInteger();
  private final Workers workers =
      new Workers(THREADS, progress::incrementAndGet, Audit.job("job"), CommitProgress.unwatched());

  @AfterEach
  void noThreadIsLeft() {
    assertThat(used).noneMatch(Thread::isAlive);
  }

  @Test
  void everyItemIsDoneOnce() throws Exception {
    Queue<Integer> done = new ConcurrentLinkedQueue<>();
    workers.forEach(
        items(1000),
        item -> {
          used.add(Thread.currentThread());
          done.add(item);
        });

    assertThat(done).containsExactlyInAnyOrderElementsOf(items(1000));
    assertThat(progress).hasValue(1000);
  }

  @Test
  void resultsAreInTheOrderOfTheItems() throws Exception {
    CountDownLatch lastIsDone = new CountDownLatch(1);
    List<String> results =
        workers.map(
            items(20),
            item -> {
              if (item == 0) {
                await(lastIsDone::await);
              }
              if (item == 19) {
                lastIsDone.countDown();
              }
              return "r" + item;
            });

    assertThat(results)
        .containsExactlyElementsOf(items(20).stream().map(item -> "r" + item).toList());
  }

  @Test
  void equalItemsHaveAResultEach() throws Exception {
    assertThat(workers.map(List.of("a", "a", "b"), item -> item + item))
        .containsExactly("aa", "aa", "bb");
  }

  @Test
  void asManyAreUnderWayAsAllowedAndNoMore() throws Exception {
    AtomicInteger underWay = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CyclicBarrier together = new CyclicBarrier(THREADS);
    workers.forEach(
        items(10 * THREADS),
        item -> {
          used.add(Thread.currentThread());
          most.accumulateAndGet(underWay.incrementAndGet(), Math::max);
          await(together::await);
          underWay.decrementAndGet();
        });

    assertThat(most).hasValue(THREADS);
    assertThat(used).hasSize(THREADS);
  }

  /** Where memory is short, its text may need some more. */
  @Test
  void theFailureOfAnItemThatCannotBeNamedIsTold() {
    Object nameless =
        new Object() {
          @Override
          public String toString() {
            throw new OutOfMemoryError("no room for a name");
          }
        };
    assertThatThrownBy(
            () ->
                workers.forEach(
                    List.of(nameless, nameless), item -> raise(new IOException("not renamed"))))
        .isInstanceOf(IOException.class)
        .hasMessage("not renamed");
  }

  @Test
  void fewItemsNeedFewThreads() throws Exception {
    workers.forEach(items(2), item -> used.add(Thread.currentThread()));

    assertThat(used).hasSizeBetween(1, 2).doesNotContain(Thread.currentThread());
  }

  @Test
  void threadsAreDaemonsWithTheClassLoaderOfTheCaller() throws Exception {
    AtomicReference<ClassLoader> loader = new AtomicReference<>();
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    ClassLoader ours = new ClassLoader(before) {};
    Thread.currentThread().setContextClassLoader(ours);
    try {
      workers.forEach(
          items(1),
          item -> {
            used.add(Thread.currentThread());
            loader.set(Thread.currentThread().getContextClassLoader());
          });
    } finally {
      Thread.currentThread().setContextClassLoader(before);
    }

    assertThat(loader).hasValue(ours);
    assertThat(used).hasSize(1).allMatch(Thread::isDaemon);
  }

  @Test
  void theItemThatFailedFirstIsKnown() {
    assertThat(workers.failedItem()).isEmpty();
    assertThatThrownBy(
            () ->
                workers.map(
                    List.of("a", "b"),
                    item -> item.equals("b") ? raise(new IOException("no")) : item))
        .hasMessage("no");
    assertThatThrownBy(
        () -> workers.forEach(List.of("later"), item -> raise(new IOException(item))));

    assertThat(workers.failedItem()).contains("b");
  }

  @Test
  void whoGoesThroughItemsTellsThatWorkGoesOn() {
    List<Integer> seen = new ArrayList<>();
    workers.telling(items(10)).forEach(seen::add);

    assertThat(seen).isEqualTo(items(10));
    assertThat(progress).hasValue(10);
  }

  @Test
  void afterAFailureNoMoreIsBegun() {
    Queue<Integer> begun = new ConcurrentLinkedQueue<>();
    IOException failure = new IOException("item 2");

    assertThatThrownBy(
            () ->
                workers(1)
                    .forEach(
                        items(10),
                        item -> {
                          begun.add(item);
                          if (item == 2) {
                            throw failure;
                          }
                        }))
        .isSameAs(failure)
        .hasNoSuppressedExceptions();
    assertThat(begun).containsExactly(0, 1, 2);
  }

  @Test
  void workUnderWayIsWaitedForAfterAFailure() {
    AtomicReference<Thread> failing = new AtomicReference<>();
    CountDownLatch bothBegun = new CountDownLatch(2);
    Queue<Integer> done = new ConcurrentLinkedQueue<>();

    assertThatThrownBy(
            () ->
                workers(2)
                    .forEach(
                        items(10),
                        item -> {
                          if (item == 0) {
                            failing.set(Thread.currentThread());
                          }
                          bothBegun.countDown();
                          await(bothBegun::await);
                          if (item == 0) {
                            throw new IOException("item 0");
                          }
                          await(failing.get()::join);
                          done.add(item);
                        }))
        .hasMessage("item 0");
    assertThat(done).containsExactly(1);
  }

  @Test
  void furtherFailuresAreSuppressedInTheFirst() {
    CyclicBarrier together = new CyclicBarrier(THREADS);
    AtomicInteger begun = new AtomicInteger();

    Throwable thrown =
        catchThrowable(
            () ->
                workers.forEach(
                    items(100),
                    item -> {
                      begun.incrementAndGet();
                      await(together::await);
                      throw new IOException("item " + item);
                    }));

    assertThat(thrown).isInstanceOf(IOException.class);
    assertThat(thrown.getSuppressed()).hasSize(THREADS - 1);
    assertThat(begun).hasValue(THREADS);
  }

  @Test
  void oneExceptionThrownByManyIsNotSuppressedInItself() {
    CyclicBarrier together = new CyclicBarrier(THREADS);
    IOException failure = new IOException("the same for all");

    assertThatThrownBy(
            () ->
                workers.forEach(
                    items(THREADS),
                    item -> {
                      await(together::await);
                      throw failure;
                    }))
        .isSameAs(failure)
        .hasNoSuppressedExceptions();
  }

  @Test
  void failuresKeepTheirType() {
    for (Throwable failure : failures()) {
      assertThatThrownBy(() -> workers.forEach(items(1), item -> raise(failure))).isSameAs(failure);
      assertThatThrownBy(() -> workers.map(items(1), item -> raise(failure))).isSameAs(failure);
    }
  }

  private static List<Throwable> failures() {
    return List.of(
        new FileNotFoundException("gone"),
        new IllegalStateException("unchecked"),
        new AssertionError("an error"));
  }

  @Test
  void nestedUseIsRefused() throws Exception {
    Queue<Throwable> refusals = new ConcurrentLinkedQueue<>();
    workers.forEach(
        items(3),
        item -> {
          refusals.add(catchThrowable(() -> workers.forEach(items(1), inner -> {})));
          refusals.add(catchThrowable(() -> workers.map(items(1), inner -> inner)));
        });

    assertThat(refusals).hasSize(6).allMatch(IllegalStateException.class::isInstance);
  }

  @Test
  void aShieldedStoryRunsElsewhere() throws Exception {
    workers.shield(
        () -> {
          workers.forEach(items(2), item -> used.add(Thread.currentThread()));
          used.add(Thread.currentThread());
        });

    assertThat(used).hasSizeGreaterThan(1).doesNotContain(Thread.currentThread());
  }

  @Test
  void aShieldedStoryKeepsTheTypeOfItsFailure() {
    for (Throwable failure : failures()) {
      assertThatThrownBy(() -> workers.shield(() -> raise(failure))).isSameAs(failure);
    }
  }

  @Test
  void anInterruptStopsBetweenItemsAndIsRestored() throws Exception {
    CountDownLatch underWay = new CountDownLatch(2);
    Queue<Integer> begun = new ConcurrentLinkedQueue<>();
    Queue<Integer> finished = new ConcurrentLinkedQueue<>();
    AtomicInteger reached = new AtomicInteger();
    Workers two = workers(2);
    Caller caller =
        new Caller(
            () ->
                two.shield(
                    () -> {
                      two.forEach(
                          items(10),
                          item -> {
                            used.add(Thread.currentThread());
                            begun.add(item);
                            underWay.countDown();
                            awaitInterrupt(two);
                            if (Thread.currentThread().isInterrupted()) {
                              reached.incrementAndGet();
                            }
                            finished.add(item);
                          });
                    }));

    underWay.await();
    caller.interrupt();
    caller.join();

    assertThat(caller.failure)
        .isInstanceOf(InterruptedIOException.class)
        .hasMessageContaining("interrupted");
    assertThat(caller.interruptedAtTheEnd).isTrue();
    assertThat(begun).containsExactlyInAnyOrder(0, 1);
    assertThat(finished).containsExactlyInAnyOrder(0, 1);
    assertThat(reached).as("requests that were interrupted").hasValue(0);
  }

  @Test
  void aStoryMayEndInItsOwnWayAfterAnInterrupt() throws Exception {
    CountDownLatch underWay = new CountDownLatch(1);
    Queue<Integer> rolledBack = new ConcurrentLinkedQueue<>();
    Caller caller =
        new Caller(
            () ->
                workers.shield(
                    () -> {
                      underWay.countDown();
                      awaitInterrupt(workers);
                      InterruptedIOException stopped =
                          (InterruptedIOException)
                              catchThrowable(() -> workers.forEach(items(3), item -> {}));
                      workers.toItsEnd();
                      workers.forEach(items(3), rolledBack::add);
                      throw stopped;
                    }));

    underWay.await();
    caller.interrupt();
    caller.join();

    assertThat(caller.failure).isInstanceOf(InterruptedIOException.class);
    assertThat(rolledBack).containsExactlyInAnyOrder(0, 1, 2);
    assertThat(caller.interruptedAtTheEnd).isTrue();
  }

  @Test
  void toItsEndAnInterruptStopsNothing() throws Exception {
    CountDownLatch underWay = new CountDownLatch(1);
    CountDownLatch interruptWasTaken = new CountDownLatch(1);
    Queue<Integer> done = new ConcurrentLinkedQueue<>();
    Caller caller =
        new Caller(
            () ->
                workers.shield(
                    () -> {
                      workers.toItsEnd();
                      workers.forEach(
                          items(50),
                          item -> {
                            used.add(Thread.currentThread());
                            underWay.countDown();
                            await(interruptWasTaken::await);
                            done.add(item);
                          });
                      workers.checkInterrupted();
                    }));

    underWay.await();
    caller.interrupt();
    while (caller.isInterrupted()) {
      Thread.onSpinWait();
    }
    interruptWasTaken.countDown();
    caller.join();

    assertThat(caller.failure).isNull();
    assertThat(done).containsExactlyInAnyOrderElementsOf(items(50));
    assertThat(caller.interruptedAtTheEnd).isTrue();
  }

  @Test
  void aCancelStopsBetweenItemsUntilAllGoesForward() throws Exception {
    CommitProgress commit =
        Commits.begin(Kind.COMMIT, "plan", "job", "file:/t", new StatisticsRecorder());
    Workers cancelled = new Workers(1, () -> {}, Audit.job("job"), commit);
    List<Integer> done = new ArrayList<>();
    assertThatThrownBy(
            () ->
                cancelled.forEach(
                    items(50),
                    item -> {
                      done.add(item);
                      assertThat(commit.cancel()).isTrue();
                    }))
        .isInstanceOf(InterruptedIOException.class)
        .hasMessage("The commit was cancelled");
    assertThat(done).hasSize(1);
    assertThatThrownBy(cancelled::forwardToItsEnd).isInstanceOf(InterruptedIOException.class);

    cancelled.toItsEnd();
    cancelled.forEach(items(50), done::add);
    assertThat(done).as("also what rolls it back").hasSize(51);
    commit.end(State.FAILED);
  }

  @Test
  void aCallerThatWasInterruptedBeforeStaysSo() throws Exception {
    Queue<Integer> done = new ConcurrentLinkedQueue<>();
    CountDownLatch go = new CountDownLatch(1);
    Caller caller =
        new Caller(
            () -> {
              Thread.currentThread().interrupt();
              workers.shield(
                  () -> {
                    await(go::await);
                    awaitInterrupt(workers);
                    workers.forEach(items(3), done::add);
                  });
            });
    go.countDown();
    caller.join();

    assertThat(caller.failure).isInstanceOf(InterruptedIOException.class);
    assertThat(done).isEmpty();
    assertThat(caller.interruptedAtTheEnd).isTrue();
  }

  private static Workers workers(int threads) {
    return new Workers(threads, () -> {}, Audit.job("job"), CommitProgress.unwatched());
  }

  private static List<Integer> items(int count) {
    return IntStream.range(0, count).boxed().toList();
  }

  /** Returns once the interrupt of the caller has reached the workers. */
  private static void awaitInterrupt(Workers workers) {
    while (true) {
      try {
        workers.checkInterrupted();
        Thread.onSpinWait();
      } catch (InterruptedIOException e) {
        return;
      }
    }
  }

  private static void await(Call wait) throws IOException {
    try {
      wait.run();
    } catch (Exception e) {
      throw new IOException("a request was interrupted", e);
    }
  }

  /** A thread that can be interrupted, and notes how its call ended. */
  private static final class Caller extends Thread {
    private final Call call;
    private volatile Throwable failure;
    private volatile boolean interruptedAtTheEnd;

    Caller(Call call) {
      this.call = call;
      setDaemon(true);
      start();
    }

    @Override
    public void run() {
      try {
        call.run();
      } catch (Throwable e) {
        failure = e;
      }
      interruptedAtTheEnd = isInterrupted();
    }
  }

  private interface Call {
    void run() throws Exception;
  }
}
