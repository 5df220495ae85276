// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.progress;

import io.manifestcommitter.manifest.StatisticsRecorder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The commits of this JVM whose classes are of the same class loader as this one; {@link
 * #ofAllClassLoaders} tells of others, too, by what is {@link JvmWide}. What is kept of a commit
 * that ended keeps no class loader alive.
 */
public final class Commits {
  private static final Logger LOG = LoggerFactory.getLogger(Commits.class);

  /** How many commits are remembered after their end. */
  public static final int REMEMBERED = 20;

  private static final Set<CommitProgress> RUNNING = ConcurrentHashMap.newKeySet();
  private static final List<Listener> LISTENERS = new CopyOnWriteArrayList<>();

  private static final Map<String, Supplier<Map<String, Object>>> ALL_RUNNING =
      JvmWide.value("commits.running", ConcurrentSkipListMap::new);

  /** Each cancels its commit, if that is of the job. */
  private static final Map<String, Predicate<String>> CANCELS =
      JvmWide.value("commits.cancels", ConcurrentSkipListMap::new);

  private static final Deque<Map<String, Object>> ALL_ENDED =
      JvmWide.value("commits.ended", ArrayDeque::new);

  private Commits() {}

  /** Hears of the commits of this JVM. What it throws is logged, and harms no commit. */
  public interface Listener {
    /** A commit has begun; called by its thread. */
    void begun(CommitProgress commit);

    /** A commit has ended; called by its thread. */
    void ended(CommitSnapshot commit);
  }

  /**
   * A commit begins. It counts as running until its {@link CommitProgress#end}.
   *
   * @param step its first one, as in {@code StatisticNames}
   * @param table the table's directory, qualified
   * @param statistics what it will count and measure
   */
  public static CommitProgress begin(
      CommitSnapshot.Kind kind,
      String step,
      String jobId,
      String table,
      StatisticsRecorder statistics) {
    CommitProgress progress = new CommitProgress(kind, jobId, table, statistics, Commits::ended);
    progress.enter(step);
    RUNNING.add(progress);
    ALL_RUNNING.put(progress.order(), () -> progress.snapshot().toMap());
    CANCELS.put(progress.order(), id -> id.equals(jobId) && progress.cancel());
    tell(listener -> listener.begun(progress));
    return progress;
  }

  private static void ended(CommitProgress progress) {
    if (!RUNNING.remove(progress)) {
      return;
    }
    CommitSnapshot end = progress.snapshot();
    ALL_RUNNING.remove(progress.order());
    CANCELS.remove(progress.order());
    if (end.kind != CommitSnapshot.Kind.SETUP) {
      synchronized (ALL_ENDED) {
        ALL_ENDED.addLast(end.toMap());
        if (ALL_ENDED.size() > REMEMBERED) {
          ALL_ENDED.removeFirst();
        }
      }
    }
    tell(listener -> listener.ended(end));
  }

  /** Where the commits are that run now; the one that began first comes first. */
  public static List<CommitSnapshot> running() {
    return RUNNING.stream()
        .sorted(Comparator.comparingLong(progress -> progress.start))
        .map(CommitProgress::snapshot)
        .collect(Collectors.toList());
  }

  /**
   * The commits of this JVM that run, whatever class loader has their classes, and the last that
   * ended, {@link #REMEMBERED} at most: each as {@link CommitSnapshot#toMap} has it.
   */
  public static List<Map<String, Object>> ofAllClassLoaders() {
    List<Map<String, Object>> commits = runningInAllClassLoaders();
    synchronized (ALL_ENDED) {
      commits.addAll(ALL_ENDED);
    }
    return commits;
  }

  /** As {@link #ofAllClassLoaders}, those that run. */
  public static List<Map<String, Object>> runningInAllClassLoaders() {
    List<Map<String, Object>> commits = new ArrayList<>();
    ALL_RUNNING.values().forEach(commit -> commits.add(commit.get()));
    return commits;
  }

  /**
   * Cancels the commit of a job, or its setup, whatever class loader has their classes: see {@link
   * CommitProgress#cancel}.
   *
   * @return whether it fails; false also where there is none of that job
   */
  public static boolean cancel(String jobId) {
    return CANCELS.values().stream().anyMatch(commit -> commit.test(jobId));
  }

  /** From here on {@code listener} hears of every commit. */
  public static void add(Listener listener) {
    LISTENERS.add(listener);
  }

  /** It hears of none any more. */
  public static void remove(Listener listener) {
    LISTENERS.remove(listener);
  }

  private static void tell(Consumer<Listener> what) {
    for (Listener listener : LISTENERS) {
      try {
        what.accept(listener);
      } catch (RuntimeException | LinkageError e) {
        LOG.warn("{} failed; the commit goes on", listener, e);
      }
    }
  }
}
