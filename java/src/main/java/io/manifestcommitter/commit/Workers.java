package io.manifestcommitter.commit;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The one owner of threads. Threads live no longer than the call that needs them, so nothing has to
 * be closed (the paper, section XIV, tells what a forgotten pool does to a long-lived driver).
 *
 * <p>An interrupt of the caller never reaches a store request: it ends the work between two
 * requests, so that the outcome of each request is known.
 */
public final class Workers {
  private static final AtomicInteger NUMBER = new AtomicInteger();

  private final ThreadLocal<Boolean> inside = ThreadLocal.withInitial(() -> false);
  private final int threads;
  private final Runnable progress;
  private volatile boolean interrupted;
  private volatile boolean toItsEnd;

  /**
   * Workers for one commit.
   *
   * @param threads how many requests may be under way at once
   * @param progress called after each piece of work, from any thread
   */
  public Workers(int threads, Runnable progress) {
    if (threads < 1) {
      throw new IllegalArgumentException("At least one thread is needed, not " + threads);
    }
    this.threads = threads;
    this.progress = Objects.requireNonNull(progress);
  }

  /**
   * Runs a whole story in a thread of its own and waits for it, so that an interrupt of the caller
   * cannot hit a request. The interrupt makes {@link #checkInterrupted} and the next piece of work
   * fail; the story then ends in its own way, and the caller's interrupt status is set again.
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
    if (inside.get()) {
      throw new IllegalStateException("A step's workers were used inside that step");
    }
    Run<T> run = new Run<>(items.iterator(), action);
    int wanted = Math.min(threads, items.size());
    List<Thread> started = new ArrayList<>(wanted);
    try {
      for (int i = 0; i < wanted; i++) {
        Thread thread = thread(run);
        thread.start();
        started.add(thread);
      }
    } catch (OutOfMemoryError e) {
      // No more threads to be had: those that started do the work, more slowly.
      if (started.isEmpty()) {
        throw e;
      }
    } finally {
      awaitAll(started);
    }
    run.throwFailure();
  }

  /** As {@link #forEach}, with the results in the order of the items. */
  public <T, R> List<R> map(Collection<? extends T> items, Mapping<? super T, ? extends R> mapping)
      throws IOException {
    List<T> ordered = new ArrayList<>(items);
    List<Integer> positions = new ArrayList<>(ordered.size());
    for (int i = 0; i < ordered.size(); i++) {
      positions.add(i);
    }
    ConcurrentMap<Integer, R> results = new ConcurrentHashMap<>();
    forEach(positions, i -> results.put(i, mapping.apply(ordered.get(i))));
    List<R> list = new ArrayList<>(ordered.size());
    positions.forEach(i -> list.add(results.get(i)));
    return list;
  }

  /**
   * Fails if the caller was interrupted, unless the work has to go {@link #toItsEnd}.
   *
   * @throws InterruptedIOException if so
   */
  public void checkInterrupted() throws InterruptedIOException {
    if (interrupted && !toItsEnd) {
      throw new InterruptedIOException("The commit was interrupted");
    }
  }

  /**
   * From here on an interrupt is remembered but stops nothing: what has begun would be worse half
   * done.
   */
  public void toItsEnd() {
    toItsEnd = true;
  }

  private Thread thread(Runnable work) {
    Thread thread = new Thread(work, "manifest-committer-" + NUMBER.incrementAndGet());
    thread.setDaemon(true);
    thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
    return thread;
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

  /** Work on one item. */
  @FunctionalInterface
  public interface Action<T> {
    /** Does it. */
    void accept(T item) throws IOException;
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
    private final Action<? super T> action;
    private Throwable failure;

    Run(Iterator<? extends T> items, Action<? super T> action) {
      this.items = items;
      this.action = action;
    }

    @Override
    public void run() {
      inside.set(true);
      try {
        Next<T> next = next();
        while (next != null) {
          action.accept(next.item);
          progress.run();
          next = next();
        }
      } catch (Throwable e) {
        fail(e);
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

    private synchronized void fail(Throwable e) {
      if (failure == null) {
        failure = e;
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
