// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.journal;

import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/**
 * A journal that holds the plan. Its name shows how far the commit came, and which holder goes on
 * with it. The driver that wrote it is holder 0, each recovery takes a number that no other has.
 * Every change of it is one rename, so one of two processes that try fails. No two try for the same
 * name, where one could take what the other did for its own.
 */
final class RenamedJournal extends CommitJournal {
  private static final String ROLLING_BACK = "rolling-back";
  private static final int TRIES = 3;
  private static final SecureRandom HOLDERS = new SecureRandom();
  private static final int MOST_HOLDERS = 999_999_999;

  /**
   * Makes the number of a recovery without a heartbeat odd. With one it is even, as the driver's
   * is.
   */
  private static final int SILENT = 1;

  private final long size;
  private State state;
  private Optional<State> end = Optional.of(State.FINISHED);
  private int holder;

  /** Whether the commit has ended, which the name of the journal does not say. */
  private boolean isOver;

  /** Whether a file says that the commit is given up, since the journal could not be renamed. */
  private boolean isMarked;

  private final int next = 2 + 2 * HOLDERS.nextInt(MOST_HOLDERS / 2 - 1);

  private RenamedJournal(Store store, Path directory, long size, State state, int holder) {
    super(store, directory);
    this.size = size;
    this.state = state;
    this.holder = holder;
  }

  static CommitJournal writeIn(Store store, Path directory, JobPlan plan) throws IOException {
    FileEntry written =
        Store.writeNew(
            store,
            new Path(directory, TEMPORARY),
            path(directory, first(plan), 0),
            out -> PlanRecords.write(out, plan));
    return new RenamedJournal(store, directory, written.size(), first(plan), 0);
  }

  @Override
  void name() throws IOException {
    move(new FileEntry(new Path(directory, TEMPORARY), path(), size, null, 0));
  }

  @Override
  boolean isUnnamed() throws IOException {
    return store.status(new Path(directory, TEMPORARY)).isPresent();
  }

  static Optional<RenamedJournal> findIn(Store store, Path directory) throws IOException {
    List<RenamedJournal> found = list(store, directory);
    if (found.size() > 1) {
      // One that is renamed meanwhile may be listed by both names.
      found = list(store, directory);
    }
    if (found.size() > 1) {
      throw new CorruptManifestException(
          "There are several journals in "
              + directory
              + ", so none is trusted: "
              + found
              + ". Move all but the right one out of there, and recover the table again");
    }
    return found.stream().findFirst();
  }

  private static List<RenamedJournal> list(Store store, Path directory) throws IOException {
    List<RenamedJournal> found = new ArrayList<>();
    boolean[] isMarked = {false};
    for (StoreEntry entry :
        list(store, directory, other -> isMarked[0] |= other.name().equals(ROLLING_BACK))) {
      found.add(
          new RenamedJournal(
              store,
              directory,
              entry.length(),
              stateIn(entry.name()).orElseThrow(),
              holderIn(entry.name())));
    }
    found.forEach(journal -> journal.isMarked = isMarked[0]);
    return found;
  }

  @Override
  public State state() {
    return isMarked && state.mayGoBack() ? State.REVOKED : state;
  }

  @Override
  public Path path() {
    return path(directory, state, holder);
  }

  @Override
  long planLength() {
    return size;
  }

  @Override
  public void claim(State to, boolean hasHeartbeat) throws IOException {
    change(to, hasHeartbeat ? next : next + SILENT);
  }

  @Override
  public boolean isHeldWithoutHeartbeat() {
    return holder % 2 == SILENT;
  }

  @Override
  public int holder() {
    return holder - holder % 2;
  }

  @Override
  public int nextHolder() {
    return next;
  }

  @Override
  public boolean revoke() throws IOException {
    if (!isOver && !isMarked && state.mayGoBack()) {
      try {
        change(State.REVOKED, holder);
      } catch (LostJournalException e) {
        throw e;
      } catch (IOException e) {
        // A store that refuses to rename may let a file be written.
        requireHeld();
        store.write(new Path(directory, ROLLING_BACK), out -> {});
        isMarked = true;
      }
    }
    return state() == State.REVOKED;
  }

  @Override
  public void pointOfNoReturn() throws IOException {
    change(State.COMMITTED, holder);
  }

  @Override
  public void endsAs(Optional<State> last) {
    end = last;
  }

  @Override
  public void end() throws IOException {
    if (end.isPresent()) {
      change(end.get(), holder);
    }
    isOver = true;
  }

  @Override
  public void ended() throws IOException {
    change(State.FINISHED, holder);
  }

  private void change(State to, int newHolder) throws IOException {
    if (state != to || holder != newHolder) {
      move(new FileEntry(path(), path(directory, to, newHolder), size, null, 0));
      state = to;
      holder = newHolder;
    }
  }

  private void move(FileEntry file) throws IOException {
    RenameResult result = store.renameFile(file);
    for (int tries = 1; tries < TRIES && result.outcome() == RenameResult.Outcome.FAILED; tries++) {
      result = store.renameFile(file);
    }
    if (result.isDone()) {
      return;
    }
    if (!store.status(file.source()).isPresent() && !store.status(file.destination()).isPresent()) {
      throw lost(file.source());
    }
    throw result.failure("Could not note the state of the commit");
  }
}
