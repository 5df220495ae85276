// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.lakefs;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.HeldJobs;
import io.manifestcommitter.jobs.HeldJobs.HeldJob;
import io.manifestcommitter.jobs.LifeSigns;
import io.manifestcommitter.jobs.LifeSigns.JobIsAliveException;
import io.manifestcommitter.jobs.LifeSigns.Pause;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.jobs.Recovery.Outcome;
import io.manifestcommitter.jobs.StagedJob;
import io.manifestcommitter.lakefs.LakefsCommit.AlreadyCommittedException;
import io.manifestcommitter.lakefs.LakefsRepository.Commit;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.Record;
import io.manifestcommitter.progress.CommitProgress.Waiting;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.ConsumerRaisingIOE;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The jobs of a table by their branches: rolls back or completes those that died, and publishes or
 * discards those that are held. All may be repeated, and done by several processes at a time. To
 * delete a job's branch is the fence: nobody merges it from then on.
 *
 * <p>A merge that found the branch may still land after its deletion. So what was rolled back is
 * looked at again a little later.
 */
public final class LakefsJobs {
  private static final Logger LOG = LoggerFactory.getLogger(LakefsJobs.class);

  /**
   * Longer than a server takes for a merge, in milliseconds; an interval of beats if that is less.
   */
  private static final long LATE = 10_000;

  /** What is known of the lives of their drivers. */
  public final LifeSigns signs;

  private final LakefsTable table;
  private final LakefsRepository repository;
  private final CommitterConfig config;
  private final Pause pause;
  private final boolean force;

  /**
   * The jobs of a table.
   *
   * @param force also jobs whose drivers show signs of life
   */
  public LakefsJobs(LakefsTable table, CommitterConfig config, boolean force) {
    this.table = table;
    this.repository = table.repository;
    this.config = config;
    this.pause = Pause.sleeping(config);
    this.force = force;
    this.signs = new LifeSigns(this::sign, config, pause::nanos);
  }

  /** What is known of a job from its branch. */
  private enum State {
    /** Its driver has not begun to commit; or there is no such branch, and only beats are left. */
    WITHOUT_COMMIT,
    /** It is committed on its branch, and nothing of it is visible. */
    COMMITTED,
    /** The same, and it waits until somebody publishes or discards it. */
    HELD,
    /** It is visible. */
    MERGED
  }

  /** The branch of a job. */
  public Path at(StagingRoot root) {
    return table.pathOf(table.branchOf(root.jobId()));
  }

  /**
   * The jobs that may need a recovery: all but those that are held. One request, and for each job
   * one, or two if it has committed.
   *
   * @throws FileNotFoundException if there is neither a job nor a table
   */
  public List<StagingRoot> find() throws IOException {
    return jobs().stream()
        .filter(job -> job.state != State.HELD)
        .map(job -> job.root)
        .collect(Collectors.toList());
  }

  /**
   * Recovers a job. What was merged stays; what was committed is rolled back, or merged by {@link
   * Direction#COMPLETE}; all else is rolled back.
   *
   * @return what became of it; empty if it lives, and has not begun to commit
   * @throws JobIsAliveException if it lives, and may have begun
   * @throws LakefsCommit.NotMergedException if lakeFS refuses to merge it; it says what to do
   * @throws IOException also if it cannot be completed; nothing was changed then
   */
  public Optional<Outcome> recover(StagingRoot root, Direction direction) throws IOException {
    try {
      requireDead(root);
    } catch (JobIsAliveException e) {
      if (look(root).state == State.WITHOUT_COMMIT) {
        return Optional.empty();
      }
      throw e;
    }
    Job job = look(root);
    switch (job.state) {
      case HELD:
        throw new IOException(root.root() + " is of a held job. " + Recovery.heldAdvice(root));
      case COMMITTED:
        return Optional.of(
            (direction == Direction.COMPLETE && isCompleted(job)) || isMergedLate(job)
                ? Outcome.COMPLETED
                : Outcome.ROLLED_BACK);
      default:
        job.branch.remove();
        boolean isUnbegun = job.state == State.WITHOUT_COMMIT && job.head != null;
        return Optional.of(isUnbegun ? Outcome.ROLLED_BACK : Outcome.CLEANED_UP);
    }
  }

  private void requireDead(StagingRoot root) throws IOException {
    if (!force) {
      signs.requireDead(root, pause);
    }
  }

