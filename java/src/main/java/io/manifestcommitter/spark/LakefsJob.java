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
import io.manifestcommitter.lakefs.LakefsCommit;
import io.manifestcommitter.lakefs.LakefsCommit.AlreadyCommittedException;
import io.manifestcommitter.lakefs.LakefsCommit.NotMergedException;
import io.manifestcommitter.lakefs.LakefsJobs;
import io.manifestcommitter.lakefs.LakefsTable;
import io.manifestcommitter.lakefs.LakefsUpload;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.FileIdentity;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.JobPlan.ExistingDirectories;
import io.manifestcommitter.plan.JobPlan.PlanRejectedException;
import io.manifestcommitter.plan.JobPlanner;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.progress.CommitProgress;
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
final class LakefsJob extends WriteJob {
  private static final Logger LOG = LoggerFactory.getLogger(LakefsJob.class);

  private final LakefsTable table;
  private final LakefsCommit branch;
  private final StagingRoot root;

  private Heartbeat heartbeat;
  private String base;
  private boolean isNew;
  private Ending ending = Ending.NOTHING_VISIBLE;

  LakefsJob(WriteRequest write, LakefsTable table, RequestGate gate) {
    super(write, gate, StatisticNames.JOB_STAGE_PLAN);
    this.table = table;
    this.branch = new LakefsCommit(table, write.jobId, Map.of());
    this.root = new StagingRoot(write.table, write.jobId);
  }

  @Override
  void setUp(CommitProgress progress) throws IOException {
    requireServed();
    Workers workers = write.workers(progress);
    Result<Boolean> isEmpty = new Result<>(table::isNewTable);
    Result<LakefsUpload.Way> offered = new Result<>(() -> LakefsUpload.Way.of(table.repository));
    Result<String> made = new Result<>(branch::makeBranch);
    heartbeat = branch.beat(write.config, write.nanos);
    try {
      workers.beside(
          () -> table.requireClean(/* removes= */ true),
          isEmpty,
          offered,
          () -> {
            if (write.overwrite.replacesWholeTable(write.table)) {
              requirePlainFiles(workers);
            }
          },
          made);
      isNew = isEmpty.get();
      lakefsWay = offered.get();
      base = made.get();
    } catch (IOException | RuntimeException | Error e) {
      remove(workers, branch::remove);
      throw e;
    }
  }

