// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.progress;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * All commits of this JVM, whatever class loader has their classes ({@link JvmWide}). What is kept
 * of a commit that ended keeps no class loader alive.
 */
final class SharedCommits {
  /** How many commits are remembered after their end. */
  static final int REMEMBERED = 20;

  private static final Map<String, Supplier<Map<String, Object>>> RUNNING =
      JvmWide.value("commits.running", ConcurrentSkipListMap::new);

  /** Each cancels its commit, if that is of the job. */
  private static final Map<String, Predicate<String>> CANCELS =
      JvmWide.value("commits.cancels", ConcurrentSkipListMap::new);

  private static final Deque<Map<String, Object>> ENDED =
      JvmWide.value("commits.ended", ArrayDeque::new);

  private SharedCommits() {}

  static void begun(CommitProgress progress) {
    RUNNING.put(progress.order(), () -> progress.snapshot().toMap());
    CANCELS.put(progress.order(), jobId -> jobId.equals(progress.jobId()) && progress.cancel());
  }

  static void ended(CommitProgress progress, CommitSnapshot end) {
    RUNNING.remove(progress.order());
    CANCELS.remove(progress.order());
    if (end.kind() == CommitSnapshot.Kind.SETUP) {
      return;
    }
    synchronized (ENDED) {
      ENDED.addLast(end.toMap());
      if (ENDED.size() > REMEMBERED) {
        ENDED.removeFirst();
      }
    }
  }

  static List<Map<String, Object>> running() {
    List<Map<String, Object>> commits = new ArrayList<>();
    RUNNING.values().forEach(commit -> commits.add(commit.get()));
    return commits;
  }

  static boolean cancel(String jobId) {
    return CANCELS.values().stream().anyMatch(commit -> commit.test(jobId));
  }

  static List<Map<String, Object>> ended() {
    synchronized (ENDED) {
      return new ArrayList<>(ENDED);
    }
  }
}