  /** Merges a job; false if another one has committed the same data, so that nobody needs it. */
  private boolean isCompleted(Job job) throws IOException {
    try {
      publish(job, "completed. Nothing was changed. Recover it without --complete");
    } catch (AlreadyCommittedException e) {
      LOG.info("Job {} is rolled back", job.root.jobId(), e);
      return false;
    }
    return true;
  }

  /** Merges a job, whose driver may have died before it had proven the commit. */
  private void publish(Job job, String whatNot) throws IOException {
    long adds = job.counted().files;
    String files = job.head.metadata.get(LakefsCommit.FILES);
    if (!Long.toString(adds).equals(files)) {
      throw new IOException(
          String.format(
              "The commit %s of job %s adds %d files, and not %s as its driver noted, so it cannot be"
                  + " %s",
              job.head.id, job.root.jobId(), adds, files, whatNot));
    }
    job.branch.publish(job.head.id);
    job.branch.remove();
  }

  /** Rolls a job back; whether a merge of it has landed after all. */
  private boolean isMergedLate(Job job) throws IOException {
    repository.deleteBranch(table.branchOf(job.root.jobId()));
    long wait = TimeUnit.MILLISECONDS.toNanos(Math.min(LATE, config.heartbeatInterval));
    long begun = pause.nanos();
    boolean isMerged = job.isMerged();
    while (!isMerged && pause.nanos() - begun < wait) {
      pause.pause(new Waiting(job.root.jobId(), "of which a merge may still land"));
      isMerged = job.isMerged();
    }
    job.branch.removeBeat();
    return isMerged;
  }

  /**
   * What jobs keep in branches. Of their files only those of a commit are counted. Requests as
   * {@link #find}, and for each job two, and one for each thousand files of its commit.
   *
   * @throws FileNotFoundException if there is neither a job nor a table
   */
  public List<StagedJob> staged() throws IOException {
    List<StagedJob> staged = new ArrayList<>();
    for (Job job : jobs()) {
      StagedJob.State state =
          job.state == State.COMMITTED
              ? StagedJob.State.UNFINISHED
              : job.state == State.HELD ? StagedJob.State.HELD : StagedJob.State.ABANDONED;
      Optional<Long> beat = job.state == State.HELD ? Optional.empty() : job.branch.lastBeat();
      staged.add(
          StagedJob.elsewhere(
              job.root, at(job.root), state, job.counted(), beat, config.heartbeatTimeout));
    }
    return staged;
  }

  /**
   * Removes the branches of a job, unless it shows signs of life.
   *
   * @throws JobIsAliveException if it does
   * @throws IOException also if it went on since it was looked at
   */
  public void remove(StagedJob staged) throws IOException {
    StagingRoot root = new StagingRoot(table.path, staged.jobId.get());
    requireDead(root);
    Job job = look(root);
    boolean isBegun = job.state == State.COMMITTED || job.state == State.HELD;
    if (isBegun && !staged.hasUnfinishedCommit() && staged.state() != StagedJob.State.HELD) {
      throw new IOException(
          "Job "
              + root.jobId()
              + " has begun its commit since it was looked at. Nothing was removed. Recover it:"
              + " manifest-committer recover "
              + table);
    }
    if (job.state != State.COMMITTED) {
      job.branch.remove();
    } else if (isMergedLate(job)) {
      LOG.warn(
          "Job {} was merged while its branch was removed: {} has its data", root.jobId(), table);
    }
  }

  /** The held jobs, the first first. Requests as {@link #staged}. */
  public List<HeldJob> held() throws IOException {
    List<HeldJob> held = new ArrayList<>();
    for (Job job : jobs()) {
      if (job.state == State.HELD) {
        held.add(job.counted());
      }
    }
    held.sort(Comparator.comparingLong(job -> job.since));
    return held;
  }

  /** The held job of an identity, if there is one. Requests as {@link #find}. */
  public Optional<String> heldAs(String commitId) throws IOException {
    return jobs().stream()
        .filter(job -> job.state == State.HELD)
        .filter(job -> commitId.equals(job.head.metadata.get(LakefsCommit.COMMIT_ID)))
        .map(job -> job.root.jobId())
        .findFirst();
  }

  /** The commit of a held job; empty if it is not held. Three requests. */
  public Optional<String> heldCommit(String jobId) throws IOException {
    Job job = look(new StagingRoot(table.path, jobId));
    return job.state == State.HELD ? Optional.of(job.head.id) : Optional.empty();
  }

