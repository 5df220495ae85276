package io.manifestcommitter.journal;

import io.manifestcommitter.commit.CountingOutputStream;
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
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.Path;

/**
 * The plan of a job commit, in the job's staging directory, from before its first visible change
 * until all is done. Its name, {@code journal-<state>-<holder>}, tells how far the commit came and
 * who goes on with it: the driver that wrote it is holder 0, each recovery takes a number that no
 * other has. Every change of it is one rename, so one of two that try fails; and no two try for the
 * same name, where the one could take what the other did for its own.
 */
public final class CommitJournal {
  private static final String NAME = "journal";
  private static final Pattern NAMES = Pattern.compile(NAME + "-([a-z]+)-(0|[1-9][0-9]{0,8})");

  /** A plan of some ten million files. */
  private static final int LIMIT = 1 << 30;

  /** What the file itself may take of the heap, twice while it is read. */
  private static final int HEAP_SHARE = 4;

  private static final int TRIES = 3;
  private static final SecureRandom HOLDERS = new SecureRandom();
  private static final int MOST_HOLDERS = 999_999_999;

  private final Store store;
  private final Path directory;
  private final long size;
  private State state;
  private int holder;

  private CommitJournal(Store store, Path directory, long size, State state, int holder) {
    this.store = store;
    this.directory = directory;
    this.size = size;
    this.state = state;
    this.holder = holder;
  }

  /** How far a commit came. */
  public enum State {
    /** Its changes have begun, perhaps. They can be taken back. */
    PLANNED,
    /** The new data is complete at its place, and the old may be going. */
    COMMITTED,
    /** There is nothing left to do but to clean up. */
    FINISHED
  }

  /** Writes a journal: from here on the commit can be finished or taken back by anyone. */
  public static CommitJournal write(Store store, Path directory, JobPlan plan) throws IOException {
    Path temporary = new Path(directory, NAME + ".tmp");
    long[] size = {0};
    store.write(
        temporary,
        out -> {
          CountingOutputStream counted = new CountingOutputStream(out);
          PlanRecords.write(counted, plan);
          counted.flush();
          size[0] = counted.count();
        });
    CommitJournal journal = new CommitJournal(store, directory, size[0], State.PLANNED, 0);
    journal.move(temporary, journal.path());
    return journal;
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
    try {
      store.list(
          directory,
          entry -> {
            if (isJournal(entry.name()) && !entry.isDirectory()) {
              found.add(read(store, directory, entry));
            }
          });
    } catch (FileNotFoundException e) {
      return List.of();
    }
    return found;
  }

  /** Whether a file of this name is a journal, perhaps of another version of the committer. */
  static boolean isJournal(String name) {
    return name.startsWith(NAME + "-");
  }

  /** The state of the journal that has this name; empty if it is none, or one that is not known. */
  static Optional<State> stateIn(String name) {
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

  /** How far the commit came. */
  public State state() {
    return state;
  }

  /** Where it is. */
  public Path path() {
    return path(state, holder);
  }

  /**
   * Takes the journal from whoever has it.
   *
   * @throws LostJournalException if somebody else took it first
   */
  public void claim() throws IOException {
    change(state, 1 + HOLDERS.nextInt(MOST_HOLDERS));
  }

  /**
   * Marks the commit as past the point of no return.
   *
   * @throws LostJournalException if somebody else has the journal by now
   */
  public void committed() throws IOException {
    change(State.COMMITTED, holder);
  }

  /**
   * Marks that there is nothing left to do.
   *
   * @throws LostJournalException if somebody else has the journal by now
   */
  public void finished() throws IOException {
    change(State.FINISHED, holder);
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
   * @param target the table and the job's staging root there
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
    return PlanRecords.read(new ByteArrayInputStream(content), jobId, target, path().toString());
  }

  private void change(State to, int newHolder) throws IOException {
    if (state != to || holder != newHolder) {
      move(path(), path(to, newHolder));
      state = to;
      holder = newHolder;
    }
  }

  private void move(Path from, Path to) throws IOException {
    FileEntry file = new FileEntry(from, to, size, null, 0);
    RenameResult result = store.renameFile(file);
    for (int tries = 1; tries < TRIES && result.outcome() == RenameResult.Outcome.FAILED; tries++) {
      result = store.renameFile(file);
    }
    if (result.isDone()) {
      return;
    }
    if (!store.status(from).isPresent() && !store.status(to).isPresent()) {
      throw new LostJournalException(from);
    }
    throw new IOException(
        "Could not note the state of the commit: " + result.explanation(),
        result.cause().orElse(null));
  }

  private Path path(State of, int by) {
    return StorePaths.resolve(
        directory, NAME + "-" + of.name().toLowerCase(Locale.ROOT) + "-" + by);
  }

  @Override
  public String toString() {
    return path().toString();
  }
}