  /** As {@link TableRoot#requirePlainFiles}. Three requests, at the same time. */
  private void requirePlainFiles(Workers workers) throws IOException {
    List<String> records = new ArrayList<>(TableRoot.FOREIGN_RECORDS);
    records.add(TableRoot.ICEBERG_METADATA);
    workers.forEach(
        records,
        record -> {
          boolean mayBePlain = record.equals(TableRoot.ICEBERG_METADATA);
          if (table.has(record, name -> !mayBePlain || TableRoot.isIcebergs(name))) {
            throw TableRoot.foreign(write.table, record);
          }
        });
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

  @Override
  boolean madeTable() {
    return isNew;
  }

  @Override
  void taskCommitted(Object message) {
    // What an attempt has linked goes with the branch.
  }

  @Override
  void commit(List<?> messages, Workers workers, StatisticsRecorder statistics) throws IOException {
    JobDescription job = write.description(root, isNew, branch.facts(base));
    CommitWork work = new CommitWork(job, write.store, write.config, workers, statistics);
    try {
      workers.shield(() -> new Try(messages, work, workers).run());
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
  Ending ending() {
    return ending;
  }

  @Override
  void abort() {
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
        if (!commitTried()) {
          write.saveAborted(
              write.description(root, isNew, Map.of()),
              "A task failed, or it was cancelled: the driver's log says why");
        }
        remove(workers, branch::remove);
    }
  }

  /** Removes the job's branches. Never throws. */
  private void remove(Workers workers, InvocationRaisingIOE removal) {
    heartbeat.close();
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
    private final CommittedFiles committed;

    /** The lengths of the files that were linked, by their numbers; -1 for one that was not. */
    private final long[] sizes;

    /** The places that are replaced. */
    private Collection<Path> replaced = List.of();

    /** What is in them, by its path in the repository. */
    private final List<String> old = new ArrayList<>();

    /** What the job itself writes, by its path in the table. */
    private final Map<String, byte[]> own = new TreeMap<>();

    Try(List<?> messages, CommitWork work, Workers workers) throws IOException {
      this.work = work;
      this.workers = workers;
      this.committed = new CommittedFiles(write.jobId, messages, UnaryOperator.identity());
      this.sizes = new long[committed.count()];
    }

    void run() throws IOException {
      work.enter(StatisticNames.JOB_STAGE_PLAN);
      if (isElsewhere()) {
        ending = Ending.SKIPPED;
        return;
      }
      try (JobPlanner planner = PlanSparkJob.begin(committed, root, isNew, write.config)) {
        planFiles(planner);
        try (JobPlan plan = plan(planner)) {
          commit(plan);
        }
      } catch (AlreadyCommittedException e) {
        work.skipped(e.by);
        ending = Ending.SKIPPED;
      }
    }

    /** Whether another job has the data of this one's identity: no request without one. */
    private boolean isElsewhere() throws IOException {
      Optional<String> id = write.config.commitId;
      Optional<String> held =
          id.isPresent()
              ? new LakefsJobs(table, write.config, /* force= */ false).heldAs(id.get())
              : Optional.empty();
      return write.isElsewhere(held, () -> table.committedAs(id.get()), work);
    }

    private void planFiles(JobPlanner planner) throws IOException {
      Arrays.fill(sizes, -1);
      BitSet found = new BitSet();
      committed.forEachLinked(
          write.table,
          (number, file) -> {
            planner.publish(file);
            sizes[number] = file.size();
            found.set(number);
          });
      new ProveStaged(write.store, workers, write.config.missingFiles)
          .requireAll(found, committed, planner);
    }

    /**
     * Looks for what is replaced, on the branch of the job: what it shows of others is the table as
     * it was when the job began.
     */
    private JobPlan plan(JobPlanner planner) throws IOException {
      ConflictMode conflicts = write.config.conflictMode;
      Set<Path> parents = committed.parents(write.table);
      Collection<Path> overwritten = write.overwrite.roots(parents);
      Collection<Path> written = WriteRequest.Overwrite.outermost(overwritten, parents);
      Collection<Path> places = conflicts == ConflictMode.APPEND ? overwritten : written;
      replaced = conflicts == ConflictMode.REPLACE ? written : overwritten;
      Map<Path, List<StoreEntry>> found = new TreeMap<>();
      List<String> prefixes = new ArrayList<>();
      places.forEach(place -> prefixes.add(table.key(place) + "/"));
      table.listReplaced(
          base,
          prefixes,
          object -> {
            Path file = table.file(object.text("path"));
            FileIdentity identity =
                new FileIdentity(object.number("size_bytes"), object.text("checksum"), 0);
            found
                .computeIfAbsent(file.getParent(), key -> new ArrayList<>())
                .add(StoreEntry.file(file, identity));
            old.add(object.text("path"));
          });
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

    private void commit(JobPlan plan) throws IOException {
      work.count(plan);
      work.step(
          StatisticNames.JOB_STAGE_REMOVE_OLD_DATA, () -> table.repository.delete(branch.own, old));
      SuccessReport success = work.success(plan);
      work.step(StatisticNames.JOB_STAGE_SAVE_SUCCESS_MARKER, () -> writeOwn(plan, success));
      old.removeIf(path -> own.containsKey(path.substring(table.prefix.length())));
      LakefsCommit commit = new LakefsCommit(table, write.jobId, metadata(plan));
      int added = plan.files.size() + own.size();
      String made =
          work.time(
              StatisticNames.JOB_STAGE_WRITE_JOURNAL,
              () -> commit.make(base, this::adds, added, old.size()));
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
          table.branch,
          merged,
          table.at(merged));
    }

    /** Writes what the job itself adds to the table. */
    private void writeOwn(JobPlan plan, SuccessReport success) throws IOException {
      if (write.config.markSuccessfulJobs) {
        ByteArrayOutputStream list = new ByteArrayOutputStream();
        work.list(plan, list);
        own.put(JobPaths.FILE_LIST, list.toByteArray());
        own.put(JobPaths.SUCCESS_MARKER, success.toJson());
      }
      if (write.overwrite.mayReplace(write.config.conflictMode)) {
        List<String> note = new ArrayList<>(List.of(write.jobId));
        note.addAll(WriteRequest.Overwrite.lines(write.table, replaced));
        own.put(LakefsCommit.OVERWRITTEN, String.join("\n", note).getBytes(StandardCharsets.UTF_8));
      }
      if (write.config.commitId.isPresent()) {
        String id = write.config.commitId.get();
        own.put(
            StorePaths.relative(write.table, CommitLedger.file(write.table, id)),
            CommitLedger.entry(id, write.jobId, WriteRequest.applicationId()));
      }
      workers.forEach(
          own.entrySet(),
          one -> table.repository.write(branch.own, table.prefix + one.getKey(), one.getValue()));
    }

    /** Whether the commit adds this: what a committed attempt linked, or the job itself wrote. */
    private boolean adds(String path, long size) {
      int end = path.lastIndexOf('/');
      Directory directory =
          committed
              .directories()
              .getOrDefault(StagedFile.TABLE, Collections.emptyNavigableMap())
              .get(end < 0 ? "" : path.substring(0, end));
      int number = directory == null ? -1 : directory.find(path.substring(end + 1));
      return number < 0 ? own.containsKey(path) : size < 0 || sizes[number] == size;
    }

    /** So that anybody can go on with the commit. */
    private Map<String, String> metadata(JobPlan plan) {
      Map<String, String> metadata = new TreeMap<>();
      write.facts(isNew).forEach((key, value) -> metadata.put(LakefsCommit.PREFIX + key, value));
      metadata.put(LakefsCommit.JOB, write.jobId);
      metadata.put(LakefsCommit.FILES, Integer.toString(plan.files.size()));
      metadata.put(LakefsCommit.PUBLISH, write.config.holds() ? LakefsCommit.HOLD : "now");
      if (!plan.heldOver().isEmpty()) {
        List<String> lines = WriteRequest.Overwrite.lines(write.table, plan.heldOver());
        metadata.put(LakefsCommit.HELD_OVER, String.join("\n", lines));
      }
      return metadata;
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
