// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.journal;

import io.manifestcommitter.journal.PlanReader.HeapBudget;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.JobPlan.Target;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.ConsumerRaisingIOE;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The plan of a job commit, in the job's staging directory, from before its first visible change
 * until all is done. A name, {@code journal-<state>-<holder>}, shows how far the commit came.
 * {@link RenamedJournal} gives it another name with each change; where nothing can be renamed,
 * {@link UploadedJournal} adds one.
 */
public abstract class CommitJournal {
  private static final Logger LOG = LoggerFactory.getLogger(CommitJournal.class);
  private static final String NAME = "journal";

  /** What is renamed to a journal once it is written. */
  public static final String TEMPORARY = NAME + ".tmp";

  private static final Pattern NAMES = Pattern.compile(NAME + "-([a-z]+)-(0|[1-9][0-9]{0,8})");

  /** A plan of some ten million files. */
  private static final int LIMIT = 1 << 30;

  /** What the file itself may take of the heap, twice while it is read. */
  private static final int HEAP_SHARE = 4;

  final Store store;
  final Path directory;
  private boolean isTried;
  private boolean isBegun;

  CommitJournal(Store store, Path directory) {
    this.store = store;
    this.directory = directory;
  }

  /** How far a commit came. */
  public enum State {
    /** The job has ended with nothing visible. Somebody will publish or discard it. */
    HELD,
    /** Its changes have begun, perhaps. They can be rolled back. */
    PLANNED,
    /** The commit is given up: it is rolled back, whatever its report says, and never completed. */
    REVOKED,
    /** The new data is complete at its place, and the old may be going. */
    COMMITTED,
    /** There is nothing left to do but to clean up. */
    FINISHED,
    /** There is nothing left to do, and the job was told not to clean up. */
    KEPT;

    /** Whether the commit can be given up: it has not come to its point of no return. */
    boolean mayGoBack() {
      return this == HELD || this == PLANNED;
    }

    /** Whether there is nothing left to do that a reader of the table could see. */
    public boolean isEnd() {
      return this == FINISHED || this == KEPT;
    }
  }

  /** The state in which the journal of a plan begins. */
  static State first(JobPlan plan) {
    return plan.isHeld() ? State.HELD : State.PLANNED;
  }

  /**
   * Writes a journal that nobody finds yet. One request; where there are uploads instead of
   * renames, three.
   */
  public static CommitJournal write(Store store, Path directory, JobPlan plan) throws IOException {
    return isUploaded(store, directory)
        ? UploadedJournal.writeIn(store, directory, plan)
        : RenamedJournal.writeIn(store, directory, plan);
  }

  /**
   * The journal in a directory, if there is one.
   *
   * @throws CorruptManifestException if there are several where there is one at most, or one whose
   *     name no version of the committer that is known here gives
   */
  public static Optional<CommitJournal> find(Store store, Path directory) throws IOException {
    return isUploaded(store, directory)
        ? UploadedJournal.findIn(store, directory).map(journal -> journal)
        : RenamedJournal.findIn(store, directory).map(journal -> journal);
  }

  /**
   * The file with the plan that {@link #write} writes, perhaps a part of it. It is there as long as
   * the commit has not begun, and where uploads are completed also afterwards.
   */
  public static Path unbegun(Store store, Path directory) {
    return new Path(directory, isUploaded(store, directory) ? UploadedJournal.PLAN : TEMPORARY);
  }

  /** Whether a file of this name holds a plan, or may. */
  public static boolean mayHoldPlan(String name) {
    return name.equals(UploadedJournal.PLAN) || name.equals(TEMPORARY) || isJournal(name);
  }

  private static boolean isUploaded(Store store, Path directory) {
    return store.traits(directory).completesUploads();
  }

  /** Whether a file of this name is a journal, perhaps of another version of the committer. */
  public static boolean isJournal(String name) {
    return name.startsWith(NAME + "-");
  }

  /** The state of the journal that has this name; empty if it is none, or one that is not known. */
  public static Optional<State> stateIn(String name) {
    Matcher parts = NAMES.matcher(name);
    String known = parts.matches() ? parts.group(1) : "";
    return Arrays.stream(State.values())
        .filter(state -> state.name().toLowerCase(Locale.ROOT).equals(known))
        .findFirst();
  }

