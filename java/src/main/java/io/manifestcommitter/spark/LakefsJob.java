// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.CommitWork;
import io.manifestcommitter.commit.JobDescription;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.commit.Workers.Result;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.config.CommitterConfig.ConflictMode;
import io.manifestcommitter.journal.CommitLedger;
import io.manifestcommitter.journal.Heartbeat;
import io.manifestcommitter.lakefs.JobBranch;
import io.manifestcommitter.lakefs.LakefsCommit;
import io.manifestcommitter.lakefs.LakefsCommit.AlreadyCommittedException;
import io.manifestcommitter.lakefs.LakefsCommit.NotMergedException;
import io.manifestcommitter.lakefs.LakefsJobs;
import io.manifestcommitter.lakefs.LakefsTable;
import io.manifestcommitter.lakefs.LakefsUpload;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.JobPlan.ExistingDirectories;
import io.manifestcommitter.plan.JobPlan.PlanRejectedException;
import io.manifestcommitter.plan.JobPlanner;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.progress.CommitSnapshot;
import io.manifestcommitter.spark.CommittedFiles.Directory;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.InvocationRaisingIOE;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver's side of a write into lakeFS. Tasks link their files to a hidden branch of the job;
 * the job commit makes them one commit and one merge: see {@link LakefsCommit}. There is no
 * journal: the branch is the journal.
 */
final class LakefsJob implements WriteJob {
  private static final Logger LOG = LoggerFactory.getLogger(LakefsJob.class);

  private final WriteRequest write;
  private final LakefsTable table;
  private final JobBranch branch;
  private final RequestGate gate;
  private final StagingRoot root;

  private Heartbeat heartbeat;
  private String base;
  private boolean isNew;
  private LakefsUpload.Way way;
  private boolean commitTried;
  private Ending ending = Ending.NOTHING_VISIBLE;

  LakefsJob(WriteRequest write, LakefsTable table, RequestGate gate) {
    this.write = write;
    this.table = table;
    this.branch = new JobBranch(table, write.jobId);
    this.gate = gate;
    this.root = new StagingRoot(write.table, write.jobId);
  }

  @Override
  public void setUp() throws IOException {
    StatisticsRecorder statistics = new StatisticsRecorder();
    CommitProgress progress =
        write.begin(gate, CommitSnapshot.Kind.SETUP, StatisticNames.JOB_STAGE_SETUP, statistics);
    progress.run(
        () -> {
          requireServed();
          Workers workers = write.workers(progress);
          Result<Boolean> isEmpty = new Result<>(branch::isNewTable);
          Result<LakefsUpload.Way> offered =
              new Result<>(() -> LakefsUpload.Way.of(table.repository()));
          try {
            workers.beside(
                () -> branch.requireClean(/* removes= */ true),
                isEmpty,
                offered,
                write.overwrite.replacesWholeTable(write.table)
                    ? this::requirePlainFiles
                    : () -> {},
                branch::makeBeatBranch);
            isNew = isEmpty.get();
            way = offered.get();
            heartbeat = branch.beat(write.config, write.nanos);
            base = branch.make();
            heartbeat.await();
          } catch (IOException | RuntimeException | Error e) {
            remove(workers, branch::remove);
            throw e;
          }
        });
  }

  /** As {@link TableRoot#requirePlainFiles}. Three requests. */
  private void requirePlainFiles() throws IOException {
    for (String record : TableRoot.FOREIGN_RECORDS) {
      if (branch.has(record, name -> true)) {
        throw TableRoot.foreign(write.table, record);
      }
    }
    if (branch.has(TableRoot.ICEBERG_METADATA, TableRoot::isIcebergs)) {
      throw TableRoot.foreign(write.table, TableRoot.ICEBERG_METADATA);
    }
  }

  private void requireServed() throws IOException {
    if (write.config.holds()) {
      write.command.requireHoldable(write.table);
    }
    if (write.config.keepReplaced > 0 && write.overwrite.mayReplace(write.config.conflictMode)) {
      throw new IOException(
          "This job cannot keep what it replaces in "
              + table
              + " ("
              + CommitterConfig.KEEP_REPLACED
              + "): lakeFS keeps every commit, and the table before the job is read there, as "
              + "repository/commit/path. Nothing was changed. Leave the option out");
    }
  }

