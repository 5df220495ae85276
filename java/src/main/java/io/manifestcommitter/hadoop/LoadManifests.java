// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import io.manifestcommitter.commit.CommitWork;
import io.manifestcommitter.commit.FindEntries;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.manifest.TaskManifest;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.JobPlan.ExistingDirectories;
import io.manifestcommitter.plan.JobPlan.PlanRejectedException;
import io.manifestcommitter.plan.JobPlan.Target;
import io.manifestcommitter.plan.JobPlanner;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.Store.FileTooLongException;
import io.manifestcommitter.store.StoreEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.stream.Collectors;
import java.util.zip.CRC32C;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads and checks the manifests of all committed tasks, in parallel, and plans what they name. One
 * that cannot be trusted fails the job before anything is visible.
 *
 * <p>A commit may be a repetition: the mark of the first try shows, and whether that one came to
 * its end shows in the table's {@code _SUCCESS}.
 */
final class LoadManifests {
  private static final Logger LOG = LoggerFactory.getLogger(LoadManifests.class);
  private static final String MANIFESTS = "manifests";
  private static final int UNIT = 64 << 10;

  /**
   * The units of heap for manifests that are loaded and not yet planned. One that is larger than
   * that goes alone.
   */
  private static final int HEAP =
      (int) Math.min(Integer.MAX_VALUE / 2, Runtime.getRuntime().maxMemory() / 4 / UNIT);

  private final CommitWork work;
  private final Store store;
  private final StatisticsRecorder statistics;
  private final JobPaths paths;
  private final Semaphore heap = new Semaphore(HEAP);
  private final List<StoreEntry> manifests = new ArrayList<>();
  private boolean markSeen;

  /**
   * The manifests below {@code paths}.
   *
   * @param work its statistics take those of the tasks
   */
  LoadManifests(CommitWork work, JobPaths paths) {
    this.work = work;
    this.store = work.store;
    this.statistics = work.statistics;
    this.paths = paths;
  }

  /**
   * Whether an earlier try committed the job already, so that nothing is left to do but to clean
   * up. Asked first, since it lists the manifests.
   */
  boolean isCommitted() throws IOException {
    try {
      list();
    } catch (FileNotFoundException e) {
      if (work.hasOwnReport()) {
        return true;
      }
      throw new IOException(
          "The directory of manifests "
              + paths.manifestDirectory()
              + " is gone: another job or a cleaner deleted it, or this job is committed already"
              + " and wrote no _SUCCESS. Nothing was published now.",
          e);
    }
    return markSeen && work.hasOwnReport();
  }

  /**
   * Loads and checks the manifests. The caller closes the plan.
   *
   * @throws PlanRejectedException if what the tasks committed contradicts itself
   * @throws CorruptManifestException if a manifest cannot be read
   */
  JobPlan plan() throws IOException {
    Optional<TaskManifest> mark = markSeen ? readMark().orElse(Optional.empty()) : Optional.empty();
    // One that cannot be read is written again.
    markSeen = mark.isPresent();
    if (markSeen && !identity().equals(mark.get().extraData.get(MANIFESTS))) {
      throw new IOException(
          "The manifests in "
              + paths.manifestDirectory()
              + " are not those of an earlier commit of job "
              + paths.jobId
              + ". That commit ended and its cleanup did not, or a task has committed since. Nothing"
              + " was published now. Look at the table, abort this job, and run it again if its files"
              + " are not there.");
    }
    try (JobPlanner planner = newPlanner()) {
      work.workers.forEach(manifests, file -> load(file, planner));
      FindEntries find = new FindEntries(store, work.workers);
      ExistingDirectories existing = find.directories(planner.directories());
      noteDestinations(planner, existing);
      find.requireOneVolume(Set.of(paths.destination), planner.parents(), existing);
      return planner.plan(existing, List.of(), List.of());
    }
  }

  /**
   * A rename onto a directory would put the file inside it, and answer that all is well (HDFS, ABFS
   * and others). Names are the tasks' own here, so every directory that existed before and gets
   * files is looked at once; new ones cost nothing.
   */
  private void noteDestinations(JobPlanner planner, ExistingDirectories existing)
      throws IOException {
    Set<Path> parents = planner.parents();
    parents.removeIf(
        parent -> !parent.equals(paths.destination) && !existing.directories.contains(parent));
    Queue<Path> found = new ConcurrentLinkedQueue<>();
    work.workers.forEach(
        parents,
        parent -> {
          // Where another job removed it, or has it aside for a moment, nothing is in the way.
          store.listIfThere(
              parent,
              entry -> {
                if (entry.isDirectory()) {
                  found.add(entry.path());
                }
              });
        });
    planner.occupied(found);
  }

  /**
   * Leaves the mark of a commit of the Hadoop protocol before its first change, unless an earlier
   * try did. Mark and manifests are all that another committer, anywhere, needs to repeat the
   * commit or to roll it back. The mark names the directories that did not exist, and so are the
   * job's to roll back, and by what the set of manifests is recognised.
   *
   * <p>Written as a manifest without files, which brings its checksum along.
   */
  void mark(JobPlan plan) throws IOException {
    if (markSeen) {
      return;
    }
    byte[] mark =
        new TaskManifest(
                plan.jobId,
                paths.jobAttempt,
                "commit",
                "commit",
                paths.jobAttemptDirectory,
                List.of(),
                plan.missingDirectories.stream()
                    .map(path -> new TaskManifest.Directory(path, path.depth()))
                    .collect(Collectors.toList()),
                Map.of(MANIFESTS, identity()),
                new IOStatisticsSnapshot())
            .toJson();
    store.write(paths.commitMark(), out -> out.write(mark));
  }

