// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import static io.manifestcommitter.testing.SparkGround.TABLE;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.LifeSigns;
import io.manifestcommitter.jobs.LifeSigns.Pause;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.jobs.StagedJob;
import io.manifestcommitter.jobs.StagedJobs;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.spark.DriverJob;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.testing.HadoopCalls;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.Recoveries.PassingTime;
import io.manifestcommitter.testing.TableWrite;
import io.manifestcommitter.trials.PairParty.PairWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;

/** One of the two who work on a table at the same time, each in a thread of its own. */
abstract class PairParty {
  private final String name;
  private final String jobId;
  private volatile boolean isOver;
  private volatile Exception failure;

  /**
   * A party.
   *
   * @param jobId of the job whose staging directory it keeps alive; empty if of none
   */
  PairParty(String name, String jobId) {
    this.name = name;
    this.jobId = jobId;
  }

  /** By which the store knows it, and its rows are told from those of others. */
  final String name() {
    return name;
  }

  final String jobId() {
    return jobId;
  }

  /** All that it does. */
  abstract void act() throws IOException;

  final void run() {
    try {
      act();
    } catch (IOException | RuntimeException e) {
      failure = e;
    } finally {
      isOver = true;
    }
  }

  /** Whether it makes no more requests. */
  final boolean isOver() {
    return isOver;
  }

  /** Whether it came to its end, and said so. */
  final boolean hasEnded() {
    return isOver && failure == null;
  }

  /** What it failed with, with all that is suppressed in it; empty if it did not. */
  final String failure() {
    Exception with = failure;
    return with == null
        ? ""
        : Failures.of(
            () -> {
              if (with instanceof RuntimeException) {
                throw (RuntimeException) with;
              }
              throw (IOException) with;
            });
  }

  /** Who adds rows to a table, with its name in them, or replaces some of it. */
  abstract static class PairWriter extends PairParty {
    private final TableWrite write;

    PairWriter(String name, String jobId, TableWrite write) {
      super(name, jobId);
      this.write = write;
    }

    final TableWrite write() {
      return write;
    }
  }

  /**
   * A write of the Spark protocol: its setup, its tasks, its commit; or its abort, if that fails.
   */
  static final class PairJob extends PairWriter {
    /** In seconds: a few looks are enough to take another one for dead. */
    private static final int STEP = 15;

    private static final String LOST = "injected after initiate ";

    private final CrashStore store;
    private final PairRace race;
    private String unfinishedJobs = "rollback";
    private String commitId = "";
    private DriverJob job;

    PairJob(CrashStore store, PairWrite write, String name, String jobId, PairRace race) {
      super(name, jobId, write.by(name));
      this.store = store;
      this.race = race;
    }

    /** What it does about unfinished commits of others. */
    PairJob settling(String mode) {
      unfinishedJobs = mode;
      return this;
    }

    /** The identity of its write. */
    PairJob identity(String id) {
      commitId = id;
      return this;
    }

    /** Its setup and its tasks, if they are not to be a part of what it does. */
    void prepare() throws IOException {
      begin().runTasks();
    }

    private DriverJob begin() throws IOException {
      job =
          new DriverJob(store, jobId())
              .with(MemoryFileSystem.CLIENT, name())
              .with(CommitterConfig.UNFINISHED_JOBS, unfinishedJobs)
              .with(CommitterConfig.COMMIT_ID, commitId)
              .with(CommitterConfig.HEARTBEAT_INTERVAL, STEP + "s")
              .waiting(waiting -> race.waits(this))
              .waitingFor(STEP);
      return job.setUp(write());
    }

    @Override
    void act() throws IOException {
      if (job == null) {
        begin();
      }
      try {
        job.commit();
      } catch (IOException | RuntimeException e) {
        // If it is dead this changes nothing, and ends the heartbeat in this process.
        job.abort();
        if (!race.isDead(this)) {
          String failure = String.valueOf(e.getMessage());
          if (failure.startsWith(LOST)) {
            // Nobody was told the id of this upload; it goes when old uploads are cleaned.
            store.giveUp(new Path(failure.substring(LOST.length())));
          }
        }
        throw e;
      }
    }
  }

  /**
   * Removes what dead jobs left in a table, whatever its age, as {@code manifest-committer clean}.
   */
  static final class PairClean extends PairParty {
    private final CrashStore store;