  /** How tasks upload; known from {@link #setUp} on. */
  LakefsUpload.Way way() {
    return way;
  }

  @Override
  public boolean madeTable() {
    return isNew;
  }

  @Override
  public void taskCommitted(Object message) {
    // What an attempt has linked goes with the branch.
  }

  @Override
  public void commit(List<?> messages) throws IOException {
    if (base == null || commitTried) {
      throw new IllegalStateException(
          "Job " + write.jobId + (base == null ? " was not set up" : " tried to commit before"));
    }
    commitTried = true;
    StatisticsRecorder statistics = new StatisticsRecorder();
    CommitProgress progress =
        write.begin(gate, CommitSnapshot.Kind.COMMIT, StatisticNames.JOB_STAGE_PLAN, statistics);
    progress.run(() -> commit(messages, write.workers(progress), statistics));
  }

  private void commit(List<?> messages, Workers workers, StatisticsRecorder statistics)
      throws IOException {
    JobDescription job = write.description(root, isNew, branch.facts(base));
    CommitWork work = new CommitWork(job, write.store, write.config, workers, statistics);
    try {
      workers.shield(() -> new Try(work, workers).run(messages));
    } catch (IOException | RuntimeException | Error e) {
      if (e instanceof NotMergedException) {
        ending = Ending.LEFT_BEHIND;
        giveUp();
      }
      work.failed(e);
      throw e;
    }
    workers.toItsEnd();
    if (ending == Ending.HELD) {
      giveUp();
    } else {
      workers.step(StatisticNames.JOB_STAGE_CLEANUP);
      remove(workers, () -> workers.beside(branch::removeFiles, branch::removeBeat));
    }
  }

  /** Nobody works on the job any more. Never throws. */
  private void giveUp() {
    heartbeat.close();
    try {
      branch.removeBeat();
    } catch (IOException | RuntimeException e) {
      LOG.warn("For a while job {} seems to live", write.jobId, e);
    }
  }

  @Override
  public boolean isHeld() {
    return ending == Ending.HELD;
  }

  @Override
  public void abort() {
    switch (ending) {
      case COMMITTED:
      case HELD:
      case SKIPPED:
        LOG.warn("Job {} is committed: what failed after its commit does not undo it", write.jobId);
        return;
      case LEFT_BEHIND:
        LOG.error("Job {} is not merged, and its branch is kept", write.jobId);
        return;
      default:
        Workers workers = write.workers();
        workers.toItsEnd();
        if (!commitTried) {
          write.saveAborted(
              write.description(root, isNew, Map.of()),
              "A task failed, or it was cancelled: the driver's log says why");
        }
        remove(workers, branch::remove);
    }
  }

  /** Removes the job's branches. Never throws. */
  private void remove(Workers workers, InvocationRaisingIOE removal) {
    if (heartbeat != null) {
      heartbeat.close();
    }
    try {
      workers.toItsEnd();
      workers.shield(removal);
    } catch (IOException | RuntimeException | Error e) {
      LOG.warn(
          "The branches of job {} remain: 'manifest-committer clean {}' deletes them",
          write.jobId,
          table,
          e);
    }
  }

  /** The one try at the commit. */
  private final class Try {
    private final CommitWork work;
    private final Workers workers;

    Try(CommitWork work, Workers workers) {
      this.work = work;
      this.workers = workers;
    }

    void run(List<?> messages) throws IOException {
      work.enter(StatisticNames.JOB_STAGE_PLAN);
      CommittedFiles committed =
          new CommittedFiles(write.jobId, messages, UnaryOperator.identity());
      if (isElsewhere()) {
        ending = Ending.SKIPPED;
        return;
      }
      try (JobPlanner planner = PlanSparkJob.begin(committed, root, isNew, write.config)) {
        long[] sizes = planFiles(committed, planner);
        List<String> old = new ArrayList<>();
        try (JobPlan plan = plan(committed, planner, old)) {
          commit(plan, new Exactly(committed, sizes, old, table.prefix()));
        }
      } catch (AlreadyCommittedException e) {
        work.skipped(e.by);
        ending = Ending.SKIPPED;
      }
    }