  /**
   * The plan of a commit that began, or may have, as far as rolling it back needs it.
   *
   * @return empty if no commit has begun to make changes
   */
  Optional<JobPlan> planToRollBack() throws IOException {
    Optional<Optional<TaskManifest>> mark = readMark();
    if (!mark.isPresent()) {
      return Optional.empty();
    }
    list();
    try (JobPlanner planner = newPlanner()) {
      work.workers.forEach(manifests, file -> load(file, planner));
      Set<Path> existing = new HashSet<>(planner.directories());
      mark.get().ifPresent(known -> known.directories.forEach(made -> existing.remove(made.path)));
      return Optional.of(
          planner.plan(new ExistingDirectories(existing, Set.of()), List.of(), List.of()));
    } catch (CorruptManifestException | PlanRejectedException e) {
      throw new IOException(
          "What job "
              + paths.jobId
              + " published cannot be rolled back, since its manifests cannot be read any more."
              + " Nothing was deleted: look for its files in "
              + paths.destination
              + ", then delete "
              + paths.jobAttemptDirectory,
          e);
    }
  }

  /**
   * Removes the mark, once the commit is rolled back: cleanup may then delete the sources, by which
   * it can be told what was published.
   */
  void rolledBack() throws IOException {
    Retries.few(() -> store.deleteFile(paths.commitMark()));
  }

  /**
   * The mark, if a commit may have begun to make changes. One that cannot be read was cut short by
   * a commit that had not changed anything yet, or was damaged since. The commit may have begun,
   * and nothing more is known of it.
   */
  private Optional<Optional<TaskManifest>> readMark() throws IOException {
    try {
      byte[] content = store.read(paths.commitMark(), TaskManifest.longest());
      TaskManifest mark = TaskManifest.parse(content, paths.commitMark().toString());
      boolean isOwn = mark.jobId.equals(paths.jobId) && mark.jobAttemptNumber == paths.jobAttempt;
      return Optional.of(Optional.of(mark).filter(any -> isOwn));
    } catch (FileNotFoundException e) {
      return Optional.empty();
    } catch (CorruptManifestException | FileTooLongException e) {
      LOG.warn("{} cannot be read: the commit may have begun", paths.commitMark(), e);
      return Optional.of(Optional.empty());
    }
  }

  private void list() throws IOException {
    manifests.clear();
    store.list(
        paths.manifestDirectory(),
        entry -> {
          if (entry.path().equals(paths.commitMark())) {
            markSeen = true;
          } else if (!entry.isDirectory() && entry.name().endsWith(JobPaths.MANIFEST_SUFFIX)) {
            manifests.add(entry);
          }
        });
  }

  /** What tells this set of manifests from another: how many, and a checksum of what was listed. */
  private String identity() {
    CRC32C checksum = new CRC32C();
    manifests.stream()
        .map(file -> file.name() + file.length() + file.etag() + file.modificationTime() + '\n')
        .sorted()
        .forEach(line -> checksum.update(line.getBytes(StandardCharsets.UTF_8)));
    return manifests.size() + "-" + Long.toHexString(checksum.getValue());
  }

  private JobPlanner newPlanner() {
    return new JobPlanner(paths.jobId, new Target(paths.destination, paths.jobDirectory));
  }

  private void plan(TaskManifest manifest, JobPlanner planner) throws IOException {
    planner.task(manifest.taskId);
    int depth = 0;
    for (TaskManifest.Directory directory : manifest.directories) {
      planner.directory(directory.path);
      depth = Math.max(depth, directory.level);
    }
    for (FileEntry file : manifest.files) {
      planner.publish(file);
      statistics.sample(StatisticNames.COMMITTER_TASK_FILE_SIZE, file.size());
    }
    statistics.sample(StatisticNames.COMMITTER_TASK_FILE_COUNT, manifest.files.size());
    statistics.sample(StatisticNames.COMMITTER_TASK_DIRECTORY_COUNT, manifest.directories.size());
    statistics.sample(StatisticNames.COMMITTER_TASK_DIRECTORY_DEPTH, depth);
  }

  private void load(StoreEntry file, JobPlanner planner) throws IOException {
    if (file.length() > TaskManifest.MAX_BYTES) {
      throw new CorruptManifestException(
          file + " is longer than any manifest. Nothing was published; run the job again.");
    }
    if (file.length() > TaskManifest.longest()) {
      throw new IOException(
          file
              + " needs more memory than this JVM has. Nothing was published: give the driver a"
              + " larger heap, or let a task write fewer files, and run the job again.");
    }
    int memory = (int) Math.min(HEAP, file.length() * TaskManifest.HEAP_FOR_BYTE / UNIT + 1);
    heap.acquireUninterruptibly(memory);
    try {
      TaskManifest manifest = statistics.time(StatisticNames.OP_LOAD_MANIFEST, () -> read(file));
      synchronized (planner) {
        plan(manifest, planner);
      }
    } catch (PlanRejectedException e) {
      throw new PlanRejectedException("The manifest " + file.path(), e);
    } finally {
      heap.release(memory);
    }
  }

  private TaskManifest read(StoreEntry file) throws IOException {
    byte[] json = store.read(file.path(), TaskManifest.longest());
    statistics.sample(StatisticNames.COMMITTER_TASK_MANIFEST_FILE_SIZE, json.length);
    TaskManifest manifest = TaskManifest.parse(json, file.path().toString());
    if (!manifest.jobId.equals(paths.jobId)
        || !file.name().equals(manifest.taskId + JobPaths.MANIFEST_SUFFIX)) {
      throw new CorruptManifestException(
          "The manifest "
              + file.path()
              + " says that it belongs to task "
              + manifest.taskId
              + " of job "
              + manifest.jobId
              + ", not to this place. Nothing was published; run job "
              + paths.jobId
              + " again.");
    }
    return manifest;
  }
}
