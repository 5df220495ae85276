// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.commit.Audit;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.LifeSigns.JobIsAliveException;
import io.manifestcommitter.jobs.LifeSigns.Pause;
import io.manifestcommitter.jobs.StagedJob.Kind;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.journal.Heartbeat;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Finds what jobs keep in a table, and removes what nobody needs any more. */
public final class StagedJobs {
  private static final Logger LOG = LoggerFactory.getLogger(StagedJobs.class);

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
    List<StagedJob> jobs = new ArrayList<>();
    List<Path> temporary = new ArrayList<>();
    store.list(
        table,
        entry -> {
          if (entry.isDirectory() && entry.name().equals(JobPaths.TEMPORARY)) {
            temporary.add(entry.path());
          } else if (entry.isDirectory()) {
            StagedJob.in(entry).ifPresent(jobs::add);
          }
        });
    for (Path directory : temporary) {
      // The last job in it may have ended since.
      store.listIfThere(
          directory,
          entry -> {
            if (entry.isDirectory()) {
              jobs.add(StagedJob.inTemporary(entry));
            }
          });
    }
    if (!jobs.isEmpty()) {
      long now = now(table);
      for (StagedJob job : jobs) {
        job.list(store);
        Optional<Long> beat =
            job.kind == Kind.SPARK_PROTOCOL ? Heartbeat.last(store, job.root) : Optional.empty();
        job.judge(beat, now, config.heartbeatTimeout, quiet);
      }
    }
    return jobs;
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
  public AbortedUploads remove(StagedJob job, boolean force, LifeSigns signs, Pause pause)
      throws IOException {
    Path directory = job.directory;
    AbortedUploads uploads = AbortedUploads.NONE;
    if (job.kind == Kind.SPARK_PROTOCOL) {
      StagingRoot root = new StagingRoot(directory, job.jobId.get());
      if (!force) {
        signs.requireDead(root, pause);
      }
      if (job.hasPlan()) {
        uploads = abortUploads(root, job.hasUnfinishedCommit() || job.isHeld());
      }
    }
    Retries.few(() -> store.deleteTree(job.root));
    OtherJobs.removeEmpty(store, job.root);
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
      throw JobIsAliveException.itself(root, config.heartbeatTimeout / 1000);
    }
    abortUploads(root, /* givesUpCommit= */ false);
    if (!new OtherJobs(store).fence(root)) {
      throw JobIsAliveException.itself(root, config.heartbeatTimeout / 1000);
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

  /**
   * Aborts the uploads that the plan of a dead job names, before its staging directory goes. The
   * job died between its plan and its journal, or its unfinished commit is given up. Nothing but
   * the plan names these uploads.
   *
   * <p>They are only that job's: each has a name and an id that no other job gives. A driver that
   * wakes up later finds itself silent for too long before it begins its commit, so it completes
   * none. None waits of a commit that has ended, or is past its point of no return. Four requests,
   * one for each upload, and two for each custom location. An unusable plan is reported, and is no
   * failure.
   *
   * @param root of a job that is dead
   * @param givesUpCommit whether its commit may have begun, and is given up
   * @throws IOException if an upload may still wait; or if its commit has begun, and is not to be
   *     given up
   */
  private AbortedUploads abortUploads(StagingRoot root, boolean givesUpCommit) throws IOException {
    try {
      Optional<CommitJournal> begun = CommitJournal.find(store, root.attempt());
      if (!begun.isPresent()) {
        Optional<StoreEntry> file = store.status(CommitJournal.unbegun(store, root.attempt()));
        return file.isPresent()
            ? abort(root, CommitJournal.readUnbegun(store, file.get(), root))
            : AbortedUploads.NONE;
      }
      CommitJournal journal = begun.get();
      if (journal.state().isEnd()) {
        return AbortedUploads.NONE;
      }
      if (!givesUpCommit) {
        throw new IOException(
            journal
                + " says that the job has begun its commit since it was looked at. Nothing was"
                + " removed. Recover it: manifest-committer recover "
                + root.directory());
      }
      // First what would bring it past its point of no return.
      return journal.hasPlan() && journal.revoke()
          ? abort(root, journal.plan(root))
          : AbortedUploads.NONE;
    } catch (FileNotFoundException e) {
      LOG.debug("Somebody else removes {}", root.root(), e);
      return AbortedUploads.NONE;
    } catch (CorruptManifestException e) {
      LOG.warn("The uploads of job {} are not known", root.jobId(), e);
      // Elsewhere a plan that was cut short is as good as none.
      return store.traits(root.root()).completesUploads()
          ? new AbortedUploads(0, e.getMessage())
          : AbortedUploads.NONE;
    }
  }

  private AbortedUploads abort(StagingRoot root, JobPlan plan) throws IOException {
    AtomicInteger uploads = new AtomicInteger();
    try (plan) {
      Workers workers =
          new Workers(
              config.ioThreads, () -> {}, Audit.job(root.jobId()), CommitProgress.unwatched());
      new OtherJobs(store)
          .requireLocations(workers, plan, root, root.attempt(), /* mayBeGone= */ false);
      workers.forEach(
          plan.files,
          file -> {
            if (file.isUpload()) {
              Retries.few(() -> store.abortUpload(file));
              uploads.incrementAndGet();
            }
          });
    }
    return new AbortedUploads(uploads.get(), null);
  }

  /** What became of the uploads of a job whose staging directory was removed. */
  public static final class AbortedUploads {
    /** Of a job without any. */
    public static final AbortedUploads NONE = new AbortedUploads(0, null);

    /** How many its plan named: they are aborted, whether or not they waited. */
    public final int count;

    /** Why they may still wait: its plan cannot be used. Null if none does that it named. */
    public final String unknown;

    private AbortedUploads(int count, String unknown) {
      this.count = count;
      this.unknown = unknown;
    }
  }
}
