// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.StagedJob.Kind;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.journal.Heartbeat;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Finds what jobs keep in a table, and removes what nobody needs any more. */
public final class StagedJobs {
  private static final Logger LOG = LoggerFactory.getLogger(StagedJobs.class);
  private static final String ATTEMPT = JobPaths.attemptName(0) + "/";

  private final Store store;
  private final CommitterConfig config;

  /** As {@code config} tells when a driver is dead. */
  public StagedJobs(Store store, CommitterConfig config) {
    this.store = store;
    this.config = config;
  }

  /**
   * The jobs in a table; each staging directory is listed completely. Changes nothing, except for a
   * file that is made and deleted to ask the store for the time.
   *
   * @param table qualified
   * @param quiet in milliseconds: what has no heartbeat and was written later counts as running
   * @throws FileNotFoundException if there is no table
   */
  public List<StagedJob> find(Path table, long quiet) throws IOException {
    List<StoreEntry> roots = new ArrayList<>();
    List<Path> temporary = new ArrayList<>();
    store.list(
        table,
        entry -> {
          if (!entry.isDirectory()) {
            return;
          }
          if (entry.name().equals(JobPaths.TEMPORARY)) {
            temporary.add(entry.path());
          } else if (kindOf(entry.name()).isPresent()) {
            roots.add(entry);
          }
        });
    for (Path directory : temporary) {
      listTemporary(directory, roots);
    }
    List<StagedJob> jobs = new ArrayList<>();
    if (!roots.isEmpty()) {
      long now = now(table);
      for (StoreEntry root : roots) {
        jobs.add(look(table, root, now, quiet));
      }
    }
    return jobs;
  }

  /** The directories of jobs whose heartbeats have to be watched before these are removed. */
  public static List<StagingRoot> toWatch(Collection<StagedJob> jobs) {
    return jobs.stream()
        .filter(job -> job.kind() == Kind.SPARK_PROTOCOL)
        .map(job -> new StagingRoot(job.root().getParent(), job.jobId().get()))
        .collect(Collectors.toList());
  }

  /**
   * Removes what a job left. Looks at its heartbeat once more. What its plan names and still waits
   * to be completed goes first, since nobody would know of it any more.
   *
   * @param force also if the job shows signs of life
   * @param signs of the lives of drivers
   * @param pause between two looks at one that may live
   * @return what became of its uploads
   * @throws JobIsAliveException if the job may live
   * @throws IOException also if an upload cannot be aborted: then all stays, to be removed again
   */
  public AbortPlannedUploads.Aborted remove(
      StagedJob job, boolean force, LifeSigns signs, Pause pause) throws IOException {
    Path directory = job.root().getParent();
    AbortPlannedUploads.Aborted uploads = AbortPlannedUploads.Aborted.NONE;
    if (job.kind() == Kind.SPARK_PROTOCOL) {
      StagingRoot root = new StagingRoot(directory, job.jobId().get());
      if (!force) {
        signs.requireDead(root, pause);
      }
      if (job.hasPlan()) {
        uploads = new AbortPlannedUploads(store, config).run(root, job.hasUnfinishedCommit());
      }
    }
    Retries.few(() -> store.deleteTree(job.root()));
    OtherJobs.removeEmpty(store, job.root());
    if (directory.getName().equals(JobPaths.TEMPORARY)) {
      store.deleteEmptyDirectory(directory);
    }
    return uploads;
  }

  /**
   * Removes what a driver left that died before its commit. It finds that out if it lives after
   * all: the note of the places that it replaces goes first, and what it staged before the rest.
   *
   * @throws JobIsAliveException if it moved again, or has begun its commit
   */
  void removeUnbegun(StagingRoot root, LifeSigns signs) throws IOException {
    if (signs.look(root) != LifeSigns.Life.DEAD) {
      throw JobIsAliveException.itself(root, config.heartbeatTimeout() / 1000);
    }
    new AbortPlannedUploads(store, config).run(root, /* givesUpCommit= */ false);
    if (!new OtherJobs(store).fence(root)) {
      throw JobIsAliveException.itself(root, config.heartbeatTimeout() / 1000);
    }
    Retries.few(() -> store.deleteTree(root.output()));
    Retries.few(() -> store.deleteTree(root.sealed()));
    Retries.few(() -> store.deleteTree(root.root()));
  }

  /** By the store's clock; where there is no room to ask, by this machine's: ages need no more. */
  private long now(Path table) {
    try {
      return Heartbeat.now(store, table);
    } catch (IOException e) {
      LOG.warn("The store cannot be asked for the time: ages are by this machine's clock", e);
      return System.currentTimeMillis();
    }
  }

