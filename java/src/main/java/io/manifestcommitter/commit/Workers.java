// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.progress.WorkCount;
import io.manifestcommitter.store.CallerContext;
import io.manifestcommitter.store.Retries;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The one owner of threads. Threads live no longer than the call that needs them, so nothing has to
 * be closed. "A Zero-Rename Committer", section XIV, describes what a forgotten pool does to a
 * long-lived driver.
 *
 * <p>An interrupt of the caller never reaches a store request: it ends the work between two
 * requests, so that the outcome of each request is known.
 */
public final class Workers {
  private static final AtomicInteger NUMBER = new AtomicInteger();

  private final ThreadLocal<Boolean> inside = ThreadLocal.withInitial(() -> false);
  private final int threads;
  private final Runnable progress;
  private final Audit audit;
  private final CommitProgress commit;
  private volatile boolean interrupted;
  private volatile boolean toItsEnd;
  private volatile String failedItem;

  /**
   * Workers for one commit.
   *
   * @param threads how many requests may be under way at once
   * @param progress called after each piece of work, from any thread
   * @param audit what every thread tells the store's connector
   */
  public Workers(int threads, Runnable progress, Audit audit) {
    this(threads, progress, audit, CommitProgress.unwatched());
  }

  /**
   * Workers for one commit that is watched.
   *
   * @param commit is told what they do
   */
  public Workers(int threads, Runnable progress, Audit audit, CommitProgress commit) {
    if (threads < 1) {
      throw new IllegalArgumentException("At least one thread is needed, not " + threads);
    }
    this.threads = threads;
    this.progress = Objects.requireNonNull(progress);
    this.audit = Objects.requireNonNull(audit);
    this.commit = Objects.requireNonNull(commit);
  }

  /** Names the step that begins, for the log and for the store's. */
  public void step(String name) {
    commit.enter(name);
    audit.stage(name);
  }

  /** How far their commit has come. */
  CommitProgress commit() {
    return commit;
  }

  /** The first item on which work failed, as text; empty while none has. */
  Optional<String> failedItem() {
    return Optional.ofNullable(failedItem);
  }

  /** The same items; reports progress for every item iterated. */
  <T> Iterable<T> telling(Iterable<T> items) {
    return () -> {
      Iterator<T> each = items.iterator();
      return new Iterator<T>() {
        @Override
        public boolean hasNext() {
          return each.hasNext();
        }

        @Override
        public T next() {
          progress.run();
          return each.next();
        }
      };
    };
  }

  /**
   * Runs a whole story in a thread of its own and waits for it, so that an interrupt of the caller
   * cannot hit a request. The interrupt, or a cancel of the commit, makes {@link #checkInterrupted}
   * and the next piece of work fail. The story then ends in its own way, and the caller's interrupt
   * status is set again.
   */
  public <T> T shield(Callable<T> story) throws IOException {
    Outcome<T> outcome = new Outcome<>();
    Thread thread = thread(() -> outcome.of(story));
    thread.start();
    awaitAll(List.of(thread));
    return outcome.get();
  }

  /**
   * Does {@code action} on every item, in parallel. The first failure stops the rest: work under
   * way is waited for, no more is begun, and the failure is thrown with all others suppressed in
   * it.
   *
   * @throws IllegalStateException if called from within an action: the two would wait for each
   *     other's threads
   */
  public <T> void forEach(Collection<? extends T> items, Action<? super T> action)
      throws IOException {
    forEach(items.iterator(), items.size(), action);
  }

  /**
   * As above, for items that are not all in memory at once.
   *
   * @param items asked for one by one, by one thread at a time
   * @param count how many there are
   */
  public <T> void forEach(Iterator<? extends T> items, int count, Action<? super T> action)
      throws IOException {
    try (WorkCount work = commit.count(count)) {
      Run<T> run = new Run<>(items, work, action);
      awaitAll(start(run, count));
      run.throwFailure();
    }
  }

  /**
   * Produces something from each item in parallel, and consumes it in the calling thread, in no
   * particular order. Fails as {@link #forEach}, also if the consumer does.
   *
   * @param capacity how many products may wait for the consumer
   */
  public <T, R> void pipe(
      Collection<? extends T> items,
      Mapping<? super T, ? extends R> producer,
      int capacity,
      Action<? super R> consumer)
      throws IOException {
    pipe(
        items.iterator(),
        items.size(),
        (item, products) -> products.accept(producer.apply(item)),
        capacity,
        consumer);
  }

