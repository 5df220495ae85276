// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.AbortPlannedUploads;
import io.manifestcommitter.jobs.LifeSigns;
import io.manifestcommitter.jobs.Pause;
import io.manifestcommitter.jobs.StagedJob;
import io.manifestcommitter.jobs.StagedJobs;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.Stores;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.IntConsumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** A staging directory, and what became of it. */
final class CleanedJob {
  private final StagedJob job;
  private final AbortPlannedUploads.Aborted uploads;
  private final String why;
  private final IOException failure;

  /** With the uploads of a job that was removed; else null. */
  private CleanedJob(
      StagedJob job, AbortPlannedUploads.Aborted uploads, String why, IOException failure) {
    this.job = job;
    this.uploads = uploads;
    this.why = why;
    this.failure = failure;
  }

  /**
   * Cleans a table; each staging directory for itself. First it watches the heartbeats in those
   * that are to go, all at the same time.
   *
   * @param watches told when jobs have to be watched, with their number
   * @throws java.io.FileNotFoundException if there is no table
   * @throws IOException if the table cannot be listed
   */
  static List<CleanedJob> all(
      String table, Configuration conf, CommitterConfig config, Rule rule, IntConsumer watches)
      throws IOException {
    Stores stores = new Stores(conf, config.requestGate(() -> {}));
    Path resolved = stores.resolve(new Path(table));
    StagedJobs staged = new StagedJobs(stores.all(), config);
    List<StagedJob> found = staged.find(resolved, rule.olderThan());
    List<StagedJob> toGo = new ArrayList<>(found);
    toGo.removeIf(job -> !rule.removes(job));
    List<StagingRoot> toWatch = StagedJobs.toWatch(toGo);
    Pause pause = Pause.sleeping(config).telling(() -> watches.accept(toWatch.size()));
    LifeSigns signs = new LifeSigns(stores.all(), config, pause::nanos);
    if (!rule.force) {
      signs.await(toWatch, root -> true, pause);
    }
    List<CleanedJob> jobs = new ArrayList<>();
    for (StagedJob job : found) {
      jobs.add(clean(staged, job, rule, signs, pause));
    }
    return jobs;
  }

  private static CleanedJob clean(
      StagedJobs staged, StagedJob job, Rule rule, LifeSigns signs, Pause pause) {
    if (!rule.removes(job)) {
      return new CleanedJob(job, null, rule.why(job), null);
    }
    try {
      return new CleanedJob(job, staged.remove(job, rule.force, signs, pause), "", null);
    } catch (IOException e) {
      return new CleanedJob(job, null, "", e);
    }
  }

  StagedJob job() {
    return job;
  }

  boolean isRemoved() {
    return uploads != null;
  }

  /** Why it could not be removed, though it should have been. */
  Optional<String> error() {
    return Optional.ofNullable(failure).map(IOException::getMessage);
  }

  /** As programs read it, with all keys always there. */
  Json.Fields toMap() {
    return new Json.Fields()
        .with("root", job.root().toString())
        .with("kind", name(job.kind()))
        .with("jobId", job.jobId())
        .with("ageMillis", job.age())
        .with("files", job.files())
        .with("bytes", job.bytes())
        .with("state", name(job.state()))
        .with("removed", isRemoved())
        .with("abortedUploads", isRemoved() ? uploads.count() : 0)
        .with("unknownUploads", isRemoved() ? uploads.unknown() : null)
        .with("error", error());
  }

  private String uploadsText() {
    if (uploads.unknown().isPresent()) {
      return ". Its uploads may wait until 'clean --uploads' aborts them by age, since its plan"
          + " cannot be read: "
          + Humane.line(uploads.unknown().get());
    }
    return uploads.count() == 0
        ? ""
        : ", and " + Humane.count(uploads.count(), "upload") + " aborted";
  }

  private static String name(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  /** For people. */
  @Override
  public String toString() {
    String text =
        Humane.line(job.root().toString())
            + ": "
            + name(job.state())
            + ", "
            + job.age().map(age -> "silent for " + Humane.millis(age)).orElse("of unknown age")
            + ", "
            + Humane.count(job.files(), "file")
            + ", "
            + Humane.bytes(job.bytes());
    if (isRemoved()) {
      return text + ": removed" + uploadsText();
    }
    return text + (why.isEmpty() ? "" : "; stays: " + why);
  }

  /** Which staging directories go. */
  static final class Rule {
    private final long olderThan;
    private final boolean dryRun;
    private final boolean discardUnfinished;
    private final boolean force;

    /**
     * A rule.
     *
     * @param olderThan in milliseconds
     */
    Rule(long olderThan, boolean dryRun, boolean discardUnfinished, boolean force) {
      this.olderThan = olderThan;
      this.dryRun = dryRun;
      this.discardUnfinished = discardUnfinished;
      this.force = force;
    }

    long olderThan() {
      return olderThan;
    }

    boolean dryRun() {
      return dryRun;
    }

    boolean removes(StagedJob job) {
      return !dryRun && why(job).isEmpty();
    }

    /** Why a job's staging directory stays; empty if it may go. */
    String why(StagedJob job) {
      if (!force && job.state() == StagedJob.State.RUNNING) {
        return "it shows signs of life";
      }
      if (!force && job.age().filter(age -> age < olderThan).isPresent()) {
        return "it is not old enough";
      }
      if (job.hasUnfinishedCommit() && !discardUnfinished) {
        return job.kind() == StagedJob.Kind.SPARK_PROTOCOL
            ? "recover it: manifest-committer recover " + job.root().getParent()
            : "its commit was begun: have its job commit or abort again";
      }
      return "";
    }
  }
}
