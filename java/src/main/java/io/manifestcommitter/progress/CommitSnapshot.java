// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.progress;

import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.progress.CommitProgress.Waiting;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;

/** Where one commit was at one moment. Immutable; its public fields are read where it is shown. */
public final class CommitSnapshot {
  /** What is under way. */
  public enum Kind {
    /** A job gets ready: it looks for what others left in its table, and may wait for that. */
    SETUP,
    /** A job commits. */
    COMMIT,
    /** The commit of a driver that died is completed or rolled back. */
    RECOVERY
  }

  /** Whether it has ended, and how. */
  public enum State {
    /** It has not. */
    RUNNING,
    /** The table has the job's data. */
    COMMITTED,
    /** The table had the job's data already, by its identity. */
    SKIPPED,
    /** Its data waits to be published or discarded, or that of another job of its identity does. */
    HELD,
    /** It ended with an error. */
    FAILED,
    /** A recovery made the table what it was before the job. */
    ROLLED_BACK
  }

  public final Kind kind;
  public final State state;
  public final String jobId;

  /** The table's directory, qualified. */
  public final String table;

  /** The step that it is in, or ended in, as in {@code StatisticNames}. */
  public final String step;

  /** How long it has run by now, or ran, in milliseconds. */
  public final long millis;

  /** How many files, or directories, of the step are done. */
  public final long done;

  /** How many the step has; 0 where nothing is counted. */
  public final long total;

  /** How many are done in a second, since the step began; 0 where nothing is counted. */
  public final double perSecond;

  /** For which job it waits; empty if for none. */
  public final Optional<Waiting> waiting;

  private final long startedAt;
  private final long thread;
  private final List<Map<String, Object>> steps;
  private final IOStatisticsSnapshot statistics;
  private final Optional<IOStatisticsSnapshot> reported;

  CommitSnapshot(CommitProgress progress, Optional<CommitProgress.Work> work) {
    this.kind = progress.kind;
    this.state = progress.state;
    this.jobId = progress.jobId;
    this.table = progress.table;
    this.step = progress.step;
    this.startedAt = progress.startedAt;
    this.thread = progress.thread;
    this.millis = progress.millis();
    this.done = work.map(counted -> counted.done.get()).orElse(0L);
    this.total = work.map(counted -> counted.total).orElse(0L);
    long nanos = work.map(counted -> System.nanoTime() - counted.start).orElse(1L);
    this.perSecond = total == 0 ? 0 : done * (double) TimeUnit.SECONDS.toNanos(1) / nanos;
    this.waiting = Optional.ofNullable(progress.waiting);
    this.steps = progress.steps();
    this.statistics = progress.statistics.snapshot();
    this.reported = progress.reported;
  }

  /** In how many seconds the step will be done at that rate; null where that cannot be told. */
  public Long secondsLeft() {
    return perSecond == 0 ? null : (long) Math.ceil((total - done) / perSecond);
  }

  /** How many requests were made to the store. */
  public long requests() {
    return StatisticsRecorder.requests(statistics);
  }

  /** One of the counters among the statistics; 0 where nothing was counted. */
  public long counter(String name) {
    return statistics.counters().getOrDefault(name, 0L);
  }

  /**
   * The same in values of Java's own classes. {@code kind} and {@code state} are in small letters.
   * {@code thread} is the number of the JVM's thread in which the commit began. Further keys are
   * {@code jobId}, {@code table}, {@code step}, {@code startedAt}, {@code millis}, {@code done},
   * {@code total}, {@code perSecond}, {@code files}, {@code bytes}, {@code requests}, {@code
   * throttled} and {@code counters}. {@code steps} has {@code name}, {@code start} and {@code
   * millis} of each step. {@code secondsLeft}, {@code waitingFor} and {@code waitingWhy} may be
   * null. So may {@code reportedRequests} and {@code reportedMillis}, which the job's report has.
   */
  public Map<String, Object> toMap() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("kind", kind.name().toLowerCase(Locale.ROOT));
    map.put("state", state.name().toLowerCase(Locale.ROOT));
    map.put("jobId", jobId);
    map.put("table", table);
    map.put("step", step);
    map.put("startedAt", startedAt);
    map.put("thread", thread);
    map.put("millis", millis);
    map.put("done", done);
    map.put("total", total);
    map.put("perSecond", perSecond);
    map.put("secondsLeft", secondsLeft());
    map.put("waitingFor", waiting.map(other -> other.jobId).orElse(null));
    map.put("waitingWhy", waiting.map(other -> other.why).orElse(null));
    map.put("files", counter(StatisticNames.COMMITTER_FILES_COMMITTED));
    map.put("bytes", counter(StatisticNames.COMMITTER_BYTES_COMMITTED));
    map.put("requests", requests());
    map.put("reportedRequests", reported.map(StatisticsRecorder::requests).orElse(null));
    map.put("reportedMillis", reported.map(StatisticsRecorder::commitMillis).orElse(null));
    map.put("throttled", counter(StatisticNames.STORE_IO_THROTTLED));
    map.put("counters", new TreeMap<>(statistics.counters()));
    map.put("steps", steps);
    return map;
  }

  @Override
  public String toString() {
    return kind + " of job " + jobId + " into " + table + ": " + state + ", " + step;
  }
}