  /**
   * As above, for items that are not all in memory at once, of which each may produce any number.
   *
   * @param items asked for one by one, by one thread at a time
   * @param count how many there are
   */
  public <T, R> void pipe(
      Iterator<? extends T> items,
      int count,
      Producer<? super T, R> producer,
      int capacity,
      Action<? super R> consumer)
      throws IOException {
    requireOutside();
    Handover<R> handover = new Handover<>(capacity);
    Outcome<Void> produced = new Outcome<>();
    Thread producing =
        thread(
            () -> {
              produced.of(
                  () -> {
                    forEach(items, count, item -> producer.produce(item, handover::put));
                    return null;
                  });
              handover.complete();
            });
    producing.start();
    try {
      for (R product = handover.take(); product != null; product = handover.take()) {
        consumer.accept(product);
      }
    } catch (IOException | RuntimeException | Error e) {
      handover.abandon();
      awaitAll(List.of(producing));
      produced.suppressIn(e);
      throw e;
    }
    awaitAll(List.of(producing));
    produced.get();
  }

  /** As {@link #forEach}, with the results in the order of the items. */
  public <T, R> List<R> map(Collection<? extends T> items, Mapping<? super T, ? extends R> mapping)
      throws IOException {
    List<Numbered<T>> ordered = new ArrayList<>(items.size());
    for (T item : items) {
      ordered.add(new Numbered<>(ordered.size(), item));
    }
    ConcurrentMap<Integer, R> results = new ConcurrentHashMap<>();
    forEach(ordered, item -> results.put(item.number(), mapping.apply(item.item())));
    List<R> list = new ArrayList<>(ordered.size());
    ordered.forEach(item -> list.add(results.get(item.number())));
    return list;
  }

  /**
   * Does things beside one another and waits for all of them; each may use these workers. Fails
   * with the first that failed, in their order, and the failures of the others suppressed in it.
   * With one thread, one after the other.
   */
  public void beside(Retries.Request... all) throws IOException {
    requireOutside();
    if (threads == 1) {
      for (Retries.Request one : all) {
        one.run();
      }
      return;
    }
    List<Outcome<Void>> outcomes = new ArrayList<>();
    List<Thread> running = new ArrayList<>();
    for (Retries.Request one : all) {
      Outcome<Void> outcome = new Outcome<>();
      Thread thread =
          thread(
              () ->
                  outcome.of(
                      () -> {
                        one.run();
                        return null;
                      }));
      outcomes.add(outcome);
      running.add(thread);
      thread.start();
    }
    awaitAll(running);
    Throwable first = null;
    for (Outcome<Void> outcome : outcomes) {
      if (first == null) {
        first = outcome.failure;
      } else {
        outcome.suppressIn(first);
      }
    }
    rethrow(first);
  }

  /**
   * Fails if the caller was interrupted, or the commit cancelled, unless the work has to go {@link
   * #toItsEnd}.
   *
   * @throws InterruptedIOException if so
   */
  public void checkInterrupted() throws InterruptedIOException {
    if (toItsEnd) {
      return;
    }
    if (interrupted) {
      throw new InterruptedIOException("The commit was interrupted");
    }
    commit.requireNotCancelled();
  }

  /**
   * Fails as {@link #checkInterrupted}; if not, all goes forward {@link #toItsEnd}, and a cancel is
   * told that it comes too late.
   */
  public void forwardToItsEnd() throws InterruptedIOException {
    checkInterrupted();
    commit.passCancel();
    toItsEnd();
  }

  /**
   * From here on an interrupt is remembered but stops nothing, and a cancel neither: what has begun
   * would be worse half done.
   */
  public void toItsEnd() {
    toItsEnd = true;
  }

  /** Starts threads for the work, one for each item and never more than allowed. */
  private List<Thread> start(Runnable work, int items) {
    requireOutside();
    int wanted = Math.min(threads, items);
    List<Thread> started = new ArrayList<>(wanted);
    try {
      for (int i = 0; i < wanted; i++) {
        Thread thread = thread(work);
        thread.start();
        started.add(thread);
      }
    } catch (OutOfMemoryError e) {
      // No more threads to be had: those that started do the work, more slowly.
      if (started.isEmpty()) {
        throw e;
      }
    }
    return started;
  }

