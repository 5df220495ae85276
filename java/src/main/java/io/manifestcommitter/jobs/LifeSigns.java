// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.journal.Heartbeat;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.progress.CommitProgress.Waiting;
import io.manifestcommitter.store.Store;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.FunctionRaisingIOE;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells drivers that live from drivers that died: only one of the two moves its heartbeat. No
 * clocks are compared. A job is dead once this process has seen the same sign of life, unmoved, for
 * {@code heartbeat.timeout} by its own monotonic clock. A long gap between two looks counts as one
 * {@code heartbeat.interval}: this process may have stood still, and the others with it.
 *
 * <p>A job without a heartbeat is dead at once, since who stops and leaves something behind removes
 * it. The exception is a recovery that has no room for one: its claim of the journal is watched
 * instead.
 */
public final class LifeSigns {
  private static final Logger LOG = LoggerFactory.getLogger(LifeSigns.class);

  /** This machine's clock. */
  final LongSupplier nanos;

  private final FunctionRaisingIOE<StagingRoot, Optional<String>> sign;
  private final long timeout;
  private final long longestGap;
  private final Map<Path, Watch> watches = new HashMap<>();

  /**
   * Signs of life in a store.
   *
   * @param config has the interval and the timeout of heartbeats
   * @param nanos this machine's clock, which goes on evenly
   */
  public LifeSigns(Store store, CommitterConfig config, LongSupplier nanos) {
    this(signIn(store.pastLimits()), config, nanos);
  }

  /**
   * As the other one, where the signs are not files in staging directories.
   *
   * @param sign what changes while a job lives; empty if nothing does
   */
  public LifeSigns(
      FunctionRaisingIOE<StagingRoot, Optional<String>> sign,
      CommitterConfig config,
      LongSupplier nanos) {
    this.sign = sign;
    this.timeout = TimeUnit.MILLISECONDS.toNanos(config.heartbeatTimeout);
    this.longestGap = TimeUnit.MILLISECONDS.toNanos(config.heartbeatInterval);
    this.nanos = nanos;
  }

  /** What a job is found to be. */
  public enum Life {
    /** Its sign of life has moved, and has not stood still for the timeout since. */
    ALIVE,
    /** Its sign of life has not been watched for long enough. */
    UNKNOWN,
    /** It has no sign of life, or one that stood still for the timeout. */
    DEAD,
    /** Nobody has to know any more. */
    OVER
  }

  /** Looks at a job once more. Two requests. */
  public synchronized Life look(StagingRoot root) throws IOException {
    Optional<String> now = sign.apply(root);
    if (!now.isPresent()) {
      watches.remove(root.root());
      return Life.DEAD;
    }
    Watch watch = watches.computeIfAbsent(root.root(), path -> new Watch());
    watch.see(now.get(), nanos.getAsLong());
    return watch.unmoved >= timeout ? Life.DEAD : watch.hasMoved ? Life.ALIVE : Life.UNKNOWN;
  }

  /** Whether a heartbeat was seen to stand still for the timeout. No request. */
  synchronized boolean hasStopped(StagingRoot root) {
    Watch watch = watches.get(root.root());
    return watch != null && watch.unmoved >= timeout;
  }

  /** Looks at several jobs once more; what fails is logged, and seen another time. */
  public void lookAt(Collection<StagingRoot> roots) {
    for (StagingRoot root : roots) {
      try {
        look(root);
      } catch (IOException | RuntimeException e) {
        LOG.debug("{} could not be looked at", root.root(), e);
      }
    }
  }

  /**
   * Watches jobs, all at the same time, until it is known of each whether it lives, or nobody has
   * to know any more: at most for the timeout. Two requests for each job and look, and those of
   * {@code matters}.
   *
   * @param matters whether the answer still matters
   * @param pause between two looks
   * @return what each is
   */
  public Map<StagingRoot, Life> await(
      Collection<StagingRoot> roots, FunctionRaisingIOE<StagingRoot, Boolean> matters, Pause pause)
      throws IOException {
    Map<StagingRoot, Life> lives = new LinkedHashMap<>();
    List<StagingRoot> unknown = new ArrayList<>(roots);
    for (boolean isFirst = true; ; isFirst = false) {
      for (StagingRoot root : unknown) {
        Life life = look(root);
        lives.put(root, life == Life.UNKNOWN && !matters.apply(root) ? Life.OVER : life);
      }
      unknown.removeIf(root -> lives.get(root) != Life.UNKNOWN);
      if (unknown.isEmpty()) {
        return lives;
      }
      StagingRoot one = unknown.get(0);
      if (isFirst) {
        LOG.warn(
            "Waiting to see whether jobs {} are alive, which have begun to change {}. Without a sign"
                + " of life they count as dead in {} s",
            unknown.stream().map(StagingRoot::jobId).collect(Collectors.toList()),
            one.directory(),
            TimeUnit.NANOSECONDS.toSeconds(left(one)) + 1);
      }
      pause.pause(
          new Waiting(one.jobId(), "which began to change the table, and whose driver may live"));
    }
  }