  /** Shows the objects of readers that a commit would add to the table. A request a page. */
  public void added(String commit, ConsumerRaisingIOE<Record> visitor) throws IOException {
    repository.mergeDifference(
        table.branch,
        commit,
        change -> {
          if (table.isData(change.text("path")) && !change.text("type").equals("removed")) {
            visitor.accept(change);
          }
        });
  }

  /**
   * Publishes a held job, or discards it.
   *
   * @param direction {@link Direction#PUBLISH} or {@link Direction#DISCARD}
   * @throws LakefsCommit.NotMergedException if lakeFS refuses to merge it; it says what to do
   * @throws IOException also if it is not held, or the table has changed where it matters
   */
  public void end(StagingRoot root, Direction direction) throws IOException {
    Job job = look(root);
    if (job.state == State.MERGED) {
      job.branch.remove();
    }
    if (job.state != State.HELD) {
      throw Recovery.notHeld(root, null);
    }
    if (direction == Direction.PUBLISH) {
      publish(job, "published. " + Recovery.heldAdvice(root));
      return;
    }
    job.branch.remove();
    if (job.isMerged()) {
      throw HeldJobs.notDiscarded(root);
    }
  }

  /**
   * What changes while a job lives. The driver makes the two branches at the same time. So a branch
   * of beats may have none yet, and one without a commit may be there before the other.
   */
  private Optional<String> sign(StagingRoot root) throws IOException {
    String beats = table.beatOf(root.jobId());
    Optional<byte[]> beat = repository.read(beats, LakefsCommit.HEARTBEAT);
    if (beat.isPresent()) {
      return Optional.of(new String(beat.get(), StandardCharsets.UTF_8));
    }
    boolean mayLive = repository.head(beats).isPresent();
    if (!mayLive) {
      Job job = look(root);
      mayLive = job.state == State.WITHOUT_COMMIT && job.head != null;
    }
    return mayLive ? Optional.of("no beat yet") : Optional.empty();
  }

  private List<Job> jobs() throws IOException {
    Map<String, String> heads = repository.branches(table.branches());
    Set<String> ids = new TreeSet<>();
    heads.keySet().forEach(name -> ids.add(table.jobOf(name)));
    List<Job> jobs = new ArrayList<>();
    for (String id : ids) {
      Optional<String> at = Optional.ofNullable(heads.get(table.branchOf(id)));
      jobs.add(new Job(new StagingRoot(table.path, id), at));
    }
    if (jobs.isEmpty() && table.isNewTable()) {
      throw new FileNotFoundException(table.toString());
    }
    return jobs;
  }

  private Job look(StagingRoot root) throws IOException {
    return new Job(root, repository.head(table.branchOf(root.jobId())));
  }

  /** What a look at a job found. */
  private final class Job {
    final StagingRoot root;
    final LakefsCommit branch;

    /** Where its branch stands; null if there is none. */
    final Commit head;

    final State state;

    /**
     * A look. One request if there is a branch, and another if it has committed.
     *
     * @param at where the branch stands
     */
    Job(StagingRoot root, Optional<String> at) throws IOException {
      this.root = root;
      this.head = at.isPresent() ? repository.commit(at.get()) : null;
      Map<String, String> metadata = head == null ? Map.of() : head.metadata;
      this.branch = new LakefsCommit(table, root.jobId(), metadata);
      // Without a commit of its own it stands at one of the table's, which may be another job's.
      if (head == null || !root.jobId().equals(metadata.get(LakefsCommit.JOB))) {
        this.state = State.WITHOUT_COMMIT;
      } else if (isMerged()) {
        this.state = State.MERGED;
      } else {
        boolean isHeld = LakefsCommit.HOLD.equals(head.metadata.get(LakefsCommit.PUBLISH));
        this.state = isHeld ? State.HELD : State.COMMITTED;
      }
    }

    boolean isMerged() throws IOException {
      return repository.isMerged(head.id, table.branch);
    }

    /** What its commit adds to the table: nothing without one. A request a page. */
    HeldJob counted() throws IOException {
      if (state == State.WITHOUT_COMMIT) {
        return new HeldJob(root.jobId(), 0, false, null);
      }
      HeldJob counted =
          new HeldJob(
              root.jobId(),
              head.created,
              head.metadata.containsKey(LakefsCommit.HELD_OVER),
              head.metadata.get(LakefsCommit.COMMIT_ID));
      added(
          head.id,
          object -> {
            String path = object.text("path").substring(table.prefix.length());
            counted.add(
                path.substring(0, Math.max(0, path.lastIndexOf('/'))),
                object.has("size_bytes") ? object.number("size_bytes") : 0);
          });
      return counted;
    }
  }
}
