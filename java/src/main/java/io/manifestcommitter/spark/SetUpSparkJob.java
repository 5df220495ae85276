// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.FindOldData;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.OtherJobs;
import io.manifestcommitter.jobs.UnfinishedJobs;
import io.manifestcommitter.journal.Heartbeat;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.spark.TableRoot.JobStaging;
import io.manifestcommitter.spark.TableRoot.TableFile;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.Path;

/**
 * Makes the staging directory of a job, once it is known that the job may write to the table, and
 * what drivers that died left there is settled.
 */
final class SetUpSparkJob {
  /** How many other jobs are watched while the tasks run; the rest when the job commits. */
  private static final int MOST_WATCHED = 100;

  private final WriteRequest write;
  private final Store store;
  private final Path table;
  private final TableFile file;
  private final CommitProgress progress;

  SetUpSparkJob(WriteRequest write, TableFile file, CommitProgress progress) {
    this.write = write;
    this.store = write.store;
    this.table = write.table;
    this.file = file;
    this.progress = progress;
  }

  /** Sets the job up. If that fails it leaves nothing: Spark aborts no job whose setup failed. */
  JobStaging run() throws IOException {
    TableRoot existing = TableRoot.list(store, table);
    requireReplaceable(existing);
    StagingRoot staging = new StagingRoot(table, write.jobId);
    List<StagingRoot> others = new ArrayList<>(existing.stagingRoots());
    others.removeIf(
        other -> other.root().equals(staging.root()) || OtherJobs.removeEmpty(store, other.root()));
    if (settle(others)) {
      existing = TableRoot.list(store, table);
    }
    progress.passCancel();
    return stage(staging, existing, others);
  }

  /** Refuses, before any task runs, what the job may not write to. */
  private void requireReplaceable(TableRoot existing) throws IOException {
    if (write.config.holds()) {
      write.command.requireHoldable(table);
      if (existing.kind() == TableRoot.Kind.FILE) {
        throw SparkCommand.refused(
            table, "a file stands there, and would go first", "Move it away");
      }
    }
    boolean keeps =
        write.config.keepReplaced > 0 && write.overwrite.mayReplace(write.config.conflictMode);
    boolean isMoved = store.traits(table).hasAtomicDirectoryRename();
    if (keeps && (write.config.holds() || !isMoved)) {
      throw new IOException(
          "This job cannot keep what it replaces in "
              + table
              + " ("
              + CommitterConfig.KEEP_REPLACED
              + "). "
              + (isMoved
                  ? "It is held, and its publication removes that. "
                  : "This store deletes old files where they are. It may have versions of objects. ")
              + "Nothing was changed. Leave the option out");
    }
    if (write.overwrite.replacesWholeTable(table)) {
      existing.requirePlainFiles(store);
    }
    if (existing.kind() == TableRoot.Kind.FILE && !write.overwrite.replacesWholeTable(table)) {
      throw file.refused(": only an overwrite can write a table there");
    }
    if (existing.kind() == TableRoot.Kind.FILE) {
      file.requireReplaceable();
    }
    for (Path replaced : write.overwrite.roots(List.of())) {
      if (!StorePaths.isSameOrBelow(table, replaced)) {
        FindOldData.requireNoLink(store, replaced);
      }
    }
    if (write.config.markSuccessfulJobs) {
      existing.requirePlaceForReport(store);
    }
  }

  /**
   * Half of the data of a driver that died may be visible in the table. Whether others died, too,
   * is watched from here on, and settled when the job commits. Whether any was recovered.
   */
  private boolean settle(List<StagingRoot> others) throws IOException {
    try {
      return new UnfinishedJobs(
              store,
              write.config,
              write.signs,
              write.overwrite.roots(List.of()),
              waiting -> {
                progress.waits(waiting);
                progress.requireNotCancelled();
                write.pause.pause(waiting);
                progress.requireNotCancelled();
              })
          .settleKnown(others);
    } finally {
      progress.goesOn();
    }
  }

  private JobStaging stage(StagingRoot root, TableRoot existing, List<StagingRoot> others)
      throws IOException {
    boolean isNew = existing.kind() != TableRoot.Kind.DIRECTORY;
    boolean isFile = existing.kind() == TableRoot.Kind.FILE;
    Heartbeat heartbeat = null;
    try {
      if (isFile) {
        write.workers().beside(file::moveAside);
      }
      // Where output is uploaded there is nothing to stage.
      if (!store.traits(table).completesUploads()) {
        write.workers().beside(() -> store.mkdirs(root.output()));
      }
      // Not before: on HDFS the permission of a directory that a file makes is another one.
      heartbeat = Heartbeat.begin(store, root.root(), write.config, write.nanos);
      if (write.config.ioThreads == 1) {
        heartbeat.await();
      }
      if (!others.isEmpty()) {
        List<StagingRoot> watched = others.subList(0, Math.min(MOST_WATCHED, others.size()));
        heartbeat.watch(() -> write.signs.lookAt(watched), write.config.heartbeatInterval);
      }
      return new JobStaging(root, heartbeat, isFile, isNew, existing.hasReport());
    } catch (IOException | RuntimeException | Error e) {
      if (isFile) {
        e.addSuppressed(file.advice());
      }
      try {
        JobStaging begun =
            new JobStaging(root, heartbeat, isFile, isNew, /* mayHaveReport= */ false);
        new CleanUpSparkJob(write, begun, file, write.workers()).remove();
      } catch (IOException | RuntimeException | Error suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
  }
}
