package io.manifestcommitter.journal;

import io.manifestcommitter.commit.Attempts;
import io.manifestcommitter.commit.CommitLog;
import io.manifestcommitter.commit.NewFile;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.Target;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.ByteArrayInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The plan of a job commit, in the job's staging directory, from before its first visible change
 * until all is done. Its name, {@code journal-<state>-<holder>}, tells how far the commit came and
 * who goes on with it: the driver that wrote it is holder 0, each recovery takes a number that no
 * other has. Every change of it is one rename, so one of two that try fails; and no two try for the
 * same name, where the one could take what the other did for its own.
 *
 * <p>Where a rename is a copy and a deletion, there may be several. The one that was there first
 * counts, which is whole: states and holders only grow, so it is the least. Whoever changed the
 * journal then looks whether it has the least one, and removes the others: of two that tried, both
 * made their copies before either deleted what they copied, so both see both.
 */
public final class CommitJournal implements CommitLog {
  private static final Logger LOG = LoggerFactory.getLogger(CommitJournal.class);
  private static final String NAME = "journal";

  /** What is renamed to a journal once it is written. */
  public static final String TEMPORARY = NAME + ".tmp";

  private static final String ROLLING_BACK = "rolling-back";
  private static final Pattern NAMES = Pattern.compile(NAME + "-([a-z]+)-(0|[1-9][0-9]{0,8})");

  /** A plan of some ten million files. */
  private static final int LIMIT = 1 << 30;

  /** What the file itself may take of the heap, twice while it is read. */
  private static final int HEAP_SHARE = 4;

  private static final int TRIES = 3;
  private static final SecureRandom HOLDERS = new SecureRandom();
  private static final int MOST_HOLDERS = 999_999_999;

  /** So many numbers that two which claim at once do not draw the same one. */
  private static final int MOST_STEP = 10_000_000;

  private static final Comparator<CommitJournal> ORDER =
      Comparator.<CommitJournal, State>comparing(journal -> journal.state)
          .thenComparing(journal -> journal.holder);

  private final Store store;
  private final Path directory;
  private final long size;
  private State state;
  private Optional<State> end = Optional.of(State.FINISHED);
  private int holder;

  /** Of a claim that was cut short, or is under way: the next one has to come before it. */
  private int nextHolder = MOST_HOLDERS + 1;

  private CommitJournal(Store store, Path directory, long size, State state, int holder) {
    this.store = store;
    this.directory = directory;
    this.size = size;
    this.state = state;
    this.holder = holder;
  }

  /** How far a commit came. */
  public enum State {
    /** Its changes have begun, perhaps. They can be rolled back. */
    PLANNED,
    /** The new data is complete at its place, and the old may be going. */
    COMMITTED,
    /** There is nothing left to do but to clean up. */
    FINISHED,
    /** There is nothing left to do, and the job was told not to clean up. */
    KEPT;

    /** Whether there is nothing left to do that a reader of the table could see. */
    public boolean isEnd() {
      return this == FINISHED || this == KEPT;
    }
  }

  /** Writes a journal that nobody finds yet. One request. */
  public static CommitJournal write(Store store, Path directory, JobPlan plan) throws IOException {
    FileEntry written =
        NewFile.write(
            store,
            new Path(directory, TEMPORARY),
            path(directory, State.PLANNED, 0),
            out -> PlanRecords.write(out, plan));
    return new CommitJournal(store, directory, written.size(), State.PLANNED, 0);
  }

  /** From here on the commit can be completed or rolled back by anyone. One request. */
  public void begin() throws IOException {
    move(new FileEntry(new Path(directory, TEMPORARY), path(), size, null, 0));
  }

  /**
   * Whether {@link #begin} left it where nobody finds it: nothing has begun then. One request; the
   * answer to the rename may have been lost.
   */
  public boolean hasNoName() throws IOException {
    return store.status(new Path(directory, TEMPORARY)).isPresent();
  }

  /**
   * The journal in a directory, if there is one.
   *
   * @throws CorruptManifestException if there are several, or one whose name no version of the
   *     committer that is known here gives
   */
  public static Optional<CommitJournal> find(Store store, Path directory) throws IOException {
    List<CommitJournal> found = list(store, directory);
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
    return found.stream().findFirst();
  }

  private static List<CommitJournal> list(Store store, Path directory) throws IOException {
    List<CommitJournal> found = new ArrayList<>();
    boolean[] isWritten = {true};
    try {
      store.list(
          directory,
          entry -> {
            isWritten[0] &= !entry.name().equals(TEMPORARY);
            if (isJournal(entry.name()) && !entry.isDirectory()) {
              found.add(read(store, directory, entry));
            }
          });
    } catch (FileNotFoundException e) {
      return List.of();
    }
    // Beside what it is a copy of it may be a part, and nothing has begun.
    return isWritten[0] || !mayLeaveBothEnds(store, directory) ? found : List.of();
  }

  /** The one that counts, of several; not a part of one, which has fewer bytes. */
  private static CommitJournal least(List<CommitJournal> found) {
    long whole = found.stream().mapToLong(journal -> journal.size).max().orElse(0);
    CommitJournal least =
        found.stream().filter(journal -> journal.size == whole).min(ORDER).orElseThrow();
    for (CommitJournal other : found) {
      if (other.state == least.state && other.holder > least.holder) {
        least.nextHolder = Math.min(least.nextHolder, other.holder);
      }
    }
    return least;
  }