  private synchronized long left(StagingRoot root) {
    return timeout - watches.get(root.root()).unmoved;
  }

  /**
   * Requires that a job is dead. Two requests where it was watched for long enough; else it is
   * watched now.
   *
   * @param pause between two looks
   * @throws JobIsAliveException if it lives
   */
  public void requireDead(StagingRoot root, Pause pause) throws IOException {
    if (await(List.of(root), one -> true, pause).get(root) != Life.DEAD) {
      throw JobIsAliveException.itself(root, TimeUnit.NANOSECONDS.toSeconds(timeout));
    }
  }

  private static FunctionRaisingIOE<StagingRoot, Optional<String>> signIn(Store store) {
    return root -> {
      Optional<Long> beat = Heartbeat.last(store, root.root());
      Optional<CommitJournal> claim = Optional.empty();
      try {
        claim =
            CommitJournal.find(store, root.attempt()).filter(CommitJournal::isHeldWithoutHeartbeat);
      } catch (CorruptManifestException e) {
        LOG.debug("{} has a journal that cannot be used", root.root(), e);
      }
      return beat.isPresent() || claim.isPresent()
          ? Optional.of(beat + " " + claim)
          : Optional.empty();
    };
  }

  /** What was seen of one job. */
  private final class Watch {
    private String sign = "";
    private long unmoved;
    private long last;
    private boolean hasMoved;

    void see(String now, long time) {
      if (now.equals(sign)) {
        unmoved += Math.min(time - last, longestGap);
      } else {
        hasMoved = !sign.isEmpty();
        unmoved = 0;
      }
      sign = now;
      last = time;
    }
  }

  /** What a job does between two looks at another one. */
  @FunctionalInterface
  public interface Pause {
    /**
     * Waits a while; fails if the job is to wait no more.
     *
     * @param forWhat for which job it waits, and why
     */
    void pause(Waiting forWhat) throws IOException;

    /** This machine's clock, which goes on evenly, by which waits are measured. */
    default long nanos() {
      return System.nanoTime();
    }

    /** Sleeps, for as long as there may be between two looks at a heartbeat. */
    static Pause sleeping(CommitterConfig config) {
      return waiting -> {
        try {
          TimeUnit.MILLISECONDS.sleep(Math.min(2000, config.heartbeatInterval));
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          throw new InterruptedIOException("Interrupted while " + waiting);
        }
      };
    }
  }

  /** A job is left alone: it lives, or may live, or one that lives replaces some of its places. */
  public static final class JobIsAliveException extends IOException {
    private static final long serialVersionUID = 1L;

    private final transient StagingRoot alive;

    private JobIsAliveException(StagingRoot alive, String message) {
      super(message);
      this.alive = alive;
    }

    static JobIsAliveException itself(StagingRoot root, long timeout) {
      return new JobIsAliveException(
          root,
          "The job that writes to "
              + root.root()
              + " shows signs of life: its driver, or another recovery, is at work. Nothing was"
              + " changed. It counts as dead once its heartbeat was seen to stand still for "
              + timeout
              + " s. If you know that it is dead, use --force");
    }

    static JobIsAliveException inPlacesOf(StagingRoot dead, StagingRoot alive) {
      return new JobIsAliveException(
          alive,
          "The job of "
              + dead.root()
              + " cannot be recovered now: job "
              + alive.jobId()
              + " lives and replaces some of the same places ("
              + alive.replaces()
              + "). Nothing was changed. Wait until that has ended");
    }

    /** Whether it is this job that lives. */
    public boolean isOf(StagingRoot job) {
      return alive.root().equals(job.root());
    }
  }
}
