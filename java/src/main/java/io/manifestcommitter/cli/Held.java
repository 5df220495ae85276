// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.HeldJobs;
import io.manifestcommitter.jobs.HeldJobs.HeldJob;
import io.manifestcommitter.jobs.LifeSigns;
import io.manifestcommitter.jobs.LifeSigns.Pause;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.lakefs.LakefsJobs;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.StorePaths;
import io.manifestcommitter.store.Stores;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * Tells the held jobs of tables ({@link CommitterConfig#PUBLISH}), and publishes or discards one.
 */
final class Held {
  private Held() {}

  /**
   * The held jobs of a table, the first first; or the end of one.
   *
   * @param conf Hadoop's configuration of the session
   * @param jobId which is ended; empty for none
   * @param end {@code publish} or {@code discard} that job; or empty to change nothing
   * @return an object for each: {@code jobId}, {@code files}, {@code bytes}, {@code partitions}
   *     (paths below the table), {@code since} (in milliseconds since 1970), {@code overwrites},
   *     {@code commitId}, {@code readable}. Readable is what waits as files, and not as uploads.
   *     Identities may be null. After an end there is one object: {@code errors} has why it could
   *     not be done, and is empty if it was
   * @throws NothingThereException if there is no table
   * @throws IOException also if it cannot be looked at
   */
  static List<Json.Fields> answer(Configuration conf, String table, String jobId, String end)
      throws IOException {
    List<Json.Fields> jobs = new ArrayList<>();
    if (!end.isEmpty()) {
      List<String> errors = List.of();
      try {
        end(conf, table, jobId, end.equals("publish"));
      } catch (IOException e) {
        errors = Recover.errors(e);
      }
      return List.of(new Json.Fields().with("errors", errors));
    }
    Optional<LakefsJobs> lakefs = lakefs(conf, table, new CommitterConfig(conf));
    if (lakefs.isPresent()) {
      for (LakefsJobs.Job job :
          NothingThereException.unlessMissing(new Path(table), lakefs.get()::held)) {
        jobs.add(toMap(job));
      }
      return jobs;
    }
    Stores stores = new Stores(conf);
    Path resolved = stores.resolve(new Path(table));
    for (HeldJob job :
        NothingThereException.unlessMissing(
            resolved, () -> HeldJobs.find(stores.all(), resolved))) {
      try (job) {
        jobs.add(toMap(job));
      }
    }
    return jobs;
  }

  private static void end(Configuration conf, String table, String jobId, boolean publishes)
      throws IOException {
    CommitterConfig config = new CommitterConfig(conf);
    Direction direction = publishes ? Direction.PUBLISH : Direction.DISCARD;
    Optional<LakefsJobs> lakefs = lakefs(conf, table, config);
    if (lakefs.isPresent()) {
      lakefs.get().end(new StagingRoot(StorePaths.plain(new Path(table)), jobId), direction);
      return;
    }
    RequestGate gate = config.requestGate(() -> {});
    Stores stores = new Stores(conf, gate);
    Path resolved = stores.resolve(new Path(table));
    Pause pause = Pause.sleeping(config);
    LifeSigns signs = new LifeSigns(stores.all(), config, pause::nanos);
    Recovery recovery =
        new Recovery(stores.all(), config, signs, pause, /* force= */ false, gate::recordTo);
    StagingRoot root = new StagingRoot(resolved, jobId);
    HeldJobs.end(recovery, root, direction);
  }

  private static Optional<LakefsJobs> lakefs(
      Configuration conf, String table, CommitterConfig config) throws IOException {
    RequestGate gate = config.requestGate(() -> {});
    return LakefsJobs.of(conf, table, config, gate, /* force= */ false);
  }

  private static Json.Fields toMap(LakefsJobs.Job job) {
    return new Json.Fields()
        .with("jobId", job.jobId())
        .with("files", job.files())
        .with("bytes", job.bytes())
        .with("partitions", job.partitions())
        .with("since", job.since())
        .with("overwrites", job.overwrites())
        .with("commitId", job.commitId())
        .with("readable", true);
  }

  private static Json.Fields toMap(HeldJob job) {
    JobPlan plan = job.plan();
    TreeSet<String> partitions = new TreeSet<>();
    boolean hasUploads = false;
    for (FileEntry file : plan.files()) {
      Path directory = file.destinationDirectory();
      if (!directory.equals(plan.table())) {
        partitions.add(StorePaths.relative(plan.table(), directory));
      }
      hasUploads |= file.isUpload();
    }
    return new Json.Fields()
        .with("jobId", plan.jobId())
        .with("files", plan.files().count())
        .with("bytes", plan.files().bytes())
        .with("partitions", partitions.stream().collect(Collectors.toList()))
        .with("since", job.since())
        .with("overwrites", !plan.heldOver().isEmpty())
        .with("commitId", plan.commitId())
        .with("readable", !hasUploads);
  }
}
