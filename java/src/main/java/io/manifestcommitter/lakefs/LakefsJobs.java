// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.lakefs;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.HeldJobs;
import io.manifestcommitter.jobs.LifeSigns;
import io.manifestcommitter.jobs.LifeSigns.JobIsAliveException;
import io.manifestcommitter.jobs.LifeSigns.Pause;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.jobs.Recovery.Outcome;
import io.manifestcommitter.jobs.StagedJob;
import io.manifestcommitter.jobs.StagedJobs.AbortedUploads;
import io.manifestcommitter.lakefs.LakefsCommit.AlreadyCommittedException;
import io.manifestcommitter.lakefs.LakefsRepository.Commit;
import io.manifestcommitter.lakefs.LakefsServer.LakefsException;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.Record;
import io.manifestcommitter.progress.CommitProgress.Waiting;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.StorePaths;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
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

  private final LakefsTable table;
  private final LakefsRepository repository;
  private final CommitterConfig config;
  private final Pause pause;
  private final boolean force;
  private final LifeSigns signs;

  /**
   * The jobs of a table.
   *
   * @param force also jobs whose drivers show signs of life
   */
  public LakefsJobs(LakefsTable table, CommitterConfig config, boolean force) {
    this.table = table;
    this.repository = table.repository();
    this.config = config;
    this.pause = Pause.sleeping(config);
    this.force = force;
    this.signs = new LifeSigns(this::sign, config, pause::nanos);
  }

  /** The jobs of the table at a path; empty if its store is another one. No request. */
  public static Optional<LakefsJobs> of(
      Configuration conf, String table, CommitterConfig config, RequestGate gate, boolean force)
      throws IOException {
    return LakefsTable.of(conf, StorePaths.plain(new Path(table)), gate)
        .map(one -> new LakefsJobs(one, config, force));
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

  /** What is known of the lives of their drivers. */
  public LifeSigns signs() {
    return signs;
  }

  /** The branch of a job. */
  public Path at(StagingRoot root) {
    return table.pathOf(table.branchOf(root.jobId()));
  }

  /**
   * The jobs that may need a recovery: all but those that are held. One request, and two for each
   * that has committed.
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
    if (!force) {
      try {
        signs.requireDead(root, pause);
      } catch (JobIsAliveException e) {
        if (look(root.jobId()).state == State.WITHOUT_COMMIT) {
          return Optional.empty();
        }
        throw e;
      }
    }
    Job job = look(root.jobId());
    switch (job.state) {
      case HELD:
        throw new IOException(root.root() + " is of a held job. " + Recovery.heldAdvice(root));
      case MERGED:
        job.branch.remove();
        return Optional.of(Outcome.CLEANED_UP);
      case COMMITTED:
        return Optional.of(
            (direction == Direction.COMPLETE && isCompleted(job)) || isMergedLate(job)
                ? Outcome.COMPLETED
                : Outcome.ROLLED_BACK);
      default:
        job.branch.remove();
        return Optional.of(job.head == null ? Outcome.CLEANED_UP : Outcome.ROLLED_BACK);
    }
  }

  /** Merges a job; false if another one has committed the same data, so that nobody needs it. */
  private boolean isCompleted(Job job) throws IOException {
    requireWhole(job, "completed. Nothing was changed. Recover it without --complete");
    try {
      job.publish();
    } catch (AlreadyCommittedException e) {
      LOG.info("Job {} is rolled back", job.root.jobId(), e);
      return false;
    }
    job.branch.remove();
    return true;
  }

  /** Its driver may have died before it had proven the commit. */
  private void requireWhole(Job job, String whatNot) throws IOException {
    measure(job);
    String files = job.head.metadata.get(LakefsCommit.FILES);
    if (!Long.toString(job.files).equals(files)) {
      throw new IOException(
          String.format(
              "The commit %s of job %s adds %d files, and not %s as its driver noted, so it cannot be"
                  + " %s",
              job.head.id, job.root.jobId(), job.files, files, whatNot));
    }
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
   * What jobs keep in branches. One request, and for each job one, one for each thousand files, and
   * two if it has committed.
   *
   * @throws FileNotFoundException if there is neither a job nor a table
   */
  public List<StagedJob> staged() throws IOException {
    List<StagedJob> staged = new ArrayList<>();
    for (Job job : jobs()) {
      try {
        measure(job);
        staged.add(job.staged());
      } catch (LakefsException e) {
        if (e.getStatusCode() != 404) {
          throw e;
        }
        LOG.debug("Job {} has ended", job.root.jobId(), e);
      }
    }
    return staged;
  }

  /**
   * Removes the branches of a job, unless it shows signs of life.
   *
   * @throws JobIsAliveException if it does
   * @throws IOException also if it went on since it was looked at
   */
  public AbortedUploads remove(StagedJob staged) throws IOException {
    String jobId = staged.jobId().get();
    Job job = look(jobId);
    if (!force) {
      signs.requireDead(job.root, pause);
      job = look(jobId);
    }
    if (job.state == State.COMMITTED && !staged.hasUnfinishedCommit()) {
      throw new IOException(
          "Job "
              + jobId
              + " has begun its commit since it was looked at. Nothing was removed. Recover it:"
              + " manifest-committer recover "
              + table);
    }
    if (job.state != State.COMMITTED) {
      job.branch.remove();
    } else if (isMergedLate(job)) {
      LOG.warn("Job {} was merged while its branch was removed: {} has its data", jobId, table);
    }
    return AbortedUploads.NONE;
  }

  /** The held jobs, the first first. Requests as {@link #staged}. */
  public List<Job> held() throws IOException {
    List<Job> held = jobs();
    held.removeIf(job -> job.state != State.HELD);
    for (Job job : held) {
      measure(job);
    }
    held.sort((one, other) -> Long.compare(one.since(), other.since()));
    return held;
  }

  /** The held job of an identity, if there is one. Requests as {@link #find}. */
  public Optional<String> heldAs(String commitId) throws IOException {
    return jobs().stream()
        .filter(job -> job.state == State.HELD)
        .filter(job -> job.commitId().equals(Optional.of(commitId)))
        .map(Job::jobId)
        .findFirst();
  }

  /**
   * Publishes a held job, or discards it.
   *
   * @param direction {@link Direction#PUBLISH} or {@link Direction#DISCARD}
   * @throws LakefsCommit.NotMergedException if lakeFS refuses to merge it; it says what to do
   * @throws IOException also if it is not held, or the table has changed where it matters
   */
  public void end(StagingRoot root, Direction direction) throws IOException {
    Job job = look(root.jobId());
    if (job.state == State.MERGED) {
      job.branch.remove();
    }
    if (job.state != State.HELD) {
      throw Recovery.notHeld(root, null);
    }
    if (direction == Direction.PUBLISH) {
      requireWhole(job, "published. " + Recovery.heldAdvice(root));
      job.publish();
      job.branch.remove();
      return;
    }
    job.branch.remove();
    if (job.isMerged()) {
      throw HeldJobs.notDiscarded(root);
    }
  }

  /** What changes while a job lives; also a branch of beats without one. */
  private Optional<String> sign(StagingRoot root) throws IOException {
    String beats = table.beatOf(root.jobId());
    Optional<byte[]> beat = repository.read(beats, JobBranch.HEARTBEAT);
    return beat.isPresent()
        ? beat.map(content -> new String(content, StandardCharsets.UTF_8))
        : repository.head(beats).map(head -> "no beat yet");
  }

  private List<Job> jobs() throws IOException {
    Map<String, String> heads = repository.branches(table.branches());
    Set<String> ids = new TreeSet<>();
    heads.keySet().forEach(name -> ids.add(table.jobOf(name)));
    List<Job> jobs = new ArrayList<>();
    for (String id : ids) {
      jobs.add(look(id, Optional.ofNullable(heads.get(table.branchOf(id)))));
    }
    if (jobs.isEmpty() && new JobBranch(table, "").isNewTable()) {
      throw new FileNotFoundException(table.toString());
    }
    return jobs;
  }

  private Job look(String jobId) throws IOException {
    return look(jobId, repository.head(table.branchOf(jobId)));
  }

  private Job look(String jobId, Optional<String> head) throws IOException {
    Job job = new Job(jobId, head.isPresent() ? repository.commit(head.get()) : null);
    // Without a commit of its own it stands at one of the table's, which may be another job's.
    if (job.head != null && job.head.metadata.getOrDefault(LakefsCommit.JOB, "").equals(jobId)) {
      boolean holds = LakefsCommit.HOLD.equals(job.head.metadata.get(LakefsCommit.PUBLISH));
      job.state = job.isMerged() ? State.MERGED : holds ? State.HELD : State.COMMITTED;
    }
    return job;
  }

  /** Counts what a job adds to the table; before its commit no more than a page. */
  private void measure(Job job) throws IOException {
    if (job.head == null) {
      return;
    }
    String own = table.branchOf(job.root.jobId());
    if (job.state == State.WITHOUT_COMMIT) {
      repository.changes(own).forEach(job::note);
    } else {
      repository.mergeDifference(table.branch(), own, job::note);
    }
  }

  /** What is known of one job. */
  public final class Job {
    private final StagingRoot root;
    private final JobBranch branch;

    /** Where its branch stands; null if there is none. */
    private final Commit head;

    private final Set<String> partitions = new TreeSet<>();
    private State state = State.WITHOUT_COMMIT;
    private long files;
    private long bytes;

    private Job(String jobId, Commit head) {
      this.root = new StagingRoot(table.path(), jobId);
      this.branch = new JobBranch(table, jobId);
      this.head = head;
    }

    private boolean isMerged() throws IOException {
      return repository.isMerged(head.id, table.branch());
    }

    private String publish() throws IOException {
      return new LakefsCommit(table, root.jobId(), head.metadata).publish(head.id);
    }

    private void note(Record change) {
      String path = change.text("path");
      if (table.isData(path) && !change.text("type").equals("removed")) {
        files++;
        bytes += change.has("size_bytes") ? change.number("size_bytes") : 0;
        int end = path.lastIndexOf('/');
        if (end >= table.prefix().length()) {
          partitions.add(path.substring(table.prefix().length(), end));
        }
      }
    }

    private StagedJob staged() throws IOException {
      Optional<Long> last = state == State.HELD ? Optional.of(since()) : branch.lastBeat();
      return StagedJob.elsewhere(
          root,
          at(root),
          state == State.COMMITTED
              ? StagedJob.State.UNFINISHED
              : state == State.HELD ? StagedJob.State.HELD : StagedJob.State.ABANDONED,
          files,
          bytes,
          // Ages need no more than this machine's clock.
          last.map(time -> Math.max(0, System.currentTimeMillis() - time)),
          config.heartbeatTimeout);
    }

    /** Its id. */
    public String jobId() {
      return root.jobId();
    }

    /** The commit of its branch. */
    public String commit() {
      return head.id;
    }

    /** How many files it adds. */
    public long files() {
      return files;
    }

    /** Their size. */
    public long bytes() {
      return bytes;
    }

    /** The directories to which it adds them, relative to the table; without the table's own. */
    public List<String> partitions() {
      return new ArrayList<>(partitions);
    }

    /** When it was committed, by the server's clock, in milliseconds since 1970. */
    public long since() {
      return head.created;
    }

    /** Whether it may be published only over the state that it saw, in places of the table. */
    public boolean overwrites() {
      return head.metadata.containsKey(LakefsCommit.HELD_OVER);
    }

    /** Its identity, if it was given one. */
    public Optional<String> commitId() {
      return Optional.ofNullable(head.metadata.get(LakefsCommit.COMMIT_ID));
    }
  }
}
