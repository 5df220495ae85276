// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.Audit;
import io.manifestcommitter.commit.CommitWork;
import io.manifestcommitter.commit.JobDescription;
import io.manifestcommitter.commit.SaveSummary;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.config.CommitterConfig.ConflictMode;
import io.manifestcommitter.jobs.LifeSigns;
import io.manifestcommitter.jobs.LifeSigns.Pause;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.journal.CommitLedger;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.Record;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.progress.CommitSnapshot;
import io.manifestcommitter.progress.Commits;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.CallableRaisingIOE;
import org.apache.spark.SparkEnv;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What Spark asks for: one job's write into one table, and what it is done with. */
final class WriteRequest {
  private static final Logger LOG = LoggerFactory.getLogger(WriteRequest.class);

  private static final String OVERWRITE = "Overwrite";

  /** The class that Spark called. */
  static final String PROTOCOL = "io.manifestcommitter.spark.ManifestCommitProtocol";

  final String jobId;
  final Path table;
  final Overwrite overwrite;
  final Store store;
  final CommitterConfig config;

  /** When the job was set up, by the wall clock. */
  final long begun = System.currentTimeMillis();

  /** What Spark does. */
  final SparkCommand command = SparkCommand.ofThisThread();

  /** Whether the identity is the session's, as far as this thread knows it. */
  private final boolean isSessions;

  /** Between two looks at another job. */
  final Pause pause;

  /** This machine's clock, which goes on evenly. */
  final LongSupplier nanos;

  /** Of the lives of other jobs' drivers. */
  final LifeSigns signs;

  WriteRequest(
      String jobId,
      Path table,
      Overwrite overwrite,
      Store store,
      CommitterConfig config,
      Pause pause,
      LongSupplier nanos) {
    this.jobId = jobId;
    this.table = table;
    this.overwrite = overwrite;
    this.store = store;
    this.config = config;
    this.isSessions = config.commitId.isPresent() && isSessions();
    this.pause = pause;
    this.nanos = nanos;
    this.signs = new LifeSigns(store, config, pause::nanos);
  }

  Workers workers() {
    return workers(CommitProgress.unwatched());
  }

  Workers workers(CommitProgress progress) {
    return new Workers(config.ioThreads, () -> {}, Audit.job(jobId), progress);
  }

  /** Begins to count, and to show, a part of the job. */
  CommitProgress begin(
      RequestGate gate, CommitSnapshot.Kind kind, String stage, StatisticsRecorder statistics) {
    gate.recordTo(statistics);
    return Commits.begin(kind, stage, jobId, table.toString(), statistics);
  }

  /** Saves the report of the job that was aborted before its commit, if reports are saved. */
  void saveAborted(JobDescription job, String why) {
    CommitProgress unwatched = CommitProgress.unwatched();
    new SaveSummary(store, job, config, new StatisticsRecorder(), unwatched).saveAborted(why);
  }

  /**
   * The job as its report tells of it.
   *
   * @param isNew whether there was no table before
   * @param more of what is said of it
   */
  JobDescription description(StagingRoot staging, boolean isNew, Map<String, String> more) {
    Map<String, String> facts = facts(isNew);
    facts.putAll(more);
    return new JobDescription(
        jobId,
        "FileCommitProtocol.jobId",
        PROTOCOL,
        table,
        staging.old(),
        Recovery.advice(staging),
        facts);
  }

  /** What is said of the job. */
  Map<String, String> facts(boolean isNew) {
    Map<String, String> facts = application();
    config.commitId.ifPresent(id -> facts.put("commit.id", id));
    boolean commandOverwrites = command.mode().equals(Optional.of(OVERWRITE));
    facts.put("write", overwrite.kind(table, config.conflictMode, isNew, commandOverwrites));
    return facts;
  }

  /** The id of the Spark application that this JVM drives; null if it is not known. */
  static String applicationId() {
    return application().get("application.id");
  }

  /** Of the Spark application that this JVM drives: id, name and version of Spark. */
  private static Map<String, String> application() {
    Map<String, String> facts = new TreeMap<>();
    try {
      facts.put("spark.version", org.apache.spark.package$.MODULE$.SPARK_VERSION());
      SparkEnv env = SparkEnv.get();
      for (String setting : List.of("spark.app.id", "spark.app.name")) {
        if (env != null && env.conf().contains(setting)) {
          facts.put(setting.replace("spark.app", "application"), env.conf().get(setting));
        }
      }
    } catch (LinkageError e) {
      LOG.debug("Spark is not complete here, or does not describe itself", e);
    }
    return facts;
  }

  /**
   * The places where a held job may be published only over the state that it saw.
   *
   * @param overwritten what it was asked to overwrite
   * @param written the same, and the directories that it writes to
   * @param isNew whether there was no table before
   */
  Collection<Path> heldOver(Collection<Path> overwritten, Collection<Path> written, boolean isNew) {
    Collection<Path> only = config.conflictMode == ConflictMode.APPEND ? overwritten : written;
    Optional<String> mode = command.mode();
    if (only.isEmpty() && isNew && mode.isPresent() && !mode.get().equals("Append")) {
      // Nor may there be a table by then.
      only = List.of(table);
    } else if (only.isEmpty() && mode.equals(Optional.of(OVERWRITE))) {
      only = written;
    }
    return only;
  }

