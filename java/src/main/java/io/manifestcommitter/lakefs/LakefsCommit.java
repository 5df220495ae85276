// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.lakefs;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.ProveHeld;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.journal.Heartbeat;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.Record;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiPredicate;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The two hidden branches of one job, and its commit. Tasks link files to one branch, and on the
 * other the job shows its life. All that is on the first becomes one commit, which is proven, and
 * one merge of that branch makes it visible. The merge names the branch and not the commit, so that
 * nobody merges it any more once the branch is deleted.
 *
 * <p>Two overwrites of one table always change {@link #OVERWRITTEN}, so the second of them meets a
 * conflict: it looks again at what there is to replace. No lock is needed, and none is left behind.
 */
public final class LakefsCommit {
  private static final Logger LOG = LoggerFactory.getLogger(LakefsCommit.class);

  /**
   * An object of the table that each overwrite changes. It has a line for the job, and one for each
   * place that it replaces, relative to the table.
   */
  public static final String OVERWRITTEN = "_manifest_/overwritten";

  /** Of the keys in the metadata of a commit. */
  public static final String PREFIX = "manifest-committer.";

  public static final String JOB = PREFIX + "job";
  public static final String FILES = PREFIX + "files";
  public static final String PUBLISH = PREFIX + "publish";

  /** Said of {@link #PUBLISH}: somebody else does it. */
  public static final String HOLD = "hold";

  /**
   * Of a job that is held: the places over which it is published only as it saw them, a line for
   * each, relative to the table.
   */
  public static final String HELD_OVER = PREFIX + "held.over";

  /** On the branch that is never committed. */
  static final String HEARTBEAT = "heartbeat";

  static final String COMMIT_ID = PREFIX + "commit.id";

  private static final String DIRTY = "uncommitted";
  private static final int ROUNDS = 50;
  private static final int NAMED = 5;

  private final LakefsTable table;
  private final LakefsRepository repository;
  private final String jobId;

  /** The branch to which the job's files are linked. */
  public final String own;

  /** The branch on which the job shows its life, and which is never committed. */
  private final String beats;

  private final StagingRoot root;
  private final Map<String, String> metadata;

  /**
   * The commit of a job.
   *
   * @param metadata of the commit: what the job is
   */
  public LakefsCommit(LakefsTable table, String jobId, Map<String, String> metadata) {
    this.table = table;
    this.repository = table.repository;
    this.jobId = jobId;
    this.own = table.branchOf(jobId);
    this.beats = table.beatOf(jobId);
    this.root = new StagingRoot(table.path, jobId);
    this.metadata = Map.copyOf(metadata);
  }

  /**
   * Makes the branch of the job.
   *
   * @return the commit at which it stands
   */
  public String makeBranch() throws IOException {
    return repository.createBranch(own, table.branch);
  }

  /** Begins to show that the job lives, at once and then at each interval, past its limits. */
  public Heartbeat beat(CommitterConfig config, LongSupplier nanos) {
    AtomicLong number = new AtomicLong();
    LakefsRepository pastLimits =
        new LakefsRepository(repository.server.pastLimits(), repository.name);
    return Heartbeat.begin(
        () -> {
          if (number.get() == 0) {
            pastLimits.createBranch(beats, table.branch);
          }
          String beat = table + "\n" + jobId + "\n" + number.incrementAndGet() + "\n";
          pastLimits.write(beats, HEARTBEAT, beat.getBytes(StandardCharsets.UTF_8));
        },
        table.toString(),
        config,
        nanos);
  }

  /** When the last beat was, by the server's clock, in milliseconds since 1970. */
  Optional<Long> lastBeat() throws IOException {
    List<Long> seconds = new ArrayList<>();
    if (repository.head(beats).isPresent()) {
      repository.list(beats, HEARTBEAT, "", 1, beat -> seconds.add(beat.number("mtime")));
    }
    return seconds.stream().findFirst().map(TimeUnit.SECONDS::toMillis);
  }

  /** What the job's report tells of where it was committed. */
  public Map<String, String> facts(String base) {
    Map<String, String> facts = new TreeMap<>();
    facts.put("lakefs.endpoint", repository.server.endpoint.toString());
    facts.put("lakefs.repository", repository.name);
    facts.put("lakefs.branch", table.branch);
    facts.put("lakefs.base", base);
    facts.put("lakefs.job.branch", own);
    return facts;
  }

  /**
   * Removes both branches, that with the files first, after which nobody merges it. Two requests.
   */
  public void remove() throws IOException {
    removeFiles();
    removeBeat();
  }

  /** Removes the branch with the files. */
  public void removeFiles() throws IOException {
    repository.deleteBranch(own);
  }

  /** Removes the branch on which the job showed its life. */
  public void removeBeat() throws IOException {
    repository.deleteBranch(beats);
  }

  /**
   * Commits what is on the job's branch, and proves that it is exactly what is planned. What is not
   * planned, of an attempt that came late, is deleted and committed again. A request for the
   * commit, and one for each page of the difference.
   *
   * @param base the commit where the branch stood
   * @param adds whether this path, relative to the table, is added or changed with this size in
   *     bytes, -1 where the server does not tell it
   * @param added how many objects are
   * @param removed how many go
   * @return the id of the commit; the base, if there is nothing to commit
   * @throws IOException if something planned is not there; nothing is visible
   */
  public String make(String base, BiPredicate<String, Long> adds, int added, int removed)
      throws IOException {
    String commit = base;
    while (true) {
      commit = commit(commit);
      List<String> strays = new ArrayList<>();
      int[] counts = {0, 0};
      repository.difference(
          base,
          commit,
          change -> {
            String path = change.text("path");
            boolean isInTable = path.startsWith(table.prefix);
            String relative = isInTable ? path.substring(table.prefix.length()) : "";
            long size = change.has("size_bytes") ? change.number("size_bytes") : -1;
            if (change.text("type").equals("removed")) {
              counts[1]++;
            } else if (isInTable && adds.test(relative, size)) {
              counts[0]++;
            } else {
              strays.add(path);
            }
          });
      if (counts[0] != added || counts[1] != removed) {
        throw new IOException(
            String.format(
                "The commit %s of job %s in %s adds %d objects of %d that it should, and removes %d"
                    + " of %d. Nothing is visible of it. Run the job again",
                commit, jobId, own, counts[0], added, counts[1], removed));
      }
      if (strays.isEmpty()) {
        return commit;
      }
      LOG.info("Removing what nobody named from {}: {}", own, some(strays));
      repository.delete(own, strays);
    }
  }

  /** Nobody else commits to the branch, so a head that has moved is what a lost answer told. */
  private String commit(String before) throws IOException {
    return LakefsServer.told(
        () -> repository.commit(own, message("Write"), metadata),
        e -> {
          String head = repository.head(own).orElseThrow(() -> takenOver(e));
          return isRefusal(e, "no changes") || !head.equals(before)
              ? Optional.of(head)
              : LakefsServer.again(e);
        });
  }

  /**
   * Makes a commit of the job's branch visible. One request; more if another job has changed the
   * same objects since, or an answer is lost. May be repeated by anybody.
   *
   * @param commit the head of the branch
   * @return the id of the merge; that of the commit where a lost answer would have told it
   * @throws NotMergedException if the server refuses for a reason that may pass; the branch is kept
   * @throws AlreadyCommittedException if another job has this one's identity
   * @throws IOException also if the job was held, and the table has changed where that matters
   */
  public String publish(String commit) throws IOException {
    String head = commit;
    requireAsSeen(head);
    for (int round = 1; round <= ROUNDS; round++) {
      Optional<String> merged = merge(head);
      if (merged.isPresent()) {
        return merged.get();
      }
      head = bringUpToDate(head);
    }
    throw new IOException(
        String.format(
            "Other jobs committed to %s %d times while job %s tried to. Nothing of it is visible. Run"
                + " it again, with fewer jobs at once",
            table, ROUNDS, jobId));
  }

  /** The id of the merge; empty if it meets a conflict. */
  private Optional<String> merge(String head) throws IOException {
    try {
      return LakefsServer.told(
          () -> Optional.of(repository.merge(own, table.branch, message("Publish"), metadata, "")),
          e -> merged(head, e));
    } catch (IOException e) {
      int status = LakefsServer.status(e);
      if (status == 404 && !repository.head(own).isPresent()) {
        throw takenOver(e);
      }
      boolean mayPass =
          status == 0 || status == 403 || status == 412 || status >= 500 || isRefusal(e, DIRTY);
      throw mayPass && !(e instanceof NotMergedException)
          ? new NotMergedException(advice(e), e)
          : e;
    }
  }

  private Optional<Optional<String>> merged(String head, IOException failure) throws IOException {
    if (LakefsServer.status(failure) == 409) {
      return Optional.of(Optional.empty());
    }
    try {
      if (repository.isMerged(head, table.branch)) {
        return Optional.of(Optional.of(head));
      }
    } catch (IOException e) {
      // As long as nobody knows, the branch has to stay: the job may be visible.
      IOException unknown = new IOException("It is not known whether the job is merged", e);
      unknown.addSuppressed(failure);
      throw new NotMergedException(advice(unknown), unknown);
    }
    return isRefusal(failure, DIRTY) && !table.removeMarkers().isPresent()
        ? Optional.empty()
        : LakefsServer.again(failure);
  }

  private String advice(IOException failure) {
    return String.format(
        "Job %s is committed in %s, and %s merged into %s. %s. %s",
        jobId,
        own,
        LakefsServer.status(failure) == 0 ? "may be or may not be" : "not",
        table.branch,
        repair(failure),
        HOLD.equals(metadata.get(PUBLISH))
            ? "It is still held. " + Recovery.heldAdvice(root)
            : "Then 'manifest-committer recover "
                + table
                + " --complete' merges it. Without --complete it is rolled back, and the job can run"
                + " again");
  }

  private static String repair(IOException failure) {
    if (isRefusal(failure, DIRTY)) {
      return "Something in that branch is not committed: commit it, or 'lakectl branch reset' it";
    }
    switch (LakefsServer.status(failure)) {
      case 403:
        return "The right to merge is missing: grant it";
      case 412:
        return "A hook refused the merge: see its run in lakeFS, and mend what it found";
      default:
        return "lakeFS did not say what became of the merge: see whether it answers again";
    }
  }

  private IOException takenOver(IOException cause) {
    return new IOException(
        String.format(
            "The branch %s of job %s is gone: another process took its driver for dead, and rolled it"
                + " back. Nothing of it is visible in %s. Run it again",
            own, jobId, table),
        cause);
  }

  /**
   * Requires of a job that was held that the table is as it saw it, where that matters.
   *
   * @return the commit of the target that was looked at; its branch where no look is needed
   */
  private String requireAsSeen(String head) throws IOException {
    if (!metadata.containsKey(HELD_OVER)) {
      return table.branch;
    }
    String target = repository.head(table.branch).orElse(table.branch);
    List<String> places = new ArrayList<>();
    for (String place : metadata.get(HELD_OVER).split("\n", -1)) {
      places.add(prefix(place));
    }
    List<String> changed = new ArrayList<>();
    repository.difference(
        repository.mergeBase(head, target),
        target,
        change -> {
          String path = change.text("path");
          if (table.isData(path) && places.stream().anyMatch(path::startsWith)) {
            changed.add(path);
          }
        });
    if (!changed.isEmpty()) {
      String what = " changes are there that it did not see when it was held, as ";
      throw ProveHeld.changed(root, changed.size() + what + some(changed));
    }
    return target;
  }

  /**
   * Merges what the target got meanwhile into the job's branch, where the job's own objects win. An
   * overwrite then removes what has come to the places that it replaces.
   *
   * @return the head of the branch
   */
  private String bringUpToDate(String head) throws IOException {
    if (metadata.containsKey(COMMIT_ID)) {
      Optional<Record> entry = table.committedAs(metadata.get(COMMIT_ID));
      String by = entry.map(record -> record.text("jobId")).orElse(jobId);
      if (!by.equals(jobId)) {
        throw new AlreadyCommittedException(by);
      }
    }
    List<String> replaced = replaced(head);
    // An overwrite that dies before the next commit has more to remove: nobody completes it.
    boolean isWhole = replaced.isEmpty() || metadata.containsKey(HELD_OVER);
    String updated = mergeTarget(requireAsSeen(head), head, isWhole ? metadata : Map.of());
    LOG.info("Another job changed {} since: {} is brought up to date", table, own);
    List<String> old = new ArrayList<>();
    table.listReplaced(updated, replaced, entry -> old.add(entry.text("path")));
    old.removeIf(this::isOwn);
    if (old.isEmpty()) {
      return updated;
    }
    repository.delete(own, old);
    return make(updated, (path, size) -> false, 0, old.size());
  }

  private String mergeTarget(String target, String head, Map<String, String> until)
      throws IOException {
    return LakefsServer.told(
        () -> repository.merge(target, own, message("Bring up to date"), until, "dest-wins"),
        e -> {
          String now = repository.head(own).orElseThrow(() -> takenOver(e));
          if (!now.equals(head)) {
            return Optional.of(now);
          }
          if (LakefsServer.status(e) != 400) {
            return LakefsServer.again(e);
          }
          // Linked by an attempt that came late.
          List<String> late = new ArrayList<>();
          repository.changes(own).forEach(change -> late.add(change.text("path")));
          repository.delete(own, late);
          return Optional.empty();
        });
  }

  /** The files of attempts have the job's id in their names. */
  private boolean isOwn(String path) {
    String name = path.substring(path.lastIndexOf('/') + 1);
    return name.contains(jobId)
        || path.equals(table.prefix + JobPaths.SUCCESS_MARKER)
        || path.equals(table.prefix + JobPaths.FILE_LIST);
  }

  private String prefix(String place) {
    return table.prefix + (place.isEmpty() ? "" : place + "/");
  }

  /** The places that the job replaces, as prefixes of paths; none if that was another job. */
  private List<String> replaced(String head) throws IOException {
    List<String> places = new ArrayList<>();
    byte[] noted = repository.read(head, prefix("") + OVERWRITTEN).orElse(new byte[0]);
    for (String line : new String(noted, StandardCharsets.UTF_8).split("\n", -1)) {
      places.add(prefix(line));
    }
    return places.remove(0).equals(prefix(jobId)) ? places : List.of();
  }

  private String message(String what) {
    return what + " job " + jobId + " of " + table.path;
  }

  /** Whether lakeFS refused a request as one that makes no sense, in such words. */
  private static boolean isRefusal(IOException failure, String words) {
    return LakefsServer.status(failure) == 400 && failure.getMessage().contains(words);
  }

  private static List<String> some(List<String> paths) {
    return paths.subList(0, Math.min(NAMED, paths.size()));
  }

  /** Another job has committed the data of this one's identity. */
  public static final class AlreadyCommittedException extends IOException {
    private static final long serialVersionUID = 1L;

    /** The other job. */
    public final String by;

    AlreadyCommittedException(String by) {
      super("The table has the data of this job's identity, by job " + by);
      this.by = by;
    }
  }

  /** The job is committed on its branch, which is kept, since its merge may be done later. */
  public static final class NotMergedException extends IOException {
    private static final long serialVersionUID = 1L;

    NotMergedException(String message, IOException cause) {
      super(message, cause);
    }
  }
}
