// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.progress;

import io.manifestcommitter.manifest.StatisticsRecorder;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;
import org.apache.hadoop.util.functional.InvocationRaisingIOE;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How far one commit has come. Written by its steps, read by anybody, from any thread. */
public final class CommitProgress {
  private static final Logger LOG = LoggerFactory.getLogger(CommitProgress.class);
  private static final long LOG_INTERVAL = TimeUnit.SECONDS.toNanos(10);

  /** The most steps that are remembered: a commit has about fifteen. */
  private static final int MAX_STEPS = 100;

  private static final String STAGE = "job_stage_";

  final CommitSnapshot.Kind kind;
  final String jobId;
  final String table;
  final StatisticsRecorder statistics;
  private final Consumer<CommitProgress> listener;

  /** When it began, in milliseconds since 1970. */
  public final long startedAt = System.currentTimeMillis();

  final long start = System.nanoTime();
  final long thread = Thread.currentThread().getId();
  private final Set<Work> underWay = ConcurrentHashMap.newKeySet();
  private final List<Map<String, Object>> steps = new ArrayList<>();
  volatile String step = "";
  volatile Waiting waiting;
  volatile Optional<IOStatisticsSnapshot> reported = Optional.empty();
  volatile CommitSnapshot.State state = CommitSnapshot.State.RUNNING;
  private volatile long ended;
  private volatile boolean isCancelled;
  private volatile BooleanSupplier cancelledBy = () -> false;
  private boolean isPastCancel;

  /**
   * A commit that begins.
   *
   * @param listener hears once when it has ended
   */
  CommitProgress(
      CommitSnapshot.Kind kind,
      String jobId,
      String table,
      StatisticsRecorder statistics,
      Consumer<CommitProgress> listener) {
    this.kind = kind;
    this.jobId = jobId;
    this.table = table;
    this.statistics = statistics;
    this.listener = listener;
  }

  /** Of work that is no job's commit, which nobody watches. */
  public static CommitProgress unwatched() {
    return new CommitProgress(
        CommitSnapshot.Kind.COMMIT, "", "", new StatisticsRecorder(), end -> {});
  }

  /** The step that begins, as in {@code StatisticNames}. */
  public void enter(String name) {
    step = name;
  }

  /**
   * A step begins, whose name is as in {@code StatisticNames}.
   *
   * @return hears how many milliseconds it took, when it has ended; then the step is remembered
   */
  public LongConsumer begins(String name) {
    long began = millis();
    return took -> {
      Map<String, Object> step = new LinkedHashMap<>();
      step.put("name", shortName(name));
      step.put("start", began);
      step.put("millis", took);
      synchronized (steps) {
        if (steps.size() < MAX_STEPS) {
          steps.add(step);
        }
      }
    };
  }

  /** Remembers what the report tells, and returns it: what comes after it, no report tells. */
  public IOStatisticsSnapshot report(IOStatisticsSnapshot told) {
    reported = Optional.of(told);
    return told;
  }

  /**
   * Begins to count work of many like pieces.
   *
   * @param total how many
   * @return to be closed when that work ends
   */
  public Work count(long total) {
    Work work = new Work(total);
    underWay.add(work);
    return work;
  }

  /** The commit waits for another job, until it {@link #goesOn}. */
  public void waits(Waiting forWhat) {
    waiting = forWhat;
  }

  public void goesOn() {
    waiting = null;
  }

  /**
   * Cancels the commit: as after an interrupt, it begins no further request, fails, and is rolled
   * back. A recovery cannot be cancelled.
   *
   * @return whether the commit fails; false where it is over, or can only go forward
   */
  public synchronized boolean cancel() {
    if (kind == CommitSnapshot.Kind.RECOVERY
        || isPastCancel
        || state != CommitSnapshot.State.RUNNING) {
      return false;
    }
    isCancelled = true;
    return true;
  }

  /**
   * The commit counts as cancelled as soon as something is so; a recovery does not.
   *
   * @param something which costs nothing to ask, since it is asked before each request
   */
  public void cancelWhen(BooleanSupplier something) {
    if (kind != CommitSnapshot.Kind.RECOVERY) {
      cancelledBy = something;
    }
  }