  /**
   * The places that the job locks. Two of one identity exclude each other as if both replaced one.
   */
  Collection<Path> locked(Collection<Path> replaced) {
    List<Path> locked = new ArrayList<>(replaced);
    config.commitId.map(CommitLedger::lock).ifPresent(locked::add);
    return locked;
  }

  /**
   * Whether another job has the data of this identity: it holds it, or committed it. Then this try
   * ends. To be asked while the places are locked: nobody else commits it meanwhile. No request
   * without an identity.
   *
   * @param held the job that holds it
   * @param committed looks what the table's ledger has of it
   * @throws IOException if this application committed it, and the identity is the session's. That
   *     covers one write into each table, of which a later application may be a repetition
   */
  boolean isElsewhere(
      Optional<String> held, CallableRaisingIOE<Optional<Record>> committed, CommitWork work)
      throws IOException {
    if (!config.commitId.isPresent()) {
      return false;
    }
    String id = config.commitId.get();
    if (held.isPresent()) {
      LOG.info("Job {} publishes nothing: job {} holds the data of {}", jobId, held.get(), id);
      work.held(held.get());
      return true;
    }
    Optional<Record> before = committed.apply();
    if (!before.isPresent()) {
      return false;
    }
    String other = before.get().text("jobId");
    if (isSessions && before.get().textOrEmpty("application").equals(applicationId())) {
      throw new IOException(
          "This application has written into "
              + table
              + " under "
              + CommitterConfig.COMMIT_ID
              + " "
              + id
              + " before, as job "
              + other
              + ". A session's identity covers one write into each table. Nothing was published."
              + " Give each write one of its own by .option(\""
              + CommitterConfig.COMMIT_ID
              + "\", …), or set another for the session");
    }
    LOG.info("Job {} publishes nothing: {} has the data of {} by job {}", jobId, table, id, other);
    work.skipped(other);
    return true;
  }

  /** Whether the session has this job's identity, and not this write alone. */
  private static boolean isSessions() {
    try {
      Object session =
          Class.forName("org.apache.spark.sql.internal.SQLConf").getMethod("get").invoke(null);
      Method contains = session.getClass().getMethod("contains", String.class);
      return (boolean) contains.invoke(session, CommitterConfig.COMMIT_ID)
          || (boolean) contains.invoke(session, "spark.hadoop." + CommitterConfig.COMMIT_ID);
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      LOG.debug("Spark does not show the session's settings", e);
      return false;
    }
  }

  /** What this job was asked to replace; merged, so that no root contains another. */
  static final class Overwrite {
    private final Set<Path> recorded = new TreeSet<>();
    private final boolean dynamic;

    /**
     * An overwrite, or an append if nothing is replaced.
     *
     * @param isDynamic whether every partition that the job writes to is replaced, too
     */
    Overwrite(Collection<Path> paths, boolean isDynamic) {
      recorded.addAll(paths);
      dynamic = isDynamic;
    }

    boolean replacesWholeTable(Path table) {
      return recorded.contains(table);
    }

    /** Whether something may be replaced, if it is there. */
    boolean mayReplace(ConflictMode conflicts) {
      return dynamic || !recorded.isEmpty() || conflicts == ConflictMode.REPLACE;
    }

    /** What kind of write this is, for people. */
    String kind(Path table, ConflictMode conflicts, boolean isNew, boolean commandOverwrites) {
      if (dynamic) {
        return isNew ? "dynamic overwrite (new table)" : "dynamic overwrite";
      }
      if (recorded.isEmpty() && commandOverwrites) {
        return isNew ? "overwrite (new table)" : "overwrite (new partition)";
      }
      if (recorded.isEmpty()) {
        return conflicts == ConflictMode.REPLACE ? "append that replaces partitions" : "append";
      }
      return replacesWholeTable(table) ? "overwrite" : "overwrite of partitions";
    }

    /** Places relative to a table; the table itself is the empty text. */
    static List<String> lines(Path table, Collection<Path> places) {
      return places.stream()
          .map(place -> place.equals(table) ? "" : StorePaths.relative(table, place))
          .collect(Collectors.toList());
    }

    /** What is replaced where a job writes to these directories. */
    Collection<Path> roots(Collection<Path> written) {
      return outermost(recorded, dynamic ? written : List.of());
    }

    /** Those that lie in no other one. */
    static Collection<Path> outermost(Collection<Path> some, Collection<Path> more) {
      Set<Path> all = new HashSet<>(some);
      all.addAll(more);
      List<Path> outermost = new ArrayList<>(new TreeSet<>(all));
      outermost.removeIf(path -> StorePaths.isSameOrBelowOne(all, path.getParent()));
      return outermost;
    }
  }
}