  /** The holder in the name of a journal that has a state. */
  static int holderIn(String name) {
    Matcher parts = NAMES.matcher(name);
    return parts.matches() ? Integer.parseInt(parts.group(2)) : 0;
  }

  /** The journals, by their names, in a directory. One request. */
  static List<StoreEntry> list(Store store, Path directory, ConsumerRaisingIOE<StoreEntry> others)
      throws IOException {
    List<StoreEntry> found = new ArrayList<>();
    boolean isThere =
        store.listIfThere(
            directory,
            entry -> {
              if (!isJournal(entry.name()) || entry.isDirectory()) {
                others.accept(entry);
              } else if (stateIn(entry.name()).isPresent()) {
                found.add(entry);
              } else {
                throw new CorruptManifestException(
                    entry.path()
                        + " is in a state that this version of the committer does not know. Recover"
                        + " the table with the version that wrote it; if none did, move the file out"
                        + " of there first");
              }
            });
    return isThere ? found : List.of();
  }

  static Path path(Path directory, State of, int by) {
    return StorePaths.resolve(
        directory, NAME + "-" + of.name().toLowerCase(Locale.ROOT) + "-" + by);
  }

  /**
   * From here on the commit can be completed or rolled back by anyone. One request. One that failed
   * may have had its effect: {@link #hasNoName} tells.
   */
  public final void begin() throws IOException {
    isTried = true;
    name();
    isBegun = true;
  }

  abstract void name() throws IOException;

  /**
   * Whether nobody finds a journal that this process wrote: nothing has begun then. No request,
   * unless {@link #begin} failed: then one, since its answer may have been lost.
   */
  public final boolean hasNoName() throws IOException {
    return !isBegun && (!isTried || isUnnamed());
  }

  abstract boolean isUnnamed() throws IOException;

  /**
   * Gives up what waits in the store for a journal that has not begun, and never will, unless that
   * goes with its directory. No request where nothing waits; otherwise one.
   *
   * @throws IOException if the store does not answer
   */
  public void discard() throws IOException {}

  /** How far the commit came; after a change of it that failed, how far it may have come. */
  public abstract State state();

  public abstract Path path();

  /**
   * Takes the journal from the driver or recovery that has it. One request. For a held job, where
   * there are uploads, three to five; two processes may then both go in one direction.
   *
   * @param to the state from then on: the journal's, but for a held job. That is a commit that has
   *     begun then, {@link State#PLANNED}, or one that is given up, {@link State#REVOKED}
   * @param hasHeartbeat whether this process has written one; else others watch the claim itself
   * @throws LostJournalException if another process took it first
   */
  public abstract void claim(State to, boolean hasHeartbeat) throws IOException;

  /**
   * The number of the driver or recovery that holds what was staged and moved aside: see {@link
   * StagingRoot#heldBy}.
   */
  public int holder() {
    return StagingRoot.DRIVER;
  }

  /** As {@link #holder}, after the next claim by this process. */
  public int nextHolder() {
    return StagingRoot.DRIVER;
  }

  /**
   * Whether the holder of the journal may live although there is no heartbeat. No request. Where
   * nothing tells, uploads are aborted before anything is looked at.
   */
  public boolean isHeldWithoutHeartbeat() {
    return false;
  }

  /**
   * Gives the commit up: from here on it is rolled back, and nobody brings it past its point of no
   * return, or completes it, any more. Needs no room where journals are renamed. One request; where
   * there are uploads, four.
   *
   * @return whether that is so; false if another process has brought it past that point, or to its
   *     {@link #end}
   * @throws LostJournalException if another process took the journal
   */
  public abstract boolean revoke() throws IOException;

  /**
   * Whether there is a plan. Where it is a file of its own, one request: without it, what is left
   * is of a staging directory whose deletion was cut short.
   */
  public boolean hasPlan() throws IOException {
    return true;
  }

  /**
   * Notes that the new data is complete at its place, and that the old goes from here on: the
   * commit is not rolled back any more. If this fails, nobody here may say whether it was noted.
   */
  public abstract void pointOfNoReturn() throws IOException;

  /** Notes that nothing is left to do but to clean up. */
  public abstract void end() throws IOException;