  private void listTemporary(Path directory, List<StoreEntry> roots) throws IOException {
    try {
      store.list(
          directory,
          entry -> {
            if (entry.isDirectory()) {
              roots.add(entry);
            }
          });
    } catch (FileNotFoundException e) {
      // The last job in it has just ended.
    }
  }

  private static Optional<Kind> kindOf(String name) {
    if (StagingRoot.jobOf(name).isPresent()) {
      return Optional.of(Kind.SPARK_PROTOCOL);
    }
    return StagingRoot.sparkJobOf(name).map(job -> Kind.SPARK_STAGING);
  }

  private StagedJob look(Path table, StoreEntry root, long now, long quiet) throws IOException {
    boolean isTemporary = !root.path().getParent().equals(table);
    Optional<String> hadoopJob =
        isTemporary ? JobPaths.jobOfDirectory(root.name()) : Optional.empty();
    Kind kind =
        isTemporary
            ? (hadoopJob.isPresent() ? Kind.HADOOP_PROTOCOL : Kind.TEMPORARY)
            : kindOf(root.name()).get();
    String jobId = jobId(kind, root.name(), hadoopJob);
    Tree tree = new Tree(root);
    tree.list();

    Optional<Long> beat =
        kind == Kind.SPARK_PROTOCOL ? Heartbeat.last(store, root.path()) : Optional.empty();
    long last = beat.orElse(tree.lastWritten);
    Long age = last == 0 ? null : Long.valueOf(Math.max(0, now - last));
    // A journal without a heartbeat is of a job whose recovery failed: nobody works on it.
    boolean hadBeat = beat.isPresent() || (kind == Kind.SPARK_PROTOCOL && tree.begun);
    long timeout = hadBeat ? config.heartbeatTimeout() : quiet;
    // A driver makes its heartbeat at once: what holds no file was made by a late attempt.
    boolean isRunning = age == null ? kind != Kind.SPARK_PROTOCOL || tree.files > 0 : age < timeout;
    return new StagedJob(
        root.path(),
        kind,
        jobId,
        age,
        tree.files,
        tree.bytes,
        isRunning,
        tree.isUnfinished(),
        tree.planned);
  }

  private static String jobId(Kind kind, String name, Optional<String> hadoopJob) {
    switch (kind) {
      case SPARK_PROTOCOL:
        return StagingRoot.jobOf(name).get();
      case SPARK_STAGING:
        return StagingRoot.sparkJobOf(name).get();
      default:
        return hadoopJob.orElse(null);
    }
  }

  /** All below a staging directory. */
  private final class Tree {
    private final StoreEntry root;
    private long files;
    private long bytes;
    private long lastWritten;
    private boolean begun;
    private boolean planned;
    private boolean finished;
    private boolean oldData;

    /** In anybody's hands, and where earlier versions moved it; not a report that waits there. */
    private final Pattern asides;

    Tree(StoreEntry root) {
      this.root = root;
      this.asides =
          Pattern.compile(
              ATTEMPT + "old/([0-9]+/)?[0-9]+-" + Pattern.quote(root.name()) + "(/.*)?");
      this.lastWritten = root.lastWritten();
    }

    void list() throws IOException {
      Deque<Path> directories = new ArrayDeque<>(List.of(root.path()));
      while (!directories.isEmpty()) {
        Path directory = directories.pop();
        try {
          store.list(directory, entry -> note(entry, directories));
        } catch (FileNotFoundException e) {
          // Its job goes on, or is being cleaned.
        }
      }
    }

    private void note(StoreEntry entry, Deque<Path> directories) {
      lastWritten = Math.max(lastWritten, entry.lastWritten());
      if (entry.isDirectory()) {
        directories.push(entry.path());
        return;
      }
      files++;
      bytes += entry.length();
      String below = StorePaths.relative(root.path(), entry.path());
      if (CommitJournal.isJournal(entry.name()) && below.equals(ATTEMPT + entry.name())) {
        noteJournal(CommitJournal.stateIn(entry.name()));
      }
      planned |= CommitJournal.mayHoldPlan(entry.name()) && below.equals(ATTEMPT + entry.name());
      begun |= below.endsWith("/manifests/" + JobPaths.COMMIT_MARK);
      oldData |= asides.matcher(below).matches();
    }

    private void noteJournal(Optional<CommitJournal.State> state) {
      boolean isFinished = state.filter(CommitJournal.State::isEnd).isPresent();
      finished |= isFinished;
      begun |= !isFinished;
    }

    /**
     * Where there are several journals, of which the furthest counts, one that has ended is it.
     * Where a custom location has no journal, the old data that was moved aside there tells.
     */
    boolean isUnfinished() {
      boolean hasEnded = finished && store.traits(root.path()).completesUploads();
      return (begun && !hasEnded) || (oldData && !finished);
    }
  }
}
