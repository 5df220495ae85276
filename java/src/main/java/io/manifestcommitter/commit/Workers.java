// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.store.CallerContext;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.util.functional.CallableRaisingIOE;
import org.apache.hadoop.util.functional.ConsumerRaisingIOE;
import org.apache.hadoop.util.functional.FunctionRaisingIOE;
import org.apache.hadoop.util.functional.InvocationRaisingIOE;

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

  /** How far their commit has come. */
  final CommitProgress commit;

  private volatile boolean interrupted;
  private volatile boolean toItsEnd;
  private volatile String failedItem;

  /**
   * Workers for one commit.
   *
   * @param threads how many requests may be under way at once
   * @param progress called after each piece of work, from any thread
   * @param audit what every thread tells the store's connector
   * @param commit is told what they do
   */
  public Workers(int threads, Runnable progress, Audit audit, CommitProgress commit) {
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

  /** The first item on which work failed, as text; empty while none has. */
  Optional<String> failedItem() {
    return Optional.ofNullable(failedItem);
  }

  /** The same items; reports progress for every item iterated. */
  <T> Iterable<T> telling(Collection<T> items) {
    return () -> items.stream().peek(any -> progress.run()).iterator();
  }

  /**
   * Runs a whole story in a thread of its own and waits for it, so that an interrupt of the caller
   * cannot hit a request. The interrupt, or a cancel of the commit, makes {@link #checkInterrupted}
   * and the next piece of work fail. The story then ends in its own way, and the caller's interrupt
   * status is set again.
   */
  public void shield(InvocationRaisingIOE story) throws IOException {
    rethrow(await(List.of(new Part(story))));
  }

  /**
   * Does {@code action} on every item, in parallel. The first failure stops the rest: work under
   * way is waited for, no more is begun, and the failure is thrown with all others suppressed in
   * it.
   *
   * @throws IllegalStateException if called from within an action: the two would wait for each
   *     other's threads
   */
  public <T> void forEach(Collection<? extends T> items, ConsumerRaisingIOE<? super T> action)
      throws IOException {
    forEachNumbered(items, (number, item) -> action.accept(item));
  }

  /**
   * As above; the action is told the position of each item, from 0. The items need not all be in
   * memory at once: they are asked for one by one, by one thread at a time. There is a thread for
   * each item, and never more than allowed.
   */
  public <T> void forEachNumbered(Collection<? extends T> items, NumberedAction<? super T> action)
      throws IOException {
    requireOutside();
    try (CommitProgress.Work work = commit.count(items.size())) {
      Run<T> run = new Run<>(items.iterator(), work, action);
      List<Part> parts = new ArrayList<>();
      try {
        while (parts.size() < Math.min(threads, items.size())) {
          parts.add(new Part(run));
        }
      } catch (OutOfMemoryError e) {
        // No more threads to be had: those that started do the work, more slowly.
        if (parts.isEmpty()) {
          throw e;
        }
      }
      Throwable ofThreads = await(parts);
      rethrow(joined(run.failure, ofThreads));
    }
  }

  /** As {@link #forEach}, with the results in the order of the items. */
  public <T, R> List<R> map(
      Collection<? extends T> items, FunctionRaisingIOE<? super T, ? extends R> mapping)
      throws IOException {
    // Each element is set by one thread, and read when that thread has ended.
    List<R> results = new ArrayList<>(Collections.nCopies(items.size(), null));
    forEachNumbered(items, (number, item) -> results.set(number, mapping.apply(item)));
    return results;
  }

  /**
   * Does things beside one another and waits for all of them; each may use these workers. Fails
   * with the first that failed, in their order, and the failures of the others suppressed in it.
   * With one thread, one after the other.
   */
  public void beside(InvocationRaisingIOE... all) throws IOException {
    requireOutside();
    if (threads == 1) {
      for (InvocationRaisingIOE one : all) {
        one.apply();
      }
      return;
    }
    List<Part> parts = new ArrayList<>();
    for (InvocationRaisingIOE one : all) {
      parts.add(new Part(one));
    }
    rethrow(await(parts));
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

  private void requireOutside() {
    if (inside.get()) {
      throw new IllegalStateException("A step's workers were used inside that step");
    }
  }

  /** Waits for all; what the first threw that failed, and the others in it, or null. */
  private Throwable await(List<Part> parts) {
    Throwable failure = null;
    boolean interruptedHere = false;
    for (Part part : parts) {
      while (true) {
        try {
          part.thread.join();
          failure = joined(failure, part.failure);
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
    return failure;
  }

  /**
   * What something gives that is done {@link #beside} other things: once {@link #beside} has
   * returned, {@link #get} has it.
   */
  public static final class Result<T> implements InvocationRaisingIOE {
    private final CallableRaisingIOE<T> request;
    private volatile T value;

    /** The result of {@code request}, which is made when this runs, and never gives null. */
    public Result(CallableRaisingIOE<T> request) {
      this.request = request;
    }

    @Override
    public void apply() throws IOException {
      value = Objects.requireNonNull(request.apply());
    }

    public T get() {
      return find().orElseThrow(IllegalStateException::new);
    }

    /** What it gave; empty if it failed, or did not run. */
    public Optional<T> find() {
      return Optional.ofNullable(value);
    }
  }

  /** Work on one item of a sequence. */
  @FunctionalInterface
  public interface NumberedAction<T> {
    void accept(int number, T item) throws IOException;
  }

  /** One thread, and what its work threw. */
  private final class Part {
    private final Thread thread;
    private Throwable failure;

    Part(InvocationRaisingIOE work) {
      Runnable audited =
          () -> {
            try {
              audit.enter();
              work.apply();
            } catch (Throwable e) {
              failure = e;
            }
          };
      thread =
          new CallerContext().thread("manifest-committer-" + NUMBER.incrementAndGet(), audited);
      thread.start();
    }
  }

  /** The shared state of the threads of one {@link #forEach}. */
  private final class Run<T> implements InvocationRaisingIOE {
    private final Iterator<? extends T> items;
    private final CommitProgress.Work work;
    private final NumberedAction<? super T> action;
    private int taken;
    private Throwable failure;

    Run(Iterator<? extends T> items, CommitProgress.Work work, NumberedAction<? super T> action) {
      this.items = items;
      this.work = work;
      this.action = action;
    }

    @Override
    public void apply() {
      inside.set(true);
      Map.Entry<Integer, T> next = null;
      try {
        next = next();
        while (next != null) {
          action.accept(next.getKey(), next.getValue());
          progress.run();
          work.tick();
          next = next();
        }
      } catch (Throwable e) {
        fail(next, e);
      } finally {
        inside.remove();
      }
    }

    /** The next item and its number; null if there is none. */
    private synchronized Map.Entry<Integer, T> next() throws IOException {
      if (failure != null || !items.hasNext()) {
        return null;
      }
      checkInterrupted();
      return Map.entry(taken++, items.next());
    }

    private synchronized void fail(Map.Entry<Integer, T> at, Throwable e) {
      boolean isFirst = failure == null && failedItem == null && at != null;
      failure = joined(failure, e);
      if (isFirst) {
        // Last: where memory is short, it may fail, too.
        failedItem = at.getValue().toString();
      }
    }
  }

  /** The first of two failures, with the second suppressed in it. */
  private static Throwable joined(Throwable first, Throwable second) {
    if (first == null) {
      return second;
    }
    if (second != null && second != first) {
      first.addSuppressed(second);
    }
    return first;
  }

  private static void rethrow(Throwable failure) throws IOException {
    if (failure instanceof IOException) {
      throw (IOException) failure;
    }
    if (failure instanceof RuntimeException) {
      throw (RuntimeException) failure;
    }
    if (failure instanceof Error) {
      throw (Error) failure;
    }
    if (failure != null) {
      throw new IOException(failure);
    }
  }
}
