// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.store.CallerContext;
import io.manifestcommitter.store.FileUpload;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Uploads the full parts of the files that an attempt writes, while it writes on, in a thread of
 * its own. Nobody else may use an upload that is followed until this is closed.
 */
final class FollowUploads implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(FollowUploads.class);

  /** In milliseconds. */
  private static final long INTERVAL = 1000;

  /** How many of the files that were begun last may still be written to. */
  private static final int MOST_OPEN = 100;

  private final Deque<FileUpload> open = new ArrayDeque<>();
  private final ScheduledThreadPoolExecutor thread;
  private final ScheduledFuture<?> rounds;

  /**
   * Begins to follow.
   *
   * @param isOver whether the attempt is, though nobody closed this
   */
  FollowUploads(BooleanSupplier isOver) {
    CallerContext caller = CallerContext.current();
    thread =
        new ScheduledThreadPoolExecutor(
            1, work -> caller.thread("manifest-committer-upload", work));
    rounds =
        thread.scheduleWithFixedDelay(
            () -> {
              if (isOver.getAsBoolean()) {
                thread.shutdown();
              } else {
                run();
              }
            },
            INTERVAL,
            INTERVAL,
            TimeUnit.MILLISECONDS);
  }

  /** One more file, that is written from now on. */
  synchronized void add(FileUpload upload) {
    open.addLast(upload);
    if (open.size() > MOST_OPEN) {
      open.removeFirst();
    }
  }

  /** Uploads what is full parts now. */
  private void run() {
    for (FileUpload upload : files()) {
      if (thread.isShutdown()) {
        return;
      }
      try {
        upload.follow();
      } catch (IOException | RuntimeException | Error e) {
        LOG.info("Part of a file is uploaded when its task commits: {}", e.toString());
        LOG.debug("The upload that failed", e);
        forget(upload);
      }
    }
  }

  private synchronized List<FileUpload> files() {
    return new ArrayList<>(open);
  }

  private synchronized void forget(FileUpload upload) {
    open.remove(upload);
  }

  /** Stops; waits for a part that is under way. */
  @Override
  public void close() throws InterruptedIOException {
    rounds.cancel(/* mayInterruptIfRunning= */ false);
    thread.shutdown();
    try {
      while (!thread.awaitTermination(1, TimeUnit.MINUTES)) {
        LOG.info("A part of a file is still uploaded");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("Interrupted while a part of a file was uploaded");
    }
  }
}
