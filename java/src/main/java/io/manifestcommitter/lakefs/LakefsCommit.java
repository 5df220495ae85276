// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.lakefs;

import io.manifestcommitter.jobs.ProveHeld;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.lakefs.LakefsServer.LakefsException;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.Record;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The commit of one job: all that is on the job's branch becomes one commit, which is proven, and
 * one merge of that branch makes it visible. The merge names the branch and not the commit, so that
 * nobody merges it any more once the branch is deleted.
 *
 * <p>Two overwrites of one table always change {@link #OVERWRITTEN}, so the second of them meets a
 * conflict: it looks again at what there is to replace. No lock is needed, and none is left behind.
 */
public final class LakefsCommit {
  private static final Logger LOG = LoggerFactory.getLogger(LakefsCommit.class);

  /** Changed by each overwrite, in the table. */
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

  static final String COMMIT_ID = PREFIX + "commit.id";

  /** The places that are replaced, a line for each, relative to the table. */
  public static final String REPLACES = PREFIX + "replaces";

  /** Such a line stands for the places to which the job writes. */
  public static final String WRITTEN = "*";

  private static final int TRIES = 4;
  private static final int ROUNDS = 50;
  private static final int PAUSE = 200;
  private static final int CONFLICT = 409;
  private static final int NAMED = 5;

  private final LakefsTable table;
  private final LakefsRepository repository;
  private final String jobId;
  private final JobBranch branch;
  private final String own;
  private final StagingRoot root;
  private final Map<String, String> metadata;

  /**
   * The commit of a job.
   *
   * @param metadata of the commit: what the job is
   */
  public LakefsCommit(LakefsTable table, String jobId, Map<String, String> metadata) {
    this.table = table;
    this.repository = table.repository();
    this.jobId = jobId;
    this.branch = new JobBranch(table, jobId);
    this.own = table.branchOf(jobId);
    this.root = new StagingRoot(table.path(), jobId);
    this.metadata = Map.copyOf(metadata);
  }

  /** What a commit has to change, by paths relative to the table. */
  public interface Plan {
    /**
     * Whether the commit adds or changes this.
     *
     * @param size in bytes, -1 where the server does not tell it
     */
    boolean adds(String path, long size);

    /** How many objects it adds or changes. */
    int added();

    /** How many it removes. */
    int removed();
  }

  /**
   * Commits what is on the job's branch, and proves that it is exactly what is planned. What is not
   * planned, of an attempt that came late, is deleted and committed again. A request for the
   * commit, and one for each page of the difference.
   *
   * @param base the commit where the branch stood
   * @return the id of the commit; the base, if there is nothing to commit
   * @throws IOException if something planned is not there; nothing is visible
   */
  public String make(String base, Plan plan) throws IOException {
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
            boolean isInTable = path.startsWith(table.prefix());
            String relative = isInTable ? path.substring(table.prefix().length()) : "";
            if (change.text("type").equals("removed")) {
              counts[1]++;
            } else if (isInTable
                && plan.adds(
                    relative, change.has("size_bytes") ? change.number("size_bytes") : -1)) {
              counts[0]++;
            } else {
              strays.add(path);
            }
          });
      if (counts[0] != plan.added() || counts[1] != plan.removed()) {
        throw new IOException(
            String.format(
                "The commit %s of job %s in %s adds %d objects of %d that it should, and removes %d"
                    + " of %d. Nothing is visible of it. Run the job again",
                commit, jobId, own, counts[0], plan.added(), counts[1], plan.removed()));
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
    for (int time = 1; ; time++) {
      try {
        return repository.commit(own, message("Write"), metadata);
      } catch (IOException e) {
        String head = repository.head(own).orElseThrow(() -> takenOver(e));
        if (!head.equals(before)) {
          return head;
        }
        int status = status(e);
        if (status == 400 && e.getMessage().contains("no changes")) {
          return before;
        }
        if (time == TRIES || (status != 0 && status < 500)) {
          throw e;
        }
        LakefsServer.pause(PAUSE << time);
      }
    }
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
        "Other jobs committed to "
            + table
            + " "
            + ROUNDS
            + " times while job "
            + jobId
            + " tried to. Nothing of it is visible. Run it again, with fewer jobs at once");
  }

  /** The id of the merge; empty if it meets a conflict. */
  private Optional<String> merge(String head) throws IOException {
    for (int time = 1; ; time++) {
      try {
        return Optional.of(repository.merge(own, table.branch(), message("Publish"), metadata, ""));
      } catch (IOException e) {
        int status = status(e);
        if (status == CONFLICT) {
          return Optional.empty();
        }
        if (isMerged(head, e)) {
          return Optional.of(head);
        }
        if (status == 404 && !repository.head(own).isPresent()) {
          throw takenOver(e);
        }
        boolean isDirty = status == 400 && e.getMessage().contains("uncommitted");
        if (isDirty && time < TRIES && !branch.removeMarkers().isPresent()) {
          continue;
        }
        if (isDirty || status == 412 || status == 403 || time == TRIES) {
          throw new NotMergedException(advice(isDirty, status), e);
        }
        if (status != 0 && status < 500) {
          throw e;
        }
        LakefsServer.pause(PAUSE << time);
      }
    }
  }

  /** As long as nobody knows, the branch has to stay: the job may be visible. */
  private boolean isMerged(String head, IOException failure) throws NotMergedException {
    try {
      return repository.isMerged(head, table.branch());
    } catch (IOException e) {
      e.addSuppressed(failure);
      throw new NotMergedException(advice(/* isDirty= */ false, /* status= */ 0), e);
    }
  }

  private String advice(boolean isDirty, int status) {
    return "Job "
        + jobId
        + " is committed in "
        + own
        + (status == 0 ? ", and may be merged or not into " : ", and not merged into ")
        + table.branch()
        + ". "
        + repair(isDirty, status)
        + (HOLD.equals(metadata.get(PUBLISH))
            ? ". It is still held. " + Recovery.heldAdvice(root)
            : ". Then 'manifest-committer recover "
                + table
                + " --complete' merges it. Without --complete it is rolled back, and the job can run"
                + " again");
  }

  private String repair(boolean isDirty, int status) {
    if (isDirty) {
      return "Something in that branch is not committed: commit it, or 'lakectl branch reset' it";
    }
    if (status == 412) {
      return "A hook refused the merge: see its run in lakeFS, and mend what it found";
    }
    return status == 403
        ? "The right to merge is missing: grant it"
        : "lakeFS did not say what became of the merge: see whether it answers again";
  }

  private IOException takenOver(IOException cause) {
    return new IOException(
        "The branch "
            + own
            + " of job "
            + jobId
            + " is gone: another process took its driver for dead, and rolled it back. Nothing of it"
            + " is visible in "
            + table
            + ". Run it again",
        cause);
  }

  /**
   * Requires of a job that was held that the table is as it saw it, where that matters.
   *
   * @return the commit of the target that was looked at; its branch where no look is needed
   */
  private String requireAsSeen(String head) throws IOException {
    if (!metadata.containsKey(HELD_OVER)) {
      return table.branch();
    }
    String target = repository.head(table.branch()).orElse(table.branch());
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
      Optional<Record> entry = branch.committedAs(metadata.get(COMMIT_ID));
      String by = entry.map(record -> record.text("jobId")).orElse(jobId);
      if (!by.equals(jobId)) {
        throw new AlreadyCommittedException(by);
      }
    }
    String updated = mergeTarget(requireAsSeen(head), head);
    LOG.info("Another job changed {} since: {} is brought up to date", table, own);
    if (!metadata.containsKey(REPLACES)) {
      return updated;
    }
    List<String> old = new ArrayList<>();
    branch.listReplaced(updated, places(head), entry -> old.add(entry.text("path")));
    old.removeIf(this::isOwn);
    if (old.isEmpty()) {
      return updated;
    }
    repository.delete(own, old);
    return make(
        updated,
        new Plan() {
          @Override
          public boolean adds(String path, long size) {
            return false;
          }

          @Override
          public int added() {
            return 0;
          }

          @Override
          public int removed() {
            return old.size();
          }
        });
  }

  private String mergeTarget(String target, String head) throws IOException {
    // An overwrite that dies before the next commit has more to remove: nobody completes it.
    Map<String, String> until =
        metadata.containsKey(REPLACES) && !metadata.containsKey(HELD_OVER) ? Map.of() : metadata;
    for (int time = 1; ; time++) {
      try {
        String message = "Bring job " + jobId + " up to date";
        return repository.merge(target, own, message, until, "dest-wins");
      } catch (IOException e) {
        String now = repository.head(own).orElseThrow(() -> takenOver(e));
        if (!now.equals(head)) {
          return now;
        }
        if (status(e) == 400 && time < TRIES) {
          // Linked by an attempt that came late.
          List<String> late = new ArrayList<>();
          repository.changes(own).forEach(change -> late.add(change.text("path")));
          repository.delete(own, late);
        } else if (time == TRIES || (status(e) != 0 && status(e) < 500)) {
          throw e;
        } else {
          LakefsServer.pause(PAUSE << time);
        }
      }
    }
  }

  /** The files of attempts have the job's id in their names. */
  private boolean isOwn(String path) {
    String name = path.substring(path.lastIndexOf('/') + 1);
    return name.contains(jobId)
        || path.equals(table.prefix() + JobPaths.SUCCESS_MARKER)
        || path.equals(table.prefix() + JobPaths.FILE_LIST);
  }

  private String prefix(String place) {
    return table.prefix() + (place.isEmpty() ? "" : place + "/");
  }

  /** The places that the job replaces, as prefixes of paths. */
  private Collection<String> places(String head) throws IOException {
    Set<String> places = new TreeSet<>();
    for (String place : metadata.get(REPLACES).split("\n", -1)) {
      if (place.equals(WRITTEN)) {
        repository.difference(
            table.branch(),
            head,
            change -> {
              String path = change.text("path");
              if (path.startsWith(table.prefix()) && path.contains(jobId)) {
                places.add(path.substring(0, path.lastIndexOf('/') + 1));
              }
            });
      } else {
        places.add(prefix(place));
      }
    }
    return places;
  }

  private String message(String what) {
    return what + " job " + jobId + " of " + table.path();
  }

  private static int status(IOException failure) {
    return failure instanceof LakefsException ? ((LakefsException) failure).getStatusCode() : 0;
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
