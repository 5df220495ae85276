package io.manifestcommitter.journal;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.config.CommitterConfig.UnfinishedJobsMode;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.Store;
import java.io.IOException;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets jobs that replace the same places of one table do so one after the other.
 *
 * <p>Each writes a note of its places into its staging root before it looks at what stands there,
 * and then looks for the notes of others: of two at least one sees the other. The job with the
 * larger id withdraws its note and begins again when the other's is gone; the one with the smaller
 * id keeps its own and waits until the other has withdrawn, or has ended. A job that waits has no
 * note or a smaller id than those that it waits for, so no two wait for each other.
 *
 * <p>A note whose job is dead is deleted by whoever goes past it. Its driver, if it only stood
 * still, looks for its note after it has written its journal, and fails ({@link
 * #requireNotTakenForDead}). A dead job that has a journal is recovered first; a job that does that
 * has no note of its own meanwhile.
 */
public final class ReplacingJobs {
  private static final Logger LOG = LoggerFactory.getLogger(ReplacingJobs.class);

  private final Store store;
  private final CommitterConfig config;
  private final StagingRoot own;

  /**
   * The other jobs of a table.
   *
   * @param own the staging root, in the table, of the job that replaces
   */
  public ReplacingJobs(Store store, CommitterConfig config, StagingRoot own) {
    this.store = store;
    this.config = config;
    this.own = own;
  }

  /**
   * Returns when this job may look at the places and replace them. Three requests, and one for each
   * staging root of another job.
   *
   * @param places none of which lies in another
   * @throws io.manifestcommitter.manifest.CorruptManifestException if another's note is damaged
   * @throws WaitedTooLongException if others replaced some of the places for too long
   * @throws IOException also if a dead job has begun to change one of the places, and may not, or
   *     cannot, be recovered
   */
  public void enter(Collection<Path> places, Pause pause) throws IOException {
    Wait wait = new Wait(places, pause);
    do {
      ReplaceNote.write(store, own, places);
    } while (!isFirst(places, wait));
  }

  /**
   * Requires that nobody took this job for dead since it entered. One request.
   *
   * @throws TakenForDeadException if somebody did
   */
  public void requireNotTakenForDead() throws IOException {
    if (!ReplaceNote.exists(store, own)) {
      throw new TakenForDeadException(own, config.heartbeatTimeout());
    }
  }

  /** Tells the others that this job is done with its places. One request. */
  public void leave() throws IOException {
    ReplaceNote.delete(store, own);
  }

  /**
   * Requires, on behalf of a dead job, that no job that lives replaces any of its places. Changes
   * nothing. Two requests, and one for each staging root of another job.
   *
   * @throws PlacesInUseException if one does
   */
  void requireNone(Collection<Path> places) throws IOException {
    for (StagingRoot other : meeting(places)) {
      if (isAlive(other)) {
        throw new PlacesInUseException(own, other);
      }
    }
  }

  /**
   * As {@link #requireNone}, and keeps others out from here on. The dead job has a heartbeat by
   * now, so that jobs wait for it.
   *
   * @throws PlacesInUseException if one replaces some of the places
   */
  void enterForDead(Collection<Path> places) throws IOException {
    if (!ReplaceNote.exists(store, own)) {
      ReplaceNote.write(store, own, places);
    }
    for (StagingRoot other : meeting(places)) {
      if (isAlive(other) || !(isUnfinished(other) || fence(other))) {
        throw new PlacesInUseException(own, other);
      }
    }
  }

  /** Whether this job's note stood while all others were out of the way. */
  private boolean isFirst(Collection<Path> places, Wait wait) throws IOException {
    for (StagingRoot other : StagingRoots.list(store, own.directory())) {
      if (meets(other, places) && !isPast(other, wait)) {
        return false;
      }
    }
    return true;
  }

  private boolean isPast(StagingRoot other, Wait wait) throws IOException {
    if (!isAlive(other)) {
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
    while (ReplaceNote.exists(store, other)) {
      Optional<Heartbeat.Beat> beat = Heartbeat.look(store, other).filter(this::isFresh);
      if (!beat.isPresent()) {
        return !yields && isPastDead(other, wait);
      }
      wait.pause(other, beat.get().now());
    }
    LOG.info("Job {} goes on: job {} is out of the way", own.jobId(), other.jobId());
    return !yields;
  }

  private boolean isPastDead(StagingRoot other, Wait wait) throws IOException {
    if (!isUnfinished(other) && fence(other)) {
      return true;
    }
    UnfinishedJobs unfinished = new UnfinishedJobs(store, config, wait.pause);
    if (config.unfinishedJobs() == UnfinishedJobsMode.WARN && !isAlive(other)) {
      unfinished.settle(List.of(other));
      return true;
    }
    if (wait.stuck.contains(other.root())) {
      return true;
    }
    leave();
    while (isUnfinished(other) && !isAlive(other)) {
      SettledJobs settled = unfinished.settle(List.of(other));
      settled.requireNoneAt(wait.places);
      if (settled.hasStuck()) {
        wait.stuck.add(other.root());
      }
      if (settled.hasStuck() || settled.hasRecovered()) {
        return false;
      }
      wait.pause(other, Heartbeat.now(store, own.directory()));
    }
    return false;
  }

  /**
   * Deletes the note of a dead job that has no journal.
   *
   * @return false if it has one by now: it lives, and may have looked for its note before
   */
  private boolean fence(StagingRoot dead) throws IOException {
    Optional<ReplaceNote> note = ReplaceNote.read(store, dead);
    ReplaceNote.delete(store, dead);
    if (!isUnfinished(dead)) {
      return true;
    }
    if (note.isPresent()) {
      ReplaceNote.write(store, dead, note.get());
    }
    return false;
  }

  private List<StagingRoot> meeting(Collection<Path> places) throws IOException {
    List<StagingRoot> others = StagingRoots.list(store, own.directory());
    for (StagingRoot other : List.copyOf(others)) {
      if (!meets(other, places)) {
        others.remove(other);
      }
    }
    return others;
  }

  private boolean meets(StagingRoot other, Collection<Path> places) throws IOException {
    return !other.jobId().equals(own.jobId())
        && ReplaceNote.read(store, other).filter(note -> note.meets(places)).isPresent()
        && !new Recovery(store, config, /* force= */ false).hasEnded(other);
  }

  private boolean isAlive(StagingRoot other) throws IOException {
    return Heartbeat.look(store, other).filter(this::isFresh).isPresent();
  }

  private boolean isFresh(Heartbeat.Beat beat) {
    return beat.age() < config.heartbeatTimeout();
  }

  private boolean isUnfinished(StagingRoot other) throws IOException {
    return new Recovery(store, config, /* force= */ false).isUnfinished(other);
  }

  /** All that a job waits until it is first, by the store's clock. */
  private final class Wait {
    private final Collection<Path> places;
    private final Pause pause;

    /** Dead jobs that cannot be ended, and have nothing left to do at the places of this one. */
    private final Set<Path> stuck = new HashSet<>();

    private long since = -1;

    Wait(Collection<Path> places, Pause pause) {
      this.places = places;
      this.pause = pause;
    }

    void pause(StagingRoot other, long now) throws IOException {
      since = since < 0 ? now : since;
      if (now - since >= config.replaceWait()) {
        Optional<ReplaceNote> note = ReplaceNote.read(store, other);
        leave();
        throw new WaitedTooLongException(own, other, note, now - since);
      }
      pause.pause();
    }
  }
}
