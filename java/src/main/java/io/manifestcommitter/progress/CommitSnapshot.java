// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.progress;

import io.manifestcommitter.manifest.StatisticNames;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;

/** Where one commit was at one moment. Immutable. */
public final class CommitSnapshot {
  private final Kind kind;
  private final State state;
  private final String jobId;
  private final String table;
  private final String step;
  private final long startedAt;
  private final long thread;
  private final long millis;
  private final long done;
  private final long total;
  private final double perSecond;
  private final Optional<Waiting> waiting;
  private final List<CommitProgress.Step> steps;
  private final IOStatisticsSnapshot statistics;

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
    /** It ended with an error. */
    FAILED,
    /** A recovery made the table what it was before the job. */
    ROLLED_BACK
  }

  CommitSnapshot(CommitProgress progress, Optional<WorkCount> work) {
    this.kind = progress.kind;
    this.state = progress.state;
    this.jobId = progress.jobId;
    this.table = progress.table;
    this.step = progress.step;
    this.startedAt = progress.startedAt;
    this.thread = progress.thread;
    this.millis = progress.millis();
    this.done = work.map(WorkCount::done).orElse(0L);
    this.total = work.map(WorkCount::total).orElse(0L);
    double seconds = work.map(WorkCount::nanos).orElse(1L) / (double) TimeUnit.SECONDS.toNanos(1);
    this.perSecond = done / seconds;
    this.waiting = Optional.ofNullable(progress.waiting);
    this.steps = progress.steps();
    this.statistics = progress.statistics.snapshot();
  }

  /** What is under way. */
  public Kind kind() {
    return kind;
  }

  /** Whether it has ended, and how. */
  public State state() {
    return state;
  }

  /** The job. */
  public String jobId() {
    return jobId;
  }

  /** The table's directory, qualified. */
  public String table() {
    return table;
  }

  /** The step that it is in, or ended in, as in {@code StatisticNames}. */
  public String step() {
    return step;
  }

  /** How long it has run by now, or ran, in milliseconds. */
  public long millis() {
    return millis;
  }

  /** How many files, or directories, of the step are done. */
  public long done() {
    return done;
  }

  /** How many the step has; 0 where nothing is counted. */
  public long total() {
    return total;
  }

  /** How many are done in a second, since the step began; 0 where nothing is counted. */
  public double perSecond() {
    return total == 0 ? 0 : perSecond;
  }

  /** In how many seconds the step will be done at that rate; empty where that cannot be told. */
  public OptionalLong secondsLeft() {
    return perSecond() == 0
        ? OptionalLong.empty()
        : OptionalLong.of((long) Math.ceil((total - done) / perSecond()));
  }

  /** For which job it waits; empty if for none. */
  public Optional<Waiting> waiting() {
    return waiting;
  }

  /** How many requests were made to the store. */
  public long requests() {
    long requests = 0;
    for (String kindOfRequest : StatisticNames.REQUESTS) {
      requests += counter(kindOfRequest);
    }
    return requests;
  }

  /** How many of them the store refused because there were too many. */
  public long refusals() {
    return counter(StatisticNames.STORE_IO_THROTTLED);
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
   * null.
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
    map.put("perSecond", perSecond());
    map.put("secondsLeft", secondsLeft().isPresent() ? secondsLeft().getAsLong() : null);
    map.put("waitingFor", waiting.map(Waiting::jobId).orElse(null));
    map.put("waitingWhy", waiting.map(Waiting::why).orElse(null));
    map.put("files", counter(StatisticNames.COMMITTER_FILES_COMMITTED));
    map.put("bytes", counter(StatisticNames.COMMITTER_BYTES_COMMITTED));
    map.put("requests", requests());
    map.put("throttled", refusals());
    map.put("counters", new TreeMap<>(statistics.counters()));
    List<Map<String, Object>> ended = new ArrayList<>();
    for (CommitProgress.Step one : steps) {
      ended.add(
          Map.of("name", one.shortName(), "start", one.startMillis(), "millis", one.millis()));
    }
    map.put("steps", ended);
    return map;
  }

  @Override
  public String toString() {
    return kind + " of job " + jobId + " into " + table + ": " + state + ", " + step;
  }
}
