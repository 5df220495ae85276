// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.journal;

import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileIdentity;
import io.manifestcommitter.manifest.Record;
import io.manifestcommitter.manifest.RecordFile;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A journal where nothing can be renamed. The plan is a file of its own; beside it a small file for
 * each state that the commit came to, of which the furthest counts. There is no holder: several
 * processes may work on the commit at the same time.
 *
 * <p>The store decides, once and for all, whether the commit goes forward or back. The file of the
 * state past the point of no return is an upload that waits. A process that completes the commit
 * completes the upload; one that rolls back aborts it first. A store does only one of the two.
 *
 * <p>The journal of a held job has a file before those, with the same content as the first one. It
 * goes just before that.
 *
 * <p>The first file goes when the last one is written. So what is left of a journal whose deletion
 * was cut short never looks like a commit that may be rolled back. Records of the first file:
 *
 * <pre>
 * mark       size etag               the upload, as {@link io.manifestcommitter.manifest.FileIdentity.Upload} has it
 * </pre>
 */
final class UploadedJournal extends CommitJournal {
  private static final Logger LOG = LoggerFactory.getLogger(UploadedJournal.class);

  static final String PLAN = "plan";
  private static final String MARK = "mark";
  private static final int LIMIT = 1 << 20;

  private State state;
  private State end = State.FINISHED;

  /** The states that have a file; not always {@link #state}, where none may be made. */
  private SortedSet<State> noted;

  /** Whether the first file is known to be gone. */
  private boolean isOver;

  /** The upload that becomes the file of {@link State#COMMITTED}; null until it is read. */
  private FileEntry mark;

  private UploadedJournal(Store store, Path directory, List<State> noted, FileEntry mark) {
    super(store, directory);
    this.noted = new TreeSet<>(noted);
    this.state = this.noted.last();
    this.mark = mark;
  }

  static CommitJournal writeIn(Store store, Path directory, JobPlan plan) throws IOException {
    store.write(new Path(directory, PLAN), out -> PlanRecords.write(out, plan));
    File local = File.createTempFile("manifest-committer-", ".mark");
    try {
      Files.write(local.toPath(), "committed\n".getBytes(StandardCharsets.US_ASCII));
      StoreEntry uploaded = store.newUpload(local, path(directory, State.COMMITTED, 0)).finish();
      return new UploadedJournal(
          store,
          directory,
          List.of(first(plan)),
          mark(directory, uploaded.length(), uploaded.etag()));
    } finally {
      Files.delete(local.toPath());
    }
  }

  private static FileEntry mark(Path directory, long length, String etag) {
    Path place = path(directory, State.COMMITTED, 0);
    return FileEntry.uploaded(
        place.getParent(), place.getName(), new FileIdentity(length, etag, 0));
  }

  static Optional<UploadedJournal> findIn(Store store, Path directory) throws IOException {
    List<State> found = new ArrayList<>();
    list(store, directory, other -> {})
        .forEach(entry -> found.add(stateIn(entry.name()).orElseThrow()));
    if (found.isEmpty()) {
      return Optional.empty();
    }
    UploadedJournal journal = new UploadedJournal(store, directory, found, null);
    if (!journal.first().mayGoBack() && !journal.state.isEnd()) {
      // The commit has ended, where the file that says so could not be made.
      journal.state = State.FINISHED;
    }
    return Optional.of(journal);
  }

  @Override
  void name() throws IOException {
    Record record = new Record(MARK).with("size", mark.size()).with("etag", mark.etag());
    store.write(path(), out -> RecordFile.writeOnly(out, record));
  }

  @Override
  boolean isUnnamed() throws IOException {
    return !isHeld();
  }

  @Override
  public void discard() throws IOException {
    Retries.few(() -> store.abortUpload(mark()));
  }

  @Override
  public State state() {
    return state;
  }

  @Override
  public Path path() {
    return path(directory, noted.last(), 0);
  }

  @Override
  Path planFile() {
    return new Path(directory, PLAN);
  }

  @Override
  long planLength() throws IOException {
    return store.status(planFile()).map(StoreEntry::length).orElse(0L);
  }

