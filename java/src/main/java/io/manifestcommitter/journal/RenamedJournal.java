// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.journal;

import io.manifestcommitter.commit.NewFile;
import io.manifestcommitter.commit.Retries;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A journal that holds the plan, and whose name tells how far the commit came and who goes on with
 * it: the driver that wrote it is holder 0, each recovery takes a number that no other has. Every
 * change of it is one rename, so one of two that try fails; and no two try for the same name, where
 * the one could take what the other did for its own.
 *
 * <p>Where a rename is a copy and a deletion, there may be several. The one that was there first
 * counts, which is whole: states and holders only grow, so it is the least. Whoever changed the
 * journal then looks whether it has the least one, and removes the others: of two that tried, both
 * made their copies before either deleted what they copied, so both see both.
 */
final class RenamedJournal extends CommitJournal {
  private static final Logger LOG = LoggerFactory.getLogger(RenamedJournal.class);
  private static final String ROLLING_BACK = "rolling-back";
  private static final int TRIES = 3;
  private static final SecureRandom HOLDERS = new SecureRandom();
  private static final int MOST_HOLDERS = 999_999_999;

  /** The number of who has a heartbeat is even, as the driver's, and of who has none odd. */
  private static final int SILENT = 1;

  /** So many numbers that two which claim at once do not draw the same one. */
  private static final int MOST_STEP = 10_000_000;

  private static final Comparator<RenamedJournal> ORDER =
      Comparator.<RenamedJournal, State>comparing(journal -> journal.state)
          .thenComparing(journal -> journal.holder);

  private final long size;
  private State state;
  private Optional<State> end = Optional.of(State.FINISHED);
  private int holder;

  /** Whether a file says that the commit is given up, since the journal could not be renamed. */
  private boolean isMarked;

  private final int next = 2 + 2 * HOLDERS.nextInt(MOST_HOLDERS / 2 - 1);

  /** Of a claim that was cut short, or is under way: the next one has to come before it. */
  private int nextHolder = MOST_HOLDERS + 1;

  private RenamedJournal(Store store, Path directory, long size, State state, int holder) {
    super(store, directory);
    this.size = size;
    this.state = state;
    this.holder = holder;
  }

  static CommitJournal writeIn(Store store, Path directory, JobPlan plan) throws IOException {
    FileEntry written =
        NewFile.write(
            store,
            new Path(directory, TEMPORARY),
            path(directory, State.PLANNED, 0),
            out -> PlanRecords.write(out, plan));
    return new RenamedJournal(store, directory, written.size(), State.PLANNED, 0);
  }

  @Override
  public void begin() throws IOException {
    move(new FileEntry(new Path(directory, TEMPORARY), path(), size, null, 0));
  }

  @Override
  public boolean hasNoName() throws IOException {
    return store.status(new Path(directory, TEMPORARY)).isPresent();
  }

  static Optional<CommitJournal> findIn(Store store, Path directory) throws IOException {
    List<RenamedJournal> found = list(store, directory);
    if (found.size() > 1) {
      // One that is renamed meanwhile may be listed by both names.
      found = list(store, directory);
    }
    if (found.size() > 1 && mayLeaveBothEnds(store, directory)) {
      return Optional.of(least(found));
    }
    if (found.size() > 1) {
      throw new CorruptManifestException(
          "There are several journals in "
              + directory
              + ", so none is trusted: "
              + found
              + ". Move all but the right one out of there, and recover the table again");
    }
    return found.stream().<CommitJournal>map(only -> only).findFirst();
  }

  private static List<RenamedJournal> list(Store store, Path directory) throws IOException {
    List<RenamedJournal> found = new ArrayList<>();
    boolean[] isWritten = {true};
    boolean[] isMarked = {false};
    for (StoreEntry entry :
        list(
            store,
            directory,
            other -> {
              isWritten[0] &= !other.name().equals(TEMPORARY);
              isMarked[0] |= other.name().equals(ROLLING_BACK);
            })) {
      found.add(
          new RenamedJournal(
              store,
              directory,
              entry.length(),
              stateIn(entry.name()).orElseThrow(),
              holderIn(entry.name())));
    }
    found.forEach(journal -> journal.isMarked = isMarked[0]);
    // Beside what it is a copy of it may be a part, and nothing has begun.
    return isWritten[0] || !mayLeaveBothEnds(store, directory) ? found : List.of();
  }

  /** The one that counts, of several; not a part of one, which has fewer bytes. */
  private static RenamedJournal least(List<RenamedJournal> found) {
    long whole = found.stream().mapToLong(journal -> journal.size).max().orElse(0);
    RenamedJournal least =
        found.stream().filter(journal -> journal.size == whole).min(ORDER).orElseThrow();
    for (RenamedJournal other : found) {
      if (other.state == least.state && other.holder > least.holder) {
        least.nextHolder = Math.min(least.nextHolder, other.holder);
      }
    }
    return least;
  }

