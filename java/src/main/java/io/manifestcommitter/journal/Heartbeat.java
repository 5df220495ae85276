package io.manifestcommitter.journal;

import io.manifestcommitter.StagingRoot;
import io.manifestcommitter.store.Store;
import java.io.Closeable;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file in a job's staging root that is written again and again while the job has a driver, or
 * somebody who recovers it. By its time, in the store's own clock, a dead one is told from one that
 * lives.
 */
public final class Heartbeat implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(Heartbeat.class);
  private static final String NAME = "heartbeat";

  private final Store store;
  private final Path file;
  private final ScheduledThreadPoolExecutor clock =
      new ScheduledThreadPoolExecutor(1, Heartbeat::thread);

  private ScheduledFuture<?> beats;

  private Heartbeat(Store store, Path root) {
    this.store = store;
    this.file = new Path(root, NAME);
  }

  private static Thread thread(Runnable beats) {
    Thread thread = new Thread(beats, "manifest-committer-heartbeat");
    thread.setDaemon(true);
    return thread;
  }

  /**
   * Begins to beat, at once and then at each interval; what fails later is only logged.
   *
   * @param root the job's staging root
   * @param interval in milliseconds
   */
  public static Heartbeat start(Store store, Path root, long interval) throws IOException {
    Heartbeat heartbeat = new Heartbeat(store, root);
    heartbeat.beat();
    heartbeat.beats =
        heartbeat.clock.scheduleWithFixedDelay(
            heartbeat::beatOrLog, interval, interval, TimeUnit.MILLISECONDS);
    return heartbeat;
  }

  /**
   * How long ago, in milliseconds and by the store's clock, the last beat was; empty if there was
   * none. Four requests.
   */
  static Optional<Long> age(Store store, StagingRoot root) throws IOException {
    Optional<Long> last = last(store, root.root());
    return last.isPresent()
        ? Optional.of(Math.max(0, now(store, root.directory()) - last.get()))
        : Optional.empty();
  }

  /** When the last beat was, by the store's clock; empty if there was none. One request. */
  static Optional<Long> last(Store store, Path root) throws IOException {
    try {
      return Optional.of(store.modified(new Path(root, NAME)));
    } catch (FileNotFoundException e) {
      return Optional.empty();
    }
  }

  /**
   * What time it is by the store's clock. Told by a file in a staging root of its own: in another
   * job's, which may be deleted right now, it would make that again.
   *
   * @param table where there is a table or location
   */
  static long now(Store store, Path table) throws IOException {
    Path clock = new StagingRoot(table, "clock-" + UUID.randomUUID()).root();
    Path now = new Path(clock, "now");
    try {
      store.write(now, out -> {});
      return store.modified(now);
    } finally {
      store.deleteTree(clock);
    }
  }

  /** Removes the last beat, if there was one. One request. */
  static void remove(Store store, Path root) throws IOException {
    store.deleteFile(new Path(root, NAME));
  }

  /** Stops; waits for a beat that is under way, so that none comes after. */
  @Override
  public void close() {
    beats.cancel(/* mayInterruptIfRunning= */ false);
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

  private void beat() throws IOException {
    byte[] content = "alive\n".getBytes(StandardCharsets.UTF_8);
    store.write(file, out -> out.write(content));
  }

  private void beatOrLog() {
    try {
      beat();
    } catch (IOException | RuntimeException e) {
      LOG.warn("{} could not be written: after a while this job may be taken for dead", file, e);
    }
  }
}