  private void requireOutside() {
    if (inside.get()) {
      throw new IllegalStateException("A step's workers were used inside that step");
    }
  }

  private Thread thread(Runnable work) {
    Runnable audited =
        () -> {
          audit.enter();
          work.run();
        };
    return CallerContext.current()
        .thread("manifest-committer-" + NUMBER.incrementAndGet(), audited);
  }

  private void awaitAll(List<Thread> running) {
    boolean interruptedHere = false;
    for (Thread thread : running) {
      while (true) {
        try {
          thread.join();
          break;
        } catch (InterruptedException e) {
          interruptedHere = true;
          interrupted = true;
        }
      }
    }
    if (interruptedHere) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * What something gives that is done {@link #beside} other things: once {@link #beside} has
   * returned, {@link #get} has it.
   */
  public static final class Result<T> implements Retries.Request {
    private final Retries.Answer<T> request;
    private volatile T value;

    private Result(Retries.Answer<T> request) {
      this.request = request;
    }

    /** The result of {@code request}, which is made when this runs, and never gives null. */
    public static <T> Result<T> of(Retries.Answer<T> request) {
      return new Result<>(request);
    }

    @Override
    public void run() throws IOException {
      value = Objects.requireNonNull(request.get());
    }

    /** What it gave. */
    public T get() {
      return find().orElseThrow(IllegalStateException::new);
    }

    /** What it gave; empty if it failed, or did not run. */
    public Optional<T> find() {
      return Optional.ofNullable(value);
    }
  }

  /** Work on one item. */
  @FunctionalInterface
  public interface Action<T> {
    /** Does it. */
    void accept(T item) throws IOException;
  }

  /** Work on one item that has any number of products, none of them null. */
  public interface Producer<T, R> {
    /** Does it; each product goes to {@code products}. */
    void produce(T item, Action<R> products) throws IOException;
  }

  /** Work on one item that has a result, never null. */
  @FunctionalInterface
  public interface Mapping<T, R> {
    /** Does it. */
    R apply(T item) throws IOException;
  }

  /** The shared state of the threads of one {@link #forEach}. */
  private final class Run<T> implements Runnable {
    private final Iterator<? extends T> items;
    private final WorkCount work;
    private final Action<? super T> action;
    private Throwable failure;

    Run(Iterator<? extends T> items, WorkCount work, Action<? super T> action) {
      this.items = items;
      this.work = work;
      this.action = action;
    }

    @Override
    public void run() {
      inside.set(true);
      Next<T> next = null;
      try {
        next = next();
        while (next != null) {
          action.accept(next.item);
          progress.run();
          work.tick();
          next = next();
        }
      } catch (Throwable e) {
        fail(next == null ? null : next.item, e);
      } finally {
        inside.remove();
      }
    }

    private synchronized Next<T> next() throws IOException {
      if (failure != null || !items.hasNext()) {
        return null;
      }
      checkInterrupted();
      return new Next<>(items.next());
    }

    private synchronized void fail(T item, Throwable e) {
      if (failure == null) {
        failure = e;
        if (failedItem == null && item != null) {
          failedItem = item.toString();
        }
      } else if (failure != e) {
        failure.addSuppressed(e);
      }
    }

    synchronized void throwFailure() throws IOException {
      rethrow(failure);
    }
  }

  private static final class Next<T> {
    final T item;

    Next(T item) {
      this.item = item;
    }
  }

  /** What a story returned or threw. */
  private static final class Outcome<T> {
    private T value;
    private Throwable failure;

    void of(Callable<T> story) {
      try {
        value = story.call();
      } catch (Throwable e) {
        failure = e;
      }
    }

    T get() throws IOException {
      rethrow(failure);
      return value;
    }

    /** Tells what else went wrong with {@code cause}, unless it is only that nobody listened. */
    void suppressIn(Throwable cause) {
      if (failure != null
          && failure != cause
          && !(failure instanceof Handover.AbandonedException)) {
        cause.addSuppressed(failure);
      }
    }
  }

  private static void rethrow(Throwable failure) throws IOException {
    if (failure == null) {
      return;
    }
    if (failure instanceof IOException) {
      throw (IOException) failure;
    }
    if (failure instanceof RuntimeException) {
      throw (RuntimeException) failure;
    }
    if (failure instanceof Error) {
      throw (Error) failure;
    }
    throw new IOException(failure);
  }
}
