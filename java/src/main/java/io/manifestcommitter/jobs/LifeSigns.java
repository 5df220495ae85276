// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.journal.Heartbeat;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.progress.Waiting;
import io.manifestcommitter.store.Store;
import java.io.IOException;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells drivers that live from drivers that died a moment ago: both leave a fresh heartbeat, and
 * only one of the two moves it.
 */
final class LifeSigns {
  private static final Logger LOG = LoggerFactory.getLogger(LifeSigns.class);

  private final Store store;
  private final long timeout;
  private final Pause pause;
  private final Map<Path, Long> first = new HashMap<>();

  /**
   * Signs of life.
   *
   * @param timeout how old a heartbeat of a driver that lives may be, in milliseconds
   * @param pause between two looks
   */
  LifeSigns(Store store, long timeout, Pause pause) {
    this.store = store;
    this.timeout = timeout;
    this.pause = pause;
  }

  /** What a job is found to be. */
  enum Life {
    /** Its heartbeat moved. */
    ALIVE,
    /** It has no heartbeat, or a stale one. */
    DEAD,
    /** Nobody has to know any more. */
    OVER
  }

  /** Notes the heartbeat of a job, so that {@link #of} tells sooner that it moved. One request. */
  void note(StagingRoot root) throws IOException {
    Optional<Long> last = Heartbeat.last(store, root.root());
    if (last.isPresent()) {
      first.putIfAbsent(root.root(), last.get());
    }
  }

  /**
   * Waits until a job's heartbeat moves or grows stale, or nobody has to know any more. Four
   * requests, and five for each look while it waits, which is bounded by the timeout.
   *
   * @param matters whether the answer still matters
   */
  Life of(StagingRoot root, Question matters) throws IOException {
    long since = 0;
    while (true) {
      Optional<Heartbeat.Beat> beat = Heartbeat.look(store, root);
      if (!beat.isPresent() || beat.get().age() >= timeout) {
        return Life.DEAD;
      }
      Long before = first.putIfAbsent(root.root(), beat.get().time());
      if (before != null && before != beat.get().time()) {
        return Life.ALIVE;
      }
      if (!matters.holds()) {
        return Life.OVER;
      }
      if (since == 0) {
        since = beat.get().now();
        LOG.warn(
            "Waiting to see whether job {} is alive, which has begun to change {}. Its last sign of"
                + " life was at {} by the store's clock. Without another one it counts as dead in"
                + " {} s",
            root.jobId(),
            root.directory(),
            Instant.ofEpochMilli(beat.get().time()),
            (timeout - beat.get().age() + 999) / 1000);
      }
      if (beat.get().now() - since >= timeout) {
        // One from the future, which grows stale too late.
        return Life.DEAD;
      }
      pause.pause(
          new Waiting(root.jobId(), "which began to change the table, and whose driver may live"));
    }
  }

  /** Asks the store something. */
  @FunctionalInterface
  interface Question {
    /** Its answer. */
    boolean holds() throws IOException;
  }
}
