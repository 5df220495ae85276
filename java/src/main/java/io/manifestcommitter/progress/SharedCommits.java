package io.manifestcommitter.progress;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Supplier;

/**
 * All commits of this JVM, as values of Java's own classes: a JVM may hold this class several
 * times, as a Spark Connect server does, which gives each session, and in Spark 3.5 each write, a
 * class loader of its own. Hung up where all of them find it, among the system properties. What is
 * kept of a commit that ended keeps no class loader alive.
 */
final class SharedCommits {
  private static final String KEY = "io.manifestcommitter.commits";
  private static final String RUNNING = "running";
  private static final String ENDED = "ended";

  private SharedCommits() {}

  @SuppressWarnings("unchecked")
  private static Map<String, Object> shared() {
    return (Map<String, Object>)
        System.getProperties()
            .computeIfAbsent(
                KEY,
                key -> Map.of(RUNNING, new ConcurrentSkipListMap<>(), ENDED, new ArrayDeque<>()));
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Supplier<Map<String, Object>>> runningOnes() {
    return (Map<String, Supplier<Map<String, Object>>>) shared().get(RUNNING);
  }

  @SuppressWarnings("unchecked")
  private static Deque<Map<String, Object>> endedOnes() {
    return (Deque<Map<String, Object>>) shared().get(ENDED);
  }

  static void begun(CommitProgress progress) {
    runningOnes().put(progress.order(), () -> progress.snapshot().toMap());
  }

  static void ended(CommitProgress progress, CommitSnapshot end) {
    runningOnes().remove(progress.order());
    if (end.kind() == CommitSnapshot.Kind.SETUP) {
      return;
    }
    Deque<Map<String, Object>> ended = endedOnes();
    synchronized (ended) {
      ended.addLast(end.toMap());
      if (ended.size() > Commits.REMEMBERED) {
        ended.removeFirst();
      }
    }
  }

  static List<Map<String, Object>> running() {
    List<Map<String, Object>> commits = new ArrayList<>();
    runningOnes().values().forEach(commit -> commits.add(commit.get()));
    return commits;
  }

  static List<Map<String, Object>> ended() {
    Deque<Map<String, Object>> ended = endedOnes();
    synchronized (ended) {
      return new ArrayList<>(ended);
    }
  }
}
