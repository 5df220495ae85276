// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.commit.Audit;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.Upload;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.Target;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Aborts the uploads that the plan of a dead job names, before its staging directory goes. The job
 * died between its plan and its journal, or its unfinished commit is given up. Nothing but the plan
 * names these uploads.
 *
 * <p>They are only that job's: each has a name and an id that no other job gives. A driver that
 * wakes up later finds itself silent for too long before it begins its commit, so it completes
 * none.
 */
public final class AbortPlannedUploads {
  private static final Logger LOG = LoggerFactory.getLogger(AbortPlannedUploads.class);

  private final Store store;
  private final CommitterConfig config;
  private final OtherJobs jobs;

  AbortPlannedUploads(Store store, CommitterConfig config) {
    this.store = store;
    this.config = config;
    this.jobs = new OtherJobs(store);
  }

  /**
   * Aborts them; none of a commit that has ended, or is past its point of no return, since none
   * waits. Four requests, one for each upload, and two for each custom location. An unusable plan
   * is reported, and is no failure.
   *
   * @param root of a job that is dead
   * @param givesUpCommit whether its commit may have begun, and is given up
   * @throws IOException if an upload may still wait; or if its commit has begun, and is not to be
   *     given up
   */
  Aborted run(StagingRoot root, boolean givesUpCommit) throws IOException {
    try {
      Optional<CommitJournal> begun = CommitJournal.find(store, root.attempt());
      if (!begun.isPresent()) {
        return abortUnbegun(root);
      }
      if (begun.get().state().isEnd()) {
        return Aborted.NONE;
      }
      if (!givesUpCommit) {
        throw new IOException(
            begun.get()
                + " says that the job has begun its commit since it was looked at. Nothing was"
                + " removed. Recover it: manifest-committer recover "
                + root.directory());
      }
      return abortBegun(root, begun.get());
    } catch (FileNotFoundException e) {
      LOG.debug("Somebody else removes {}", root.root(), e);
      return Aborted.NONE;
    } catch (CorruptManifestException e) {
      LOG.warn("The uploads of job {} are not known", root.jobId(), e);
      // Elsewhere a plan that was cut short is as good as none.
      return store.traits(root.root()).completesUploads()
          ? new Aborted(0, e.getMessage())
          : Aborted.NONE;
    }
  }

  private Aborted abortUnbegun(StagingRoot root) throws IOException {
    Optional<StoreEntry> file = CommitJournal.findUnbegun(store, root.attempt());
    if (!file.isPresent()) {
      return Aborted.NONE;
    }
    try (JobPlan plan = CommitJournal.readUnbegun(store, file.get(), root.jobId(), target(root))) {
      Workers workers = workers(root);
      jobs.requireLocations(workers, plan, root, file.get().path(), /* mayBeGone= */ false);
      return abort(plan, workers);
    }
  }

  /** First what would bring it past its point of no return. */
  private Aborted abortBegun(StagingRoot root, CommitJournal journal) throws IOException {
    if (!journal.hasPlan() || !journal.revoke()) {
      return Aborted.NONE;
    }
    try (JobPlan plan = journal.plan(root.jobId(), target(root))) {
      Workers workers = workers(root);
      jobs.requireLocations(workers, plan, root, journal, journal.state().isEnd());
      return abort(plan, workers);
    }
  }

  private Aborted abort(JobPlan plan, Workers workers) throws IOException {
    AtomicInteger uploads = new AtomicInteger();
    workers.forEach(
        plan.files().iterator(),
        plan.files().count(),
        file -> {
          if (isUpload(file)) {
            Retries.few(() -> store.abortUpload(file));
            uploads.incrementAndGet();
          }
        });
    return new Aborted(uploads.get(), null);
  }

  private static boolean isUpload(FileEntry file) {
    return Upload.in(file.etag()).isPresent();
  }

  private static Target target(StagingRoot root) {
    return new Target(root.directory(), root.root());
  }

  private Workers workers(StagingRoot root) {
    return new Workers(config.ioThreads(), () -> {}, Audit.job(root.jobId()));
  }

  /** What became of the uploads of a job whose staging directory was removed. */
  public static final class Aborted {
    static final Aborted NONE = new Aborted(0, null);

    private final int count;
    private final String unknown;

    private Aborted(int count, String unknown) {
      this.count = count;
      this.unknown = unknown;
    }

    /** How many its plan named: they are aborted, whether or not they waited. */
    public int count() {
      return count;
    }

    /** Why they may still wait: its plan cannot be used. Empty if none does that it named. */
    public Optional<String> unknown() {
      return Optional.ofNullable(unknown);
    }
  }
}