  /**
   * Fails if the commit was cancelled.
   *
   * @throws InterruptedIOException if so
   */
  public void requireNotCancelled() throws InterruptedIOException {
    if (isCancelled || cancelledBy.getAsBoolean()) {
      throw new InterruptedIOException("The commit was cancelled");
    }
  }

  /**
   * Fails if the commit was cancelled; if not, nothing cancels it any more.
   *
   * @throws InterruptedIOException if it was
   */
  public synchronized void passCancel() throws InterruptedIOException {
    requireNotCancelled();
    isPastCancel = true;
  }

  /**
   * The steps that have ended, in the order in which they began; some ran beside others. Each has
   * its {@code name} without {@code job_stage_}, its {@code start} after the commit began and its
   * {@code millis}, both in milliseconds.
   */
  public List<Map<String, Object>> steps() {
    List<Map<String, Object>> ordered;
    synchronized (steps) {
      ordered = new ArrayList<>(steps);
    }
    ordered.sort(Comparator.comparingLong(step -> (long) step.get("start")));
    return ordered;
  }

  /** The name of a step without {@code job_stage_}. */
  public static String shortName(String step) {
    return step.startsWith(STAGE) ? step.substring(STAGE.length()) : step;
  }

  /**
   * Runs the commit: it has failed if that throws, and else is committed, unless it was told before
   * how it ended.
   */
  public void run(InvocationRaisingIOE commit) throws IOException {
    try {
      commit.apply();
      end(CommitSnapshot.State.COMMITTED);
    } finally {
      end(CommitSnapshot.State.FAILED);
    }
  }

  /**
   * The commit has ended, as it was told first: whoever fails afterwards changes nothing. It is not
   * among the running ones any more, and who listens hears of it.
   */
  public void end(CommitSnapshot.State how) {
    synchronized (this) {
      if (state != CommitSnapshot.State.RUNNING) {
        return;
      }
      ended = System.nanoTime();
      state = how;
      waiting = null;
    }
    listener.accept(this);
  }

  public CommitSnapshot snapshot() {
    Optional<Work> largest = underWay.stream().max(Comparator.comparingLong(work -> work.total));
    return new CommitSnapshot(this, largest);
  }

  /** Unique in this JVM, and in the order of beginnings. */
  String order() {
    return String.format(Locale.ROOT, "%015d %020d %s %s", startedAt, start, jobId, kind);
  }

  /** How long it has run, or ran, in milliseconds. */
  public long millis() {
    long until = state == CommitSnapshot.State.RUNNING ? System.nanoTime() : ended;
    return TimeUnit.NANOSECONDS.toMillis(until - start);
  }

  /** For which other job a job waits, and why. */
  public static final class Waiting {
    public final String jobId;
    public final String why;

    /**
     * A wait.
     *
     * @param why a phrase that follows the job's id, such as {@code which replaces p=3}
     */
    public Waiting(String jobId, String why) {
      this.jobId = Objects.requireNonNull(jobId);
      this.why = Objects.requireNonNull(why);
    }

    @Override
    public String toString() {
      return "waiting for job " + jobId + ", " + why;
    }
  }

  /**
   * How far one piece of work has come that consists of many like ones; says so in the log every
   * ten seconds. Safe for use by many threads.
   */
  public final class Work implements AutoCloseable {
    final long total;
    final long start = System.nanoTime();
    final AtomicLong done = new AtomicLong();
    private final String name = step;
    private final AtomicLong next = new AtomicLong(start + LOG_INTERVAL);

    private Work(long total) {
      this.total = total;
    }

    public void tick() {
      long count = done.incrementAndGet();
      long now = System.nanoTime();
      long due = next.get();
      if (now - due >= 0 && next.compareAndSet(due, now + LOG_INTERVAL)) {
        LOG.info("{}", line(count, now - start));
      }
    }

    /** The work has ended, well or not. */
    @Override
    public void close() {
      underWay.remove(this);
    }

    /** What is said after {@code nanos}. */
    String line(long count, long nanos) {
      double rate = count * (double) TimeUnit.SECONDS.toNanos(1) / nanos;
      return String.format(
          Locale.ROOT,
          "%s: %,d of %,d, %,.0f a second, about %,.0f s left",
          name,
          count,
          total,
          rate,
          (total - count) / rate);
    }
  }
}