  @Override
  public boolean hasPlan() throws IOException {
    return store.status(planFile()).isPresent();
  }

  @Override
  public void claim(State to, boolean hasHeartbeat) throws IOException {
    boolean wasHeld = state == State.HELD;
    UploadedJournal found = findIn(store, directory).orElseThrow(() -> lost(path()));
    state = found.state;
    noted = found.noted;
    if (wasHeld && (state != State.HELD || (to == State.REVOKED && !revoke()))) {
      throw lost(path(directory, State.HELD, 0));
    }
    if (state == State.HELD) {
      mark();
      state = to;
      noted.add(to);
      name();
    }
  }

  @Override
  public boolean revoke() throws IOException {
    if (state.mayGoBack()) {
      requireHeld();
      discard();
      if (Retries.fewFor(() -> store.status(mark().destination())).isPresent()) {
        state = State.COMMITTED;
        noted.add(state);
      } else {
        state = State.REVOKED;
        note(state);
      }
    }
    return state == State.REVOKED;
  }

  @Override
  public void pointOfNoReturn() throws IOException {
    if (state != State.PLANNED) {
      return;
    }
    RenameResult result = store.completeUpload(mark());
    if (result.outcome() == RenameResult.Outcome.FAILED) {
      throw lost(path());
    }
    result.orThrow("Could not note the state of the commit");
    state = State.COMMITTED;
    noted.add(state);
  }

  @Override
  public void endsAs(Optional<State> last) {
    end = last.orElse(State.FINISHED);
  }

  @Override
  public boolean isStillToEnd() {
    return !isOver;
  }

  /** Past the point of no return nothing that fails undoes the commit. */
  @Override
  public void end() throws IOException {
    pointOfNoReturn();
    try {
      end(end);
    } catch (IOException e) {
      LOG.warn("{} says that all is visible, but not yet that the commit has ended", path(), e);
    }
  }

  @Override
  public void ended() throws IOException {
    if (state.mayGoBack()) {
      discard();
    }
    end(state == State.COMMITTED ? end : State.FINISHED);
  }

  private void end(State to) throws IOException {
    if (isOver) {
      return;
    }
    if (!state.isEnd()) {
      // Asked first: a note would make again what another process has deleted.
      if (Retries.fewFor(this::isHeld)) {
        note(to);
      } else if (state != State.COMMITTED) {
        throw lost(path());
      }
      // If another process took the journal, that could only go forward, and did.
      state = to;
    }
    if (first() == State.HELD) {
      Retries.few(() -> store.deleteFile(path(directory, State.HELD, 0)));
    }
    Retries.few(() -> store.deleteFile(path(directory, State.PLANNED, 0)));
    isOver = true;
  }

  /**
   * Writes the file of a state. A process that may not create files goes on without it. The store
   * still shows which way the commit goes: by the upload, or because the first file is gone.
   */
  private void note(State what) {
    try {
      Retries.few(() -> store.write(path(directory, what, 0), out -> out.write('\n')));
      noted.add(what);
    } catch (IOException e) {
      LOG.warn("{} cannot be written, and the job goes on", path(directory, what, 0), e);
    }
  }

  @Override
  public Optional<FileEntry> decision() throws IOException {
    return Optional.of(mark());
  }

  private State first() {
    return noted.first();
  }

  private FileEntry mark() throws IOException {
    if (mark == null) {
      Path file = path(directory, first() == State.HELD ? State.HELD : State.PLANNED, 0);
      byte[] content;
      try {
        content = store.read(file, LIMIT);
      } catch (FileNotFoundException e) {
        // Its driver lives, and has ended the commit.
        throw lost(file);
      }
      try {
        mark =
            RecordFile.readOnly(
                content,
                file.toString(),
                record -> mark(directory, record.number("size"), record.text("etag")));
      } catch (CorruptManifestException e) {
        throw new CorruptManifestException(
            e.getMessage()
                + ". It is the journal's first file. Nothing was changed; to complete the commit,"
                + " run 'manifest-committer recover --complete'",
            e);
      }
    }
    return mark;
  }
}