  private static boolean mayLeaveBothEnds(Store store, Path directory) {
    return store.traits(directory).fileRename().mayLeaveBothEndsInPlace();
  }

  /** It goes with its directory. */
  @Override
  public void discard() {}

  @Override
  public State state() {
    return isMarked && state == State.PLANNED ? State.REVOKED : state;
  }

  @Override
  public Path path() {
    return path(directory, state, holder);
  }

  @Override
  Path planFile() {
    return path();
  }

  @Override
  long planLength() {
    return size;
  }

  @Override
  public void claim() throws IOException {
    change(state, mayLeaveBothEnds(store, directory) ? laterHolder() : next);
  }

  @Override
  public void claimWithoutHeartbeat() throws IOException {
    change(state, mayLeaveBothEnds(store, directory) ? laterHolder() : next + SILENT);
  }

  @Override
  public boolean isHeldWithoutHeartbeat() {
    return holder % 2 == SILENT && !mayLeaveBothEnds(store, directory);
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
    if (state() == State.PLANNED) {
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
  public boolean hasPlan() {
    return true;
  }

  /** Copies of one journal are told by their order. */
  private int laterHolder() throws IOException {
    int numbers = Math.min(MOST_STEP, nextHolder - holder - 1);
    if (numbers < 1) {
      throw new IOException(
          path() + " was recovered too often: remove the other journals next to it");
    }
    return holder + 1 + HOLDERS.nextInt(numbers);
  }

  @Override
  public void pointOfNoReturn() throws IOException {
    change(State.COMMITTED, holder);
  }

  @Override
  public void endsBefore(Cleanup cleanup) {
    end =
        cleanup == Cleanup.AT_ONCE
            ? Optional.empty()
            : Optional.of(cleanup == Cleanup.SKIPPED ? State.KEPT : State.FINISHED);
  }

  /** One deletion takes all of it, or its one file tells how far it came until it is gone. */
  @Override
  public boolean isStillToEnd() {
    return false;
  }

  @Override
  public void end() throws IOException {
    if (end.isPresent()) {
      end(end.get());
    }
  }

  @Override
  public void ended() throws IOException {
    end(State.FINISHED);
  }

  /** Once it has the name, there is no way back: what fails after that changes nothing. */
  private void end(State to) throws IOException {
    try {
      change(to, holder);
    } catch (LostJournalException e) {
      throw e;
    } catch (IOException e) {
      if (state != to) {
        throw e;
      }
      LOG.warn("{} could not be compared with others beside it", path(), e);
    }
  }

  private void change(State to, int newHolder) throws IOException {
    if (state != to || holder != newHolder) {
      move(new FileEntry(path(), path(directory, to, newHolder), size, null, 0));
      state = to;
      holder = newHolder;
      requireLeast();
    }
  }

  /** Where a rename may be a copy: that nobody else took the journal at the same moment. */
  private void requireLeast() throws IOException {
    if (!mayLeaveBothEnds(store, directory)) {
      return;
    }
    // Again if it fails: what was changed is changed.
    List<RenamedJournal> found = Retries.fewFor(() -> list(store, directory));
    if (found.isEmpty() || !least(found).path().equals(path())) {
      store.deleteFile(path());
      throw lost(path());
    }
    for (RenamedJournal other : found) {
      if (!other.path().equals(path())) {
        store.deleteFile(other.path());
      }
    }
  }

  private void move(FileEntry file) throws IOException {
    RenameResult result = store.renameFile(file);
    for (int tries = 1; tries < TRIES && mayBeRepeated(file, result); tries++) {
      result = store.renameFile(file);
    }
    if (result.isDone()) {
      return;
    }
    if (!store.status(file.source()).isPresent()) {
      Optional<StoreEntry> copy = store.status(file.destination());
      if (copy.isPresent() && mayLeaveBothEnds(store, directory)) {
        if (copy.get().isSameFileAs(file)) {
          return;
        }
        // A part: somebody else took the journal while it was copied.
        store.deleteFile(file.destination());
        copy = Optional.empty();
      }
      if (!copy.isPresent()) {
        throw lost(file.source());
      }
    }
    throw result.failure("Could not note the state of the commit");
  }

  /** Also after a copy was made and the deletion refused: the copy goes. */
  private boolean mayBeRepeated(FileEntry file, RenameResult result) throws IOException {
    if (mayLeaveBothEnds(store, directory) && result.inTheWay().isPresent()) {
      store.deleteFile(file.destination());
      return true;
    }
    return result.outcome() == RenameResult.Outcome.FAILED;
  }
}
