// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.config.CommitterConfig.HoldConflict;
import io.manifestcommitter.config.CommitterConfig.UnfinishedJobsMode;
import io.manifestcommitter.jobs.LifeSigns.Life;
import io.manifestcommitter.jobs.LifeSigns.Pause;
import io.manifestcommitter.journal.CommitJournal.State;
import io.manifestcommitter.journal.CommitLedger;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.progress.CommitProgress.Waiting;
import io.manifestcommitter.store.Store;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets jobs that replace the same places of one table do so one after the other.
 *
 * <p>Each writes a note of its places into its staging directory before it looks at what stands
 * there. Then it looks for the notes of others: of two jobs at least one sees the other. The job
 * with the larger id removes its note, and begins again when the other's is gone. The job with the
 * smaller id keeps its note, and waits until the other has removed its own or has ended. A job that
 * waits has no note, or a smaller id than the jobs that it waits for. So no two wait for each
 * other.
 *
 * <p>A job that goes past the note of a dead job deletes that note. A driver that only stood still
 * looks for its note after it has written its journal, and then fails ({@link
 * #requireNotTakenForDead}). A dead job that has a journal is recovered first; the job that
 * recovers it has no note of its own meanwhile.
 */
public final class ReplacingJobs {
  private static final Logger LOG = LoggerFactory.getLogger(ReplacingJobs.class);

  private static final Optional<State> HELD = Optional.of(State.HELD);

  private final Store store;
  private final CommitterConfig config;
  private final OtherJobs others;
  private final LifeSigns signs;
  private final StagingRoot own;
  private long ownNoteLength;

  /**
   * The other jobs of a table.
   *
   * @param signs of their lives
   * @param own the staging directory, in the table, of the job that replaces
   */
  public ReplacingJobs(Store store, CommitterConfig config, LifeSigns signs, StagingRoot own) {
    this.store = store;
    this.config = config;
    this.others = new OtherJobs(store);
    this.signs = signs;
    this.own = own;
  }

  /**
   * Settles the unfinished commits in the table, as {@link UnfinishedJobs} does, for a job that
   * replaces nothing. One request, and one for each staging directory of another job.
   *
   * @param written the places that the job writes to
   * @return whether a commit was recovered
   * @throws IOException also if a dead job's commit may not, or cannot, be recovered
   */
  public boolean settle(Collection<Path> written, Pause pause) throws IOException {
    return new UnfinishedJobs(store, config, signs, written, pause).settle(inTable());
  }

  /**
   * As {@link #settle}, and returns when this job may look at the places and replace them. Two
   * requests, and one for each staging directory of another job; where there is no unfinished
   * commit, one look is enough for both.
   *
   * @param places none of which lies in another
   * @param written the places that the job writes to or replaces
   * @return a held job that has this one's identity, and still the places
   * @throws io.manifestcommitter.manifest.CorruptManifestException if another's note is damaged
   * @throws IOException also if others replaced some of the places for too long, or if a dead job's
   *     commit may not, or cannot, be recovered
   */
  public Optional<String> settleAndEnter(
      Collection<Path> places, Collection<Path> written, Pause pause) throws IOException {
    UnfinishedJobs unfinished = new UnfinishedJobs(store, config, signs, written, pause);
    Wait wait = new Wait(places, unfinished, pause);
    List<StagingRoot> roots = note(places);
    if (!others.begun(roots).isEmpty()) {
      // Nobody recovers a job whose places are a living one's.
      leave();
      unfinished.settle(roots);
      roots = note(places);
    }
    while (!isFirst(places, wait, roots)) {
      roots = note(places);
    }
    return Optional.ofNullable(wait.heldTwin);
  }

  /** Tells others of the places, and then looks for the other jobs in the table. Two requests. */
  private List<StagingRoot> note(Collection<Path> places) throws IOException {
    ownNoteLength = ReplaceNote.write(store, own, places);
    return inTable();
  }

  private List<StagingRoot> inTable() throws IOException {
    List<StagingRoot> roots = others.list(own.directory());
    roots.removeIf(root -> root.jobId().equals(own.jobId()));
    return roots;
  }

  /**
   * Requires that no other job took this one for dead since it entered. A job that does so deletes
   * the note of this one. It writes the note again if this job turns out to live, but may die
   * before the note is complete. One request; none if the job replaces nothing.
   *
   * @throws IOException if another job did: what this one knows of its places may not hold any more
   */
  public void requireNotTakenForDead() throws IOException {
    if (ownNoteLength > 0
        && !store
            .status(own.replaces())
            .filter(note -> note.length() == ownNoteLength)
            .isPresent()) {
      throw new IOException(
          own.replaces()
              + " is gone: the driver of job "
              + own.jobId()
              + " gave no sign of life for longer than "
              + config.heartbeatTimeout / 1000
              + " s ("
              + CommitterConfig.HEARTBEAT_TIMEOUT
              + "), so another job took it for dead and went on. Nothing visible was changed: run"
              + " the job again");
    }
  }

  /** Tells the others that this job is done with its places. One request. */
  public void leave() throws IOException {
    store.deleteFile(own.replaces());
  }

  /**
   * Whether this job's note stood while all others were out of the way, or it has nothing to do.
   */
  private boolean isFirst(Collection<Path> places, Wait wait, List<StagingRoot> roots)
      throws IOException {
    for (StagingRoot other : roots) {
      if (others.isReplacing(other, places, own) && !isPast(other, wait)) {
        return wait.heldTwin != null;
      }
    }
    return true;
  }

  private boolean isPast(StagingRoot other, Wait wait) throws IOException {
    if (signs.look(other) == Life.DEAD) {
      return isPastDead(other, wait);
    }
    boolean yields = other.jobId().compareTo(own.jobId()) < 0;
    if (yields) {
      leave();
    }
    LOG.warn(
        "Job {} waits for job {} ({}), which replaces some of the same places of {}",
        own.jobId(),
        other.jobId(),
        other.root(),
        own.directory());
    wait.forPlaces(other, ReplaceNote.read(store, other));
    while (store.status(other.replaces()).isPresent()) {
      if (signs.look(other) == Life.DEAD) {
        return !yields && isPastDead(other, wait);
      }
      wait.pause(other);
    }
    LOG.info("Job {} goes on: job {} is out of the way", own.jobId(), other.jobId());
    return !yields;
  }

  private boolean isPastDead(StagingRoot other, Wait wait) throws IOException {
    Optional<State> state = others.state(other);
    if (state.equals(HELD)) {
      return isPastHeld(other, wait);
    }
    if (!state.filter(one -> !one.isEnd()).isPresent() && others.fence(other)) {
      return true;
    }
    if (wait.unfinished.stuck.contains(other.root())) {
      return true;
    }
    if (config.unfinishedJobs == UnfinishedJobsMode.WARN && signs.look(other) == Life.DEAD) {
      wait.unfinished.settle(List.of(other));
      return true;
    }
    leave();
    while (others.isUnfinished(other)
        && signs.look(other) == Life.DEAD
        && !wait.unfinished.settle(List.of(other))
        && !wait.unfinished.stuck.contains(other.root())) {
      wait.pause(other);
    }
    return false;
  }

  /** A held job is in the way until somebody publishes or discards it. */
  private boolean isPastHeld(StagingRoot other, Wait wait) throws IOException {
    Optional<ReplaceNote> note = ReplaceNote.read(store, other);
    Optional<Path> identity = config.commitId.map(CommitLedger::lock);
    if (identity.isPresent()
        && note.filter(held -> held.meets(List.of(identity.get()))).isPresent()) {
      wait.heldTwin = other.jobId();
      return false;
    }
    // A process that publishes it looks whether a job that lives replaces the same.
    leave();
    if (config.holdConflict == HoldConflict.FAIL) {
      throw new IOException(
          "Job "
              + other.jobId()
              + " is held and is to replace "
              + wait.shared(note)
              + " of "
              + own.directory()
              + ", which job "
              + own.jobId()
              + " replaces, too. Nothing was changed. "
              + Recovery.heldAdvice(other)
              + ". Then run this job again; or have it wait ("
              + CommitterConfig.HOLD_CONFLICT
              + ")");
    }
    wait.forPlaces(other, note);
    while (store.status(other.replaces()).isPresent() && others.state(other).equals(HELD)) {
      wait.pause(other);
    }
    return false;
  }

  /** All that a job waits until it is first. */
  private final class Wait {
    private final Collection<Path> places;
    private final UnfinishedJobs unfinished;
    private final Pause pause;

    private final long since = signs.nanos.getAsLong();
    private Waiting forWhat;

    /**
     * A held job that has the same identity: this one need not wait, since it has nothing to do.
     */
    private String heldTwin;

    Wait(Collection<Path> places, UnfinishedJobs unfinished, Pause pause) {
      this.places = places;
      this.unfinished = unfinished;
      this.pause = pause;
    }

    /** Notes which of the places another job replaces, to show what this job waits for. */
    void forPlaces(StagingRoot other, Optional<ReplaceNote> note) {
      forWhat = new Waiting(other.jobId(), "which replaces " + shared(note));
    }

    String shared(Optional<ReplaceNote> note) {
      return note.map(theirs -> theirs.shared(places, own.directory())).orElse("the same places");
    }

    void pause(StagingRoot other) throws IOException {
      long waited = TimeUnit.NANOSECONDS.toMillis(signs.nanos.getAsLong() - since);
      if (waited >= config.replaceWait) {
        String working =
            ReplaceNote.read(store, other)
                .map(note -> ", works there on " + note.host + " since " + note.since)
                .orElse("");
        leave();
        throw new IOException(
            "Job "
                + own.jobId()
                + " waited "
                + waited / 1000
                + " s for job "
                + other.jobId()
                + ", which replaces some of the same places of "
                + own.directory()
                + working
                + (others.state(other).equals(HELD) ? " and is held" : " and still lives")
                + ". Nothing was changed. Run the job again once the other has ended, or wait longer ("
                + CommitterConfig.REPLACE_WAIT
                + ")");
      }
      if (forWhat == null || !forWhat.jobId.equals(other.jobId())) {
        forPlaces(other, Optional.empty());
      }
      pause.pause(forWhat);
    }
  }
}
