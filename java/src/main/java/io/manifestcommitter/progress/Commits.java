// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.progress;

import io.manifestcommitter.manifest.StatisticsRecorder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The commits of this JVM whose classes are of the same class loader as this one; {@link
 * #ofAllClassLoaders} tells of others, too.
 */
public final class Commits {
  private static final Logger LOG = LoggerFactory.getLogger(Commits.class);

  /** How many commits are remembered after their end. */
  public static final int REMEMBERED = SharedCommits.REMEMBERED;

  private static final Set<CommitProgress> RUNNING = ConcurrentHashMap.newKeySet();
  private static final List<CommitListener> LISTENERS = new CopyOnWriteArrayList<>();

  private Commits() {}

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
    SharedCommits.begun(progress);
    tell(listener -> listener.begun(progress));
    return progress;
  }

  private static void ended(CommitProgress progress) {
    if (!RUNNING.remove(progress)) {
      return;
    }
    CommitSnapshot end = progress.snapshot();
    SharedCommits.ended(progress, end);
    tell(listener -> listener.ended(end));
  }

  /** Where the commits are that run now; the one that began first comes first. */
  public static List<CommitSnapshot> running() {
    List<CommitProgress> running = new ArrayList<>(RUNNING);
    running.sort(Comparator.comparingLong(progress -> progress.startNanos()));
    List<CommitSnapshot> snapshots = new ArrayList<>();
    running.forEach(progress -> snapshots.add(progress.snapshot()));
    return snapshots;
  }

  /**
   * The commits of this JVM that run, whatever class loader has their classes, and the last that
   * ended, {@link #REMEMBERED} at most: each as {@link CommitSnapshot#toMap} has it.
   */
  public static List<Map<String, Object>> ofAllClassLoaders() {
    List<Map<String, Object>> commits = new ArrayList<>(SharedCommits.running());
    commits.addAll(SharedCommits.ended());
    return commits;
  }

  /** As {@link #ofAllClassLoaders}, those that run. */
  public static List<Map<String, Object>> runningInAllClassLoaders() {
    return SharedCommits.running();
  }

  /**
   * Cancels the commit of a job, or its setup, whatever class loader has their classes: see {@link
   * CommitProgress#cancel}.
   *
   * @return whether it fails; false also where there is none of that job
   */
  public static boolean cancel(String jobId) {
    return SharedCommits.cancel(jobId);
  }

  /** From here on {@code listener} hears of every commit. */
  public static void add(CommitListener listener) {
    LISTENERS.add(listener);
  }

  /** It hears of none any more. */
  public static void remove(CommitListener listener) {
    LISTENERS.remove(listener);
  }

  private static void tell(Consumer<CommitListener> what) {
    for (CommitListener listener : LISTENERS) {
      try {
        what.accept(listener);
      } catch (RuntimeException | LinkageError e) {
        LOG.warn("{} failed; the commit goes on", listener, e);
      }
    }
  }
}
