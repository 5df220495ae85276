// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.journal;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.CallerContext;
import io.manifestcommitter.store.Store;
import java.io.Closeable;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.InvocationRaisingIOE;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file that is written again and again while a job has a driver, or a recovery works on it: in
 * the job's staging directory, unless the job says otherwise. Other jobs see it move, and so know
 * that the job lives. Its time says nothing more: the store's clock may step, and no other clock is
 * compared with it.
 */
public final class Heartbeat implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(Heartbeat.class);
  private static final String NAME = "heartbeat";

  /** A driver stops this part of the timeout before others may take it for dead. */
  private static final int MARGIN_SHARE = 5;

  private final InvocationRaisingIOE beat;
  private final String file;
  private final long timeout;
  private final LongSupplier nanos;
  private final CallerContext caller = new CallerContext();
  private final ScheduledThreadPoolExecutor clock =
      new ScheduledThreadPoolExecutor(
          1, beats -> caller.thread("manifest-committer-heartbeat", beats));

  private ScheduledFuture<?> beats;
  private Future<?> watch = CompletableFuture.completedFuture(null);
  private Future<?> first = CompletableFuture.completedFuture(null);

  /** When the last beat that came through was begun, by this machine's clock. */
  private long last;

  private boolean silent;
  private boolean forgiven;
  private boolean closed;

  private Heartbeat(
      InvocationRaisingIOE beat, String file, CommitterConfig config, LongSupplier nanos) {
    this.beat = beat;
    this.file = file;
    this.timeout = config.heartbeatTimeout;
    this.nanos = nanos;
    this.last = nanos.getAsLong();
  }

  /**
   * Begins to beat, at once and then at each interval, past the job's limits on requests. A beat
   * that fails later is logged; for what follows from many, see {@link #guard}.
   *
   * @param root the job's staging directory
   * @param config has interval and timeout
   */
  public static Heartbeat start(Store store, Path root, CommitterConfig config) throws IOException {
    Path file = new Path(root, NAME);
    Heartbeat heartbeat =
        new Heartbeat(writing(store, file), file.toString(), config, System::nanoTime);
    heartbeat.beat();
    heartbeat.goOn(config.heartbeatInterval);
    return heartbeat;
  }

  /**
   * As {@link #start}, and does not wait for the first beat. The caller has to {@link #await} it
   * before it does what only a job that lives may do.
   *
   * @param nanos this machine's clock, which goes on evenly
   */
  public static Heartbeat begin(
      Store store, Path root, CommitterConfig config, LongSupplier nanos) {
    Path file = new Path(root, NAME);
    return begin(writing(store, file), file.toString(), config, nanos);
  }

  /**
   * As the other one, where the sign of life is not a file in a staging directory.
   *
   * @param beat writes it; past the job's limits on requests
   * @param file what messages call it
   */
  public static Heartbeat begin(
      InvocationRaisingIOE beat, String file, CommitterConfig config, LongSupplier nanos) {
    Heartbeat heartbeat = new Heartbeat(beat, file, config, nanos);
    heartbeat.first =
        heartbeat.clock.submit(
            () -> {
              heartbeat.beat();
              return null;
            });
    heartbeat.goOn(config.heartbeatInterval);
    return heartbeat;
  }

  private void goOn(long interval) {
    beats =
        clock.scheduleWithFixedDelay(this::beatOrLog, interval, interval, TimeUnit.MILLISECONDS);
  }

  /**
   * Waits for the first beat.
   *
   * @throws IOException if it failed
   */
  public void await() throws IOException {
    try {
      first.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("Interrupted before the first sign of life of the job");
    } catch (ExecutionException e) {
      LOG.debug("The first heartbeat at {} failed, and is tried again", file, e);
      beat();
    }
  }

  /**
   * A store in which this driver changes nothing once it has been silent for so long that others
   * may take it for dead. Each change then fails with a {@link SilentDriverException}, also if the
   * driver beats again, until it may {@link #forgetSilence}. After {@link #close} the heartbeat is
   * not asked any more.
   */
  public Store guard(Store changed) {
    return changed.guardedBy(this::requireBeating);
  }

  private synchronized void requireBeating() throws SilentDriverException {
    if (isSilent()) {
      throw new SilentDriverException(
          file, TimeUnit.NANOSECONDS.toMillis(nanos.getAsLong() - last), timeout);
    }
  }

  /** Whether there was a time in which others may have taken this driver for dead. */
  public synchronized boolean isSilent() {
    boolean counts = !closed && !forgiven;
    silent |= counts && isLate();
    return silent && counts;
  }

  private boolean isLate() {
    long limit = TimeUnit.MILLISECONDS.toNanos(timeout - timeout / MARGIN_SHARE);
    return nanos.getAsLong() - last >= limit;
  }

  /**
   * Lets the driver change the store also after a silence: for one that has revoked its commit, by
   * which it knows that nobody else has it.
   */
  public synchronized void forgetSilence() {
    forgiven = true;
  }

  /**
   * Looks at other jobs at each interval, beside the beats, until {@link #close}.
   *
   * @param look may take longer than an interval; the last one if it fails
   */
  public void watch(Runnable look, long interval) {
    clock.setCorePoolSize(2);
    watch = clock.scheduleWithFixedDelay(look, interval, interval, TimeUnit.MILLISECONDS);
  }

  /** Whether an entry of a staging directory is a heartbeat, by its name. */
  public static boolean isHeartbeat(String name) {
    return name.equals(NAME);
  }

  /** When the last beat was, by the store's clock; empty if there was none. One request. */
  public static Optional<Long> last(Store store, Path root) throws IOException {
    try {
      return Optional.of(store.modified(new Path(root, NAME)));
    } catch (FileNotFoundException e) {
      return Optional.empty();
    }
  }

  /**
   * What time it is by the store's clock. Told by a file in a staging directory of its own: in
   * another job's, which may be deleted right now, it would make that again.
   *
   * @param table where there is a table or location
   */
  public static long now(Store store, Path table) throws IOException {
    Path clock = new StagingRoot(table, "clock-" + UUID.randomUUID()).root();
    Path now = new Path(clock, "now");
    try {
      store.write(now, out -> {});
      return store.modified(now);
    } finally {
      store.deleteTree(clock);
    }
  }

  /**
   * Removes the last beat, if there was one: nobody works on the job any more, so nobody has to
   * wait until it grows stale. One request.
   */
  public static void remove(Store store, Path root) throws IOException {
    store.deleteFile(new Path(root, NAME));
  }

  /** Stops; waits for a beat that is under way, so that none comes after. */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    first.cancel(/* mayInterruptIfRunning= */ false);
    beats.cancel(/* mayInterruptIfRunning= */ false);
    watch.cancel(/* mayInterruptIfRunning= */ false);
    clock.shutdown();
    boolean interrupted = false;
    while (true) {
      try {
        if (!clock.awaitTermination(1, TimeUnit.MINUTES)) {
          LOG.warn("The heartbeat at {} does not end", file);
        }
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Nobody reads what is in the file; on a local disk its time may depend on that. */
  private static InvocationRaisingIOE writing(Store limited, Path file) {
    Store store = limited.pastLimits();
    return () -> {
      boolean isEmpty = store.traits(file).createsBeforeContent();
      byte[] content = (isEmpty ? "" : "alive\n").getBytes(StandardCharsets.UTF_8);
      store.write(file, out -> out.write(content));
    };
  }

  private void beat() throws IOException {
    long begun = nanos.getAsLong();
    beat.apply();
    synchronized (this) {
      // What came before it may have come too late.
      silent |= isLate();
      last = begun;
    }
  }

  private void beatOrLog() {
    try {
      beat();
    } catch (Throwable e) {
      // An Error, too, would end the beats for good, and without a word.
      LOG.warn("{} could not be written: after a while this job may be taken for dead", file, e);
    }
  }

  /** A driver stops, since its own heartbeat is so old that others may take its job for dead. */
  public static final class SilentDriverException extends IOException {
    private static final long serialVersionUID = 1L;

    SilentDriverException(String heartbeat, long silence, long timeout) {
      super(
          "This driver could not refresh its heartbeat "
              + heartbeat
              + " for "
              + silence / 1000
              + " s: the process stood still, or the store did not answer. After "
              + timeout / 1000
              + " s (mapreduce.manifest.committer.heartbeat.timeout) others may take the job for dead"
              + " and recover its commit, so the driver stopped before its next change. Run the job"
              + " again");
    }
  }
}
