// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.HeldJobs;
import io.manifestcommitter.jobs.HeldJobs.HeldJob;
import io.manifestcommitter.jobs.LifeSigns;
import io.manifestcommitter.jobs.LifeSigns.Pause;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.jobs.Recovery.Outcome;
import io.manifestcommitter.jobs.StagedJob;
import io.manifestcommitter.jobs.StagedJobs;
import io.manifestcommitter.jobs.StagedJobs.AbortedUploads;
import io.manifestcommitter.lakefs.LakefsJobs;
import io.manifestcommitter.lakefs.LakefsTable;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StorePaths;
import io.manifestcommitter.store.Stores;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.IntConsumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * The jobs of one table: by their staging directories, or in lakeFS by their branches. What looks
 * for jobs throws {@link NothingThereException} if there is no table.
 */
final class TableJobs {
  private final Path table;
  private final boolean force;
  private final Store store;
  private final Pause pause;
  private final LifeSigns signs;
  private final StagedJobs staged;
  private final Recovery recovery;

  /** Null if the store is another one. */
  private final LakefsJobs lakefs;

  /**
   * The jobs of a table. No request, but for a path of {@code viewfs}.
   *
   * @param force also jobs that may live, which are not watched then
   */
  TableJobs(Configuration conf, String name, CommitterConfig config, boolean force)
      throws IOException {
    RequestGate gate = config.requestGate(() -> {});
    Stores stores = new Stores(conf, gate);
    Path path = StorePaths.plain(new Path(name));
    this.lakefs =
        LakefsTable.of(conf, path, gate)
            .map(found -> new LakefsJobs(found, config, force))
            .orElse(null);
    this.table = lakefs == null ? stores.resolve(path) : path;
    this.force = force;
    this.store = stores.all();
    this.pause = Pause.sleeping(config);
    this.signs = lakefs == null ? new LifeSigns(store, config, pause::nanos) : lakefs.signs;
    this.staged = new StagedJobs(store, config);
    this.recovery = new Recovery(store, config, signs, pause, force, gate::recordTo);
  }

  /**
   * Watches jobs, all at the same time, for as long as a heartbeat may stand still.
   *
   * @param watches told when they have to be watched, with their number
   */
  void watch(List<StagingRoot> jobs, IntConsumer watches) throws IOException {
    boolean[] isTold = {false};
    Pause telling =
        waiting -> {
          if (!isTold[0]) {
            isTold[0] = true;
            watches.accept(jobs.size());
          }
          pause.pause(waiting);
        };
    if (!force) {
      signs.await(jobs, root -> true, telling);
    }
  }

  /** Those that may need a recovery. */
  List<StagingRoot> unfinished() throws IOException {
    return NothingThereException.unlessMissing(
        table, () -> lakefs == null ? recovery.find(table) : lakefs.find());
  }

  /** Recovers one; empty if it lives, and needs none. */
  Optional<Outcome> recover(StagingRoot root, Direction direction) throws IOException {
    return lakefs == null
        ? Optional.of(recovery.run(root, direction))
        : lakefs.recover(root, direction);
  }

  /** Where the work of a job is. */
  Path at(StagingRoot root) {
    return lakefs == null ? root.root() : lakefs.at(root);
  }

  /** What jobs keep: see {@link StagedJobs#find}. */
  List<StagedJob> staged(long quiet) throws IOException {
    return NothingThereException.unlessMissing(
        table, () -> lakefs == null ? staged.find(table, quiet) : lakefs.staged());
  }

  /** Removes what one keeps. */
  AbortedUploads remove(StagedJob job) throws IOException {
    if (lakefs == null) {
      return staged.remove(job, force, signs, pause);
    }
    lakefs.remove(job);
    return AbortedUploads.NONE;
  }

  /** The held jobs, the first first. */
  List<HeldJob> held() throws IOException {
    return NothingThereException.unlessMissing(
        table, () -> lakefs == null ? HeldJobs.find(store, table) : lakefs.held());
  }

  /** Publishes a held job, or discards it. */
  void end(String jobId, Direction direction) throws IOException {
    StagingRoot root = new StagingRoot(table, jobId);
    if (lakefs == null) {
      HeldJobs.end(recovery, root, direction);
    } else {
      lakefs.end(root, direction);
    }
  }
}