    /** Whether another job has the data of this one's identity: no request without one. */
    private boolean isElsewhere() throws IOException {
      if (!write.config.commitId.isPresent()) {
        return false;
      }
      String id = write.config.commitId.get();
      Optional<String> held = new LakefsJobs(table, write.config, /* force= */ false).heldAs(id);
      return write.isElsewhere(held, branch.committedAs(id), work);
    }

    /** The lengths of the files, by their numbers. */
    private long[] planFiles(CommittedFiles committed, JobPlanner planner) throws IOException {
      long[] sizes = new long[committed.count()];
      Arrays.fill(sizes, -1);
      committed.forEachLinked(
          write.table,
          (number, file) -> {
            planner.publish(file);
            sizes[number] = file.size();
          });
      BitSet found = new BitSet();
      for (int number = 0; number < sizes.length; number++) {
        found.set(number, sizes[number] >= 0);
      }
      new ProveStaged(write.store, workers, write.config.missingFiles)
          .requireAll(found, committed, planner);
      return sizes;
    }

    /**
     * Looks for what is replaced, on the branch of the job: what it shows of others is the table as
     * it was when the job began.
     *
     * @param old takes the paths that go
     */
    private JobPlan plan(CommittedFiles committed, JobPlanner planner, List<String> old)
        throws IOException {
      ConflictMode conflicts = write.config.conflictMode;
      Set<Path> parents = committed.parents(write.table);
      Collection<Path> overwritten = write.overwrite.roots(parents);
      Collection<Path> written = WriteRequest.Overwrite.outermost(overwritten, parents);
      Collection<Path> places = conflicts == ConflictMode.APPEND ? overwritten : written;
      Map<Path, List<StoreEntry>> found = new TreeMap<>();
      if (!places.isEmpty()) {
        branch.list(
            base,
            places,
            file -> {
              found.computeIfAbsent(file.path().getParent(), key -> new ArrayList<>()).add(file);
              old.add(table.key(file.path()));
            });
      }
      if (conflicts != ConflictMode.APPEND) {
        requireNoConflict(conflicts, found, parents.contains(write.table));
      }
      if (write.config.holds()) {
        planner.heldOver(write.heldOver(overwritten, written, isNew));
      }
      List<OldDirectory> replaced = new ArrayList<>();
      found.forEach((directory, files) -> replaced.add(new OldDirectory(directory, files)));
      // Which partitions of a table were there before is known of those that are replaced.
      Set<Path> existing = new HashSet<>(isNew ? Set.of() : planner.directories());
      Set<Path> looked = new HashSet<>(places);
      existing.removeIf(
          directory ->
              StorePaths.isSameOrBelowOne(looked, directory) && !found.containsKey(directory));
      return planner.plan(new ExistingDirectories(existing, Set.of()), replaced, List.of());
    }

    private void commit(JobPlan plan, Exactly exactly) throws IOException {
      work.count(plan);
      work.step(StatisticNames.JOB_STAGE_REMOVE_OLD_DATA, () -> branch.delete(exactly.old));
      SuccessReport success = work.success(plan);
      work.step(
          StatisticNames.JOB_STAGE_SAVE_SUCCESS_MARKER, () -> writeOwn(plan, success, exactly));
      LakefsCommit commit = new LakefsCommit(table, write.jobId, metadata(plan));
      String made =
          work.time(StatisticNames.JOB_STAGE_WRITE_JOURNAL, () -> commit.make(base, exactly));
      if (write.config.holds()) {
        ending = Ending.HELD;
        work.held(write.jobId);
        return;
      }
      workers.forwardToItsEnd();
      String merged =
          made.equals(base)
              ? base
              : work.time(StatisticNames.JOB_STAGE_RENAME_FILES, () -> commit.publish(made));
      ending = Ending.COMMITTED;
      work.save(success, plan);
      LOG.info(
          "Committed {} as {}, merged into {} as {}: read it by {}",
          plan,
          made,
          table.branch(),
          merged,
          table.at(merged));
    }

