// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.jobs.HeldJobs.HeldJob;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.Path;

/** What a job keeps in a table while it runs, or has left there. */
public final class StagedJob {
  private static final String ATTEMPT = JobPaths.attemptName(0) + "/";

  /** The directory with all that the job has here, or its branch. */
  public final Path root;

  /** The table, or what is instead of it. */
  public final Path directory;

  public final Kind kind;

  /** The job; empty where the directory's name does not tell. */
  public final Optional<String> jobId;

  /** How many files it holds. */
  public long files;

  /** Their size. */
  public long bytes;

  /**
   * The time since the last heartbeat, or where there is none since the last write, in milliseconds
   * and by the store's clock; empty if the store cannot tell.
   */
  public Optional<Long> age = Optional.empty();

  private boolean completesUploads;
  private long lastWritten;
  private boolean begun;
  private boolean planned;
  private boolean finished;
  private boolean held;
  private boolean kept;
  private boolean oldData;
  private boolean running;

  /** In any holder's hands, and where earlier versions moved it; not a report that waits there. */
  private final Pattern asides;

  private StagedJob(
      Path root, Path directory, Kind kind, Optional<String> jobId, long lastWritten) {
    this.root = root;
    this.directory = directory;
    this.kind = kind;
    this.jobId = jobId;
    this.lastWritten = lastWritten;
    this.asides =
        Pattern.compile(
            ATTEMPT + "old/([0-9]+/)?[0-9]+-" + Pattern.quote(root.getName()) + "(/.*)?");
  }

  /**
   * A job of the Spark protocol that keeps its work elsewhere than in the table, and of which this
   * is known.
   *
   * @param at where
   * @param state not {@link State#RUNNING}
   * @param counted what its commit adds, and when that was made
   * @param beat as {@link #judge}, and this machine's clock tells: ages need no more
   */
  public static StagedJob elsewhere(
      StagingRoot job, Path at, State state, HeldJob counted, Optional<Long> beat, long timeout) {
    StagedJob staged =
        new StagedJob(
            at, job.directory(), Kind.SPARK_PROTOCOL, Optional.of(job.jobId()), counted.since);
    staged.files = counted.files;
    staged.bytes = counted.bytes;
    staged.begun = state == State.UNFINISHED;
    staged.held = state == State.HELD;
    staged.judge(beat, System.currentTimeMillis(), timeout, /* quiet= */ 0);
    return staged;
  }

  /** Whose it is. */
  public enum Kind {
    /** The Spark protocol's. */
    SPARK_PROTOCOL,
    /** The Hadoop protocol's, below {@code _temporary}. */
    HADOOP_PROTOCOL,
    /** Another committer's, below {@code _temporary}. */
    TEMPORARY,
    /** Of a dynamic overwrite by Spark's own protocol. */
    SPARK_STAGING
  }

  /** What is known of the job. */
  public enum State {
    /** Its driver shows signs of life, or something of it was written a short while ago. */
    RUNNING,
    /** Nothing of it is visible in the table, and nobody works on it. */
    ABANDONED,
    /** It has ended with nothing visible, and waits to be published or discarded. */
    HELD,
    /**
     * Its commit was begun: data of it may be visible, and data that it replaces may be in here.
     */
    UNFINISHED
  }

  /** What a directory in a table is; empty if it is no job's. */
  static Optional<StagedJob> in(StoreEntry root) {
    Optional<String> spark = StagingRoot.jobOf(root.name());
    return spark.isPresent()
        ? Optional.of(of(root, Kind.SPARK_PROTOCOL, spark))
        : StagingRoot.sparkJobOf(root.name())
            .map(job -> of(root, Kind.SPARK_STAGING, Optional.of(job)));
  }

  /** What a directory below {@code _temporary} is. */
  static StagedJob inTemporary(StoreEntry root) {
    Optional<String> job = JobPaths.jobOfDirectory(root.name());
    return of(root, job.isPresent() ? Kind.HADOOP_PROTOCOL : Kind.TEMPORARY, job);
  }

  private static StagedJob of(StoreEntry root, Kind kind, Optional<String> jobId) {
    return new StagedJob(root.path(), root.path().getParent(), kind, jobId, root.lastWritten());
  }

  /** Lists all that it holds. */
  void list(Store store) throws IOException {
    completesUploads = store.traits(root).completesUploads();
    Deque<Path> directories = new ArrayDeque<>(List.of(root));
    while (!directories.isEmpty()) {
      Path directory = directories.pop();
      // Its job may go on, or be cleaned.
      store.listIfThere(directory, entry -> note(entry, directories));
    }
  }

  private void note(StoreEntry entry, Deque<Path> directories) {
    lastWritten = Math.max(lastWritten, entry.lastWritten());
    if (entry.isDirectory()) {
      directories.push(entry.path());
      return;
    }
    files++;
    bytes += entry.length();
    String below = StorePaths.relative(root, entry.path());
    boolean isInAttempt = below.equals(ATTEMPT + entry.name());
    if (isInAttempt && CommitJournal.isJournal(entry.name())) {
      Optional<CommitJournal.State> state = CommitJournal.stateIn(entry.name());
      boolean isFinished = state.filter(CommitJournal.State::isEnd).isPresent();
      boolean isHeld = state.equals(Optional.of(CommitJournal.State.HELD));
      finished |= isFinished;
      held |= isHeld;
      kept |= state.equals(Optional.of(CommitJournal.State.KEPT));
      begun |= !isFinished && !isHeld;
    }
    planned |= isInAttempt && CommitJournal.mayHoldPlan(entry.name());
    begun |= below.endsWith("/manifests/" + JobPaths.COMMIT_MARK);
    oldData |= asides.matcher(below).matches();
  }

  /**
   * Tells whether it runs.
   *
   * @param beat when its heartbeat was last written, if it has one
   * @param now by the store's clock
   * @param timeout in milliseconds, of a heartbeat
   * @param quiet in milliseconds, since the last write of a job without a heartbeat
   */
  void judge(Optional<Long> beat, long now, long timeout, long quiet) {
    long last = beat.orElse(lastWritten);
    age = last == 0 ? Optional.empty() : Optional.of(Math.max(0, now - last));
    // A journal without a heartbeat is of a job whose recovery failed: nobody works on it.
    boolean hadBeat = beat.isPresent() || (kind == Kind.SPARK_PROTOCOL && (begun || held));
    // A driver makes its heartbeat at once: what holds no file was made by a late attempt.
    running =
        age.map(since -> since < (hadBeat ? timeout : quiet))
            .orElse(kind != Kind.SPARK_PROTOCOL || files > 0);
    running &= !isHeld() || beat.isPresent();
  }

  /** What is known of the job. */
  public State state() {
    if (running) {
      return State.RUNNING;
    }
    if (isHeld()) {
      return State.HELD;
    }
    return hasUnfinishedCommit() ? State.UNFINISHED : State.ABANDONED;
  }

  /** Whether its commit ended with nothing visible, and nobody has begun to publish it. */
  boolean isHeld() {
    return held && !begun && !finished;
  }

  /** Whether it has ended, and keeps what it replaced for those who ask for it. */
  public boolean keepsReplaced() {
    return kept && oldData;
  }

  /** Whether it holds a plan, or a part of one. */
  boolean hasPlan() {
    return planned;
  }

  /**
   * Whether its commit was begun and did not end, also if it is running. Where there are several
   * journals, of which the furthest counts, one that has ended is it. Where a custom location has
   * no journal, the old data that was moved aside there tells.
   */
  public boolean hasUnfinishedCommit() {
    return (begun && !(finished && completesUploads)) || (oldData && !finished);
  }
}
