// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.JobIsAliveException;
import io.manifestcommitter.jobs.LeftoverException;
import io.manifestcommitter.jobs.LifeSigns;
import io.manifestcommitter.jobs.Pause;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.RecoveryOutcome;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.Stores;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** What became of one job that died in its commit, or why nothing did. */
final class RecoveredJob {
  private final StagingRoot root;
  private final RecoveryOutcome outcome;
  private final IOException failure;

  private RecoveredJob(StagingRoot root, RecoveryOutcome outcome, IOException failure) {
    this.root = root;
    this.outcome = outcome;
    this.failure = failure;
  }

  /**
   * Recovers all jobs that died in a table; each for itself. First it watches them, all at the same
   * time, for as long as a heartbeat may stand still.
   *
   * @param force also jobs that may live, which are not watched then
   * @param watches told when jobs have to be watched, with their number
   * @throws java.io.FileNotFoundException if there is no table
   * @throws IOException if the table cannot be looked at
   */
  static List<RecoveredJob> all(
      String table,
      Configuration conf,
      CommitterConfig config,
      boolean force,
      Recovery.Direction direction,
      IntConsumer watches)
      throws IOException {
    RequestGate gate = config.requestGate(() -> {});
    Stores stores = new Stores(conf, gate);
    Path resolved = stores.resolve(new Path(table));
    Pause pause = Pause.sleeping(config);
    LifeSigns signs = new LifeSigns(stores.all(), config, pause::nanos);
    Recovery recovery = new Recovery(stores.all(), config, signs, pause, force, gate::recordTo);
    List<RecoveredJob> jobs = new ArrayList<>();
    List<StagingRoot> found = recovery.find(resolved);
    if (!force) {
      signs.await(found, root -> true, pause.telling(() -> watches.accept(found.size())));
    }
    for (StagingRoot root : found) {
      try {
        jobs.add(new RecoveredJob(root, recovery.run(root, direction), null));
      } catch (LeftoverException e) {
        jobs.add(new RecoveredJob(root, e.outcome(), e));
      } catch (IOException e) {
        jobs.add(new RecoveredJob(root, null, e));
      } catch (RuntimeException e) {
        // As from a connector, or a spill file: the other jobs may well be fine.
        jobs.add(new RecoveredJob(root, null, new IOException(e.toString(), e)));
      }
    }
    return jobs;
  }

  StagingRoot root() {
    return root;
  }

  /** Empty if it failed. */
  Optional<RecoveryOutcome> outcome() {
    return Optional.ofNullable(outcome);
  }

  /**
   * Why it failed, or why something of a job that ended remains, in order of weight; empty if
   * neither is so.
   */
  List<String> errors() {
    List<String> errors = new ArrayList<>();
    if (failure != null) {
      errors.add(String.valueOf(failure.getMessage()));
      for (Throwable suppressed : failure.getSuppressed()) {
        errors.add(String.valueOf(suppressed.getMessage()));
      }
    }
    return errors;
  }

  /** As programs read them: one line, ASCII, with all keys always there. */
  static String toJson(List<RecoveredJob> jobs) {
    return Json.line(jobs.stream().map(RecoveredJob::toMap).collect(Collectors.toList()));
  }

  private Json.Fields toMap() {
    return new Json.Fields()
        .with("staging", root.root().toString())
        .with("jobId", root.jobId())
        .with("outcome", outcome().map(kind -> kind.name().toLowerCase(Locale.ROOT)))
        .with("errors", errors())
        .with("alive", failure instanceof JobIsAliveException);
  }
}