    /** What the job itself adds to the table. */
    private void writeOwn(JobPlan plan, SuccessReport success, Exactly exactly) throws IOException {
      Map<String, byte[]> own = new TreeMap<>();
      if (write.config.markSuccessfulJobs) {
        ByteArrayOutputStream list = new ByteArrayOutputStream();
        work.list(plan, list);
        own.put(JobPaths.FILE_LIST, list.toByteArray());
        own.put(JobPaths.SUCCESS_MARKER, success.toJson());
      }
      if (replaces()) {
        own.put(LakefsCommit.OVERWRITTEN, write.jobId.getBytes(StandardCharsets.UTF_8));
      }
      if (write.config.commitId.isPresent()) {
        String id = write.config.commitId.get();
        Path file = CommitLedger.file(write.table, id);
        own.put(
            StorePaths.relative(write.table, file),
            CommitLedger.entry(id, write.jobId, WriteRequest.applicationId()));
      }
      exactly.own.addAll(own.keySet());
      workers.forEach(own.entrySet(), one -> branch.write(one.getKey(), one.getValue()));
    }

    private boolean replaces() {
      return write.overwrite.mayReplace(write.config.conflictMode);
    }

    /** So that anybody can go on with the commit. */
    private Map<String, String> metadata(JobPlan plan) {
      Map<String, String> metadata = new TreeMap<>();
      write.facts(isNew).forEach((key, value) -> metadata.put(LakefsCommit.PREFIX + key, value));
      metadata.put(LakefsCommit.JOB, write.jobId);
      metadata.put(LakefsCommit.FILES, Integer.toString(plan.files().count()));
      metadata.put(LakefsCommit.PUBLISH, write.config.holds() ? LakefsCommit.HOLD : "now");
      if (replaces()) {
        metadata.put(
            LakefsCommit.REPLACES, write.overwrite.lines(write.table, write.config.conflictMode));
      }
      if (!plan.heldOver().isEmpty()) {
        List<String> lines = WriteRequest.Overwrite.lines(write.table, plan.heldOver());
        metadata.put(LakefsCommit.HELD_OVER, String.join("\n", lines));
      }
      return metadata;
    }
  }

  /** What the commit of the job changes. */
  private static final class Exactly implements LakefsCommit.Plan {
    /** What the job itself writes, by its path in the table. */
    final Set<String> own = new HashSet<>();

    /** What is replaced, by its path in the repository. */
    final List<String> old;

    private final String prefix;
    private final Map<String, Directory> directories;
    private final long[] sizes;

    Exactly(CommittedFiles committed, long[] sizes, List<String> old, String prefix) {
      this.prefix = prefix;
      this.directories =
          committed.directories().getOrDefault(StagedFile.TABLE, Collections.emptyNavigableMap());
      this.sizes = sizes;
      this.old = old;
    }

    @Override
    public boolean adds(String path, long size) {
      int end = path.lastIndexOf('/');
      Directory directory = directories.get(end < 0 ? "" : path.substring(0, end));
      int number = directory == null ? -1 : directory.find(path.substring(end + 1));
      return number < 0 ? own.contains(path) : size < 0 || sizes[number] == size;
    }

    @Override
    public int added() {
      return own.size() + (int) Arrays.stream(sizes).filter(size -> size >= 0).count();
    }

    @Override
    public int removed() {
      return (int)
          old.stream().filter(path -> !own.contains(path.substring(prefix.length()))).count();
    }
  }

  private void requireNoConflict(
      ConflictMode conflicts, Map<Path, List<StoreEntry>> found, boolean writesToRoot)
      throws PlanRejectedException {
    Set<Path> asked = new HashSet<>(write.overwrite.roots(List.of()));
    Set<Path> there = new TreeSet<>();
    found.forEach(
        (directory, files) -> {
          boolean isVisible = files.stream().anyMatch(file -> !StagingRoot.isHidden(file.name()));
          if (isVisible && !StorePaths.isSameOrBelowOne(asked, directory)) {
            there.add(directory);
          }
        });
    if (conflicts == ConflictMode.FAIL && !there.isEmpty()) {
      throw PlanSparkJob.conflict(there);
    }
    there.remove(write.table);
    if (writesToRoot && !there.isEmpty()) {
      throw PlanSparkJob.unclear(write.table, there.iterator().next().toString());
    }
  }
}