  private static boolean mayLeaveBothEnds(Store store, Path directory) {
    return store.traits(directory).fileRename().mayLeaveBothEndsInPlace();
  }

  /** Whether a file of this name is a journal, perhaps of another version of the committer. */
  public static boolean isJournal(String name) {
    return name.startsWith(NAME + "-");
  }

  /** The state of the journal that has this name; empty if it is none, or one that is not known. */
  public static Optional<State> stateIn(String name) {
    Matcher parts = NAMES.matcher(name);
    return parts.matches() ? state(parts.group(1)) : Optional.empty();
  }

  private static Optional<State> state(String name) {
    for (State state : State.values()) {
      if (state.name().toLowerCase(Locale.ROOT).equals(name)) {
        return Optional.of(state);
      }
    }
    return Optional.empty();
  }

  private static CommitJournal read(Store store, Path directory, StoreEntry entry)
      throws IOException {
    Matcher name = NAMES.matcher(entry.name());
    Optional<State> state = stateIn(entry.name());
    if (!name.matches() || !state.isPresent()) {
      throw new CorruptManifestException(
          entry.path()
              + " is in a state that this version of the committer does not know. Recover the table"
              + " with the version that wrote it; if none did, move the file out of there first");
    }
    return new CommitJournal(
        store, directory, entry.length(), state.get(), Integer.parseInt(name.group(2)));
  }

  /** How far the commit came; after a change of it that failed, how far it may have come. */
  public State state() {
    return state;
  }

  /** Where it is. */
  public Path path() {
    return path(directory, state, holder);
  }

  /**
   * Takes the journal from whoever has it.
   *
   * @throws LostJournalException if somebody else took it first
   */
  public void claim() throws IOException {
    change(state, mayLeaveBothEnds(store, directory) ? laterHolder() : otherHolder());
  }

  private int otherHolder() {
    int other = 1 + HOLDERS.nextInt(MOST_HOLDERS);
    return other == holder ? otherHolder() : other;
  }

  /** Copies of one journal are told by their order. */
  private int laterHolder() throws IOException {
    int numbers = Math.min(MOST_STEP, nextHolder - holder - 1);
    if (numbers < 1) {
      throw new IOException(
          path() + " was recovered too often: remove the other journals beside it");
    }
    return holder + 1 + HOLDERS.nextInt(numbers);
  }

  /**
   * Marks the commit as past the point of no return.
   *
   * @throws LostJournalException if somebody else has the journal by now
   */
  @Override
  public void pointOfNoReturn() throws IOException {
    change(State.COMMITTED, holder);
  }

  /** Says that the staging directory is to stay when the commit comes to its end. */
  public void keepsStaging() {
    end = Optional.of(State.KEPT);
  }

  /**
   * Says that the staging directory is deleted, by one request, right after the commit came to its
   * end: that says it all.
   */
  public void goesWithStaging() {
    end = Optional.empty();
  }

  /**
   * Marks that there is nothing left to do, and whether the staging directory is to stay.
   *
   * @throws LostJournalException if somebody else has the journal by now
   */
  @Override
  public void end() throws IOException {
    if (end.isPresent()) {
      end(end.get());
    }
  }

  /**
   * Marks that there is nothing left to do, in whichever direction, but to clean up.
   *
   * @throws LostJournalException if somebody else has the journal by now
   */
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

  /**
   * Notes that the commit is rolled back, also if its report says that it is complete. One request.
   */
  public void rollingBack() throws IOException {
    store.write(new Path(directory, ROLLING_BACK), out -> {});
  }

  /** Whether that was noted. One request. */
  public boolean isRolledBack() throws IOException {
    return store.status(new Path(directory, ROLLING_BACK)).isPresent();
  }

  /** Whether it is still this holder's. One request. */
  public boolean isHeld() throws IOException {
    return store.status(path()).isPresent();
  }

  /**
   * Requires that it is still this holder's. One request.
   *
   * @throws LostJournalException if it is not
   */
  public void requireHeld() throws IOException {
    if (!isHeld()) {
      throw new LostJournalException(path());
    }
  }

  /**
   * The plan.
   *
   * @param target the table and the job's staging root there, under the name by which the caller
   *     came, whatever the driver called it
   * @throws CorruptManifestException if it is damaged, or no plan of that job
   * @throws IOException also if it needs more memory than there is
   */
  public JobPlan plan(String jobId, Target target) throws IOException {
    if (size > LIMIT) {
      throw new CorruptManifestException(path() + " has " + size + " bytes, more than any plan");
    }
    if (size > Runtime.getRuntime().maxMemory() / HEAP_SHARE) {
      throw HeapBudget.tooSmall(path().toString());
    }
    byte[] content = store.read(path(), LIMIT);
    return PlanRecords.read(
        new ByteArrayInputStream(content), jobId, target, store::named, path().toString());
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
    List<CommitJournal> found = Attempts.fewFor(() -> list(store, directory));
    if (found.isEmpty() || !least(found).path().equals(path())) {
      store.deleteFile(path());
      throw new LostJournalException(path());
    }
    for (CommitJournal other : found) {
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
        throw new LostJournalException(file.source());
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

  private static Path path(Path directory, State of, int by) {
    return StorePaths.resolve(
        directory, NAME + "-" + of.name().toLowerCase(Locale.ROOT) + "-" + by);
  }

  @Override
  public String toString() {
    return path().toString();
  }
}