    PairClean(CrashStore store, String name) {
      super(name, "");
      this.store = store;
    }

    @Override
    void act() throws IOException {
      Configuration conf = store.configuration();
      conf.set(MemoryFileSystem.CLIENT, name());
      Store stores = new Stores(conf).all();
      CommitterConfig config = new CommitterConfig(conf);
      Pause pause = new PassingTime();
      LifeSigns signs = new LifeSigns(stores, config, pause::nanos);
      StagedJobs jobs = new StagedJobs(stores, config);
      for (StagedJob job : jobs.find(store.path(CrashStore.TABLE), TimeUnit.DAYS.toMillis(1))) {
        if (job.state() == StagedJob.State.ABANDONED) {
          jobs.remove(job, /* force= */ false, signs, pause);
        }
      }
    }
  }

  /** Recovers all dead jobs of a table, as {@code manifest-committer recover} does. */
  static final class PairRecovery extends PairParty {
    private final CrashStore store;
    private final Direction direction;

    /**
     * A recovery.
     *
     * @param dead the job that is to be recovered
     */
    PairRecovery(CrashStore store, String name, String dead, Direction direction) {
      super(name, dead);
      this.store = store;
      this.direction = direction;
    }

    @Override
    void act() throws IOException {
      Configuration conf = store.configuration();
      conf.set(MemoryFileSystem.CLIENT, name());
      Recovery recovery = Recoveries.of(conf, /* force= */ false);
      for (StagingRoot root : recovery.find(store.path(CrashStore.TABLE))) {
        if (root.jobId().equals(jobId())) {
          recovery.run(root, direction);
        }
      }
    }
  }

  /** A write of one task through a committer of Hadoop's kind: ours, or FileOutputCommitter. */
  static final class PairHadoopJob extends PairWriter {
    private static final JobID ID = new JobID("202601010000", 9);

    private final CrashStore store;
    private final Kind kind;
    private volatile boolean hasDeleted;

    PairHadoopJob(CrashStore store, PairWrite write, Kind kind, String name) {
      super(
          name,
          "",
          (kind == Kind.FILE_OUTPUT_STATIC ? TableWrite.replacing(TABLE) : TableWrite.append())
              .with(write.by(name).rows()));
      this.store = store;
      this.kind = kind;
    }

    /** Which committer, and what it does first. */
    enum Kind {
      /** Our Hadoop protocol. */
      MANIFEST("Hadoop protocol, append"),
      /** Hadoop's FileOutputCommitter, its first algorithm. */
      FILE_OUTPUT("FileOutputCommitter, append"),
      /** The same under Spark's own protocol: the table is deleted before the job. */
      FILE_OUTPUT_STATIC("FileOutputCommitter, static");

      private final String label;

      Kind(String label) {
        this.label = label;
      }

      String label() {
        return label;
      }
    }

    @Override
    void act() throws IOException {
      Configuration conf = HadoopCalls.bind(store.configuration(), store.scheme());
      conf.set(MemoryFileSystem.CLIENT, name());
      conf.setInt("mapreduce.fileoutputcommitter.algorithm.version", 1);
      Path table = store.path(TABLE);
      FileSystem fs = table.getFileSystem(conf);
      if (kind == Kind.FILE_OUTPUT_STATIC) {
        fs.delete(table, true);
        hasDeleted = true;
      }
      HadoopCalls calls = new HadoopCalls(conf, table, ID);
      JobContext job = calls.jobContext();
      TaskAttemptContext task = calls.context(0, 0);
      PathOutputCommitter committer =
          kind == Kind.MANIFEST ? calls.jobCommitter() : new FileOutputCommitter(table, task);
      committer.setupJob(job);
      try {
        committer.setupTask(task);
        for (Map.Entry<String, String> row : write().rows().entrySet()) {
          String below = row.getKey().substring(TABLE.length() + 1);
          try (FSDataOutputStream out = fs.create(new Path(committer.getWorkPath(), below))) {
            out.write(row.getValue().getBytes(StandardCharsets.UTF_8));
          }
        }
        committer.commitTask(task);
        committer.commitJob(job);
      } catch (IOException e) {
        committer.abortJob(job, JobStatus.State.FAILED);
        throw e;
      }
    }

    boolean isOurs() {
      return kind == Kind.MANIFEST;
    }

    /** Whether it has deleted the table. */
    boolean hasDeleted() {
      return hasDeleted;
    }
  }
}