  /**
   * Says what its last name is to be; empty where its directory is deleted at once when the commit
   * has ended, and the journal with it.
   */
  public abstract void endsAs(Optional<State> last);

  /**
   * Marks that there is nothing left to do, in whichever direction, but to clean up.
   *
   * @throws LostJournalException if another process has the journal by now
   */
  public abstract void ended() throws IOException;

  /**
   * Whether its directory must not be deleted yet: cut short, that would leave what looks like a
   * commit that may be rolled back. Where journals are renamed, one deletion takes all of it, or
   * its one file tells how far it came until it is gone.
   */
  public boolean isStillToEnd() {
    return false;
  }

  Path planFile() {
    return path();
  }

  /** How long the plan is, in bytes. */
  abstract long planLength() throws IOException;

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
      throw lost(path());
    }
  }

  /** The failure of a holder whose journal is gone: it names the one that is there instead. */
  final LostJournalException lost(Path journal) {
    List<StoreEntry> there = List.of();
    try {
      there = list(store, directory, other -> {});
    } catch (IOException e) {
      LOG.debug("Who took {} is not known", journal, e);
    }
    return new LostJournalException(journal, there);
  }

  /**
   * The plan. Where directories are renamed atomically, what the driver staged and moved aside is
   * where it will be once the next claim has been made: {@link #nextHolder}.
   *
   * @param root the job's staging directory in the table, under the name by which the caller came,
   *     whatever the driver called it
   * @throws CorruptManifestException if it is damaged, or no plan of that job
   * @throws IOException also if it needs more memory than there is
   */
  public JobPlan plan(StagingRoot root) throws IOException {
    return read(store, planFile(), planLength(), root, nextHolder());
  }

  /**
   * The upload that a commit completes at its point of no return, and that is aborted first when it
   * is rolled back; empty where nothing is uploaded. One request.
   */
  public Optional<FileEntry> decision() throws IOException {
    return Optional.empty();
  }

  /** As {@link #plan}, with everything where it is now. */
  public JobPlan planBeforeClaim(StagingRoot root) throws IOException {
    return read(store, planFile(), planLength(), root, holder());
  }

  /** As {@link #plan}, of a file that {@link #unbegun} names. */
  public static JobPlan readUnbegun(Store store, StoreEntry plan, StagingRoot root)
      throws IOException {
    return read(store, plan.path(), plan.length(), root, StagingRoot.DRIVER);
  }

  private static JobPlan read(Store store, Path file, long length, StagingRoot root, int holder)
      throws IOException {
    if (length > LIMIT) {
      throw new CorruptManifestException(file + " has " + length + " bytes, more than any plan");
    }
    if (length > Runtime.getRuntime().maxMemory() / HEAP_SHARE) {
      throw HeapBudget.tooSmall(file.toString());
    }
    byte[] content = store.read(file, LIMIT);
    return PlanReader.read(
        new ByteArrayInputStream(content),
        root.jobId(),
        new Target(root.directory(), root.root()),
        store::named,
        staging -> store.traits(staging).hasAtomicDirectoryRename() ? holder : StagingRoot.DRIVER,
        file.toString(),
        Runtime.getRuntime().maxMemory());
  }

  @Override
  public String toString() {
    return path().toString();
  }

  /**
   * Somebody else completes or rolls back a commit by now, or it has come to its end, or its
   * staging directory was deleted: whoever had it before has to stop.
   */
  public static final class LostJournalException extends IOException {
    private static final long serialVersionUID = 1L;

    /** A commit that has ended, or was deleted with its staging directory. */
    public LostJournalException(Path journal) {
      this(journal, List.of());
    }

    /**
     * A lost commit.
     *
     * @param instead the journals that are there instead
     */
    LostJournalException(Path journal, List<StoreEntry> instead) {
      super(
          journal
              + " is gone: "
              + (instead.isEmpty()
                  ? "a recovery has ended the commit, or somebody deleted the staging directory"
                  : "there is "
                      + instead.stream().map(StoreEntry::name).collect(Collectors.joining(", "))
                      + " instead. A recovery has taken the commit over, or it is past its point of"
                      + " no return")
              + ". This process changes nothing more. Look at the table's _SUCCESS: if it names this"
              + " job, the job is complete. Otherwise a recovery has rolled it back, or will");
    }
  }
}
