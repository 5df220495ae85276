// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.config;

import io.manifestcommitter.config.CommitterOption.Scope;
import io.manifestcommitter.store.GcsRequests;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.StoreFamily;
import io.manifestcommitter.store.StorePaths;
import io.manifestcommitter.store.Stores;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * The committer's options, parsed and checked once. Keys and meanings are those of Hadoop's
 * manifest committer ("The Manifest Committer for Azure and Google Cloud Storage", "Configuration
 * options"). Keys with the prefix of Hadoop's FileOutputCommitter have its meanings. {@link
 * #options} tells which are ours alone.
 */
public final class CommitterConfig {
  /** The prefix of the committer's own options. */
  public static final String PREFIX = "mapreduce.manifest.committer.";

  /** How many requests may be under way at once in job commit. */
  public static final String IO_THREADS = PREFIX + "io.threads";

  /** Maximum requests per second of one committer; 0 for no limit. */
  public static final String IO_RATE = PREFIX + "io.rate";

  /** How long throttled requests are retried. */
  public static final String THROTTLE_TIMEOUT = PREFIX + "throttle.timeout";

  /** Whether a file at a destination gives way to the one that goes there. */
  public static final String DELETE_TARGET_FILES = PREFIX + "delete.target.files";

  /** Whether every published file is looked at again, one request each. */
  public static final String VALIDATE_OUTPUT = PREFIX + "validate.output";

  /** A directory, on any filesystem, for a report of every job, failed ones too. */
  public static final String SUMMARY_REPORT_DIRECTORY = PREFIX + "summary.report.directory";

  /** Hadoop protocol: a directory, on any filesystem, for the manifests of every job. */
  public static final String DIAGNOSTICS_MANIFEST_DIRECTORY =
      PREFIX + "diagnostics.manifest.directory";

  /** Hadoop protocol: how often a task commit tries to save its manifest. */
  public static final String MANIFEST_SAVE_ATTEMPTS = PREFIX + "manifest.save.attempts";

  /** Hadoop protocol: how many loaded manifests may wait to be put into the plan. */
  public static final String WRITER_QUEUE_CAPACITY = PREFIX + "writer.queue.capacity";

  /**
   * Hadoop protocol: whether task attempts are deleted in parallel before the job's directory is.
   */
  public static final String CLEANUP_PARALLEL_DELETE = PREFIX + "cleanup.parallel.delete";

  /**
   * Hadoop protocol: whether the job's directory is tried first, and task attempts only if that
   * fails.
   */
  public static final String CLEANUP_PARALLEL_DELETE_BASE_FIRST =
      PREFIX + "cleanup.parallel.delete.base.first";

  /** Which class makes the requests; normally chosen by the scheme. */
  public static final String STORE_OPERATIONS_CLASS = PREFIX + "store.operations.classname";

  /** Whether a {@code _SUCCESS} report is written. */
  public static final String MARK_SUCCESSFUL_JOBS =
      "mapreduce.fileoutputcommitter.marksuccessfuljobs";

  /** Whether the job's directory is left for somebody else to delete. */
  public static final String CLEANUP_SKIPPED = "mapreduce.fileoutputcommitter.cleanup.skipped";

  /** Hadoop protocol: whether a cleanup that fails leaves the job successful. */
  public static final String CLEANUP_FAILURES_IGNORED =
      "mapreduce.fileoutputcommitter.cleanup-failures.ignored";

  /** Spark protocol: what to do about a file that a committed task named and never wrote. */
  public static final String MISSING_FILES = PREFIX + "missing.files";

  /** Spark protocol: what to do about a table on a store that is not served. */
  public static final String UNSUPPORTED_SCHEME = PREFIX + "unsupported.scheme";

  /** Schemes of stores for whose renames the user vouches. */
  public static final String ATOMIC_RENAME_SCHEMES = StoreFamily.ATOMIC_RENAME_SCHEMES;

  /** An option of earlier versions, which served stores whose rename is a copy. */
  private static final String COPYING_RENAME = PREFIX + "copying.rename";

  /** How Google Cloud Storage is asked. */
  public static final String GS_REQUESTS = GcsRequests.OPTION;

  /** Spark protocol: what happens to partitions that a job writes to and that are there. */
  public static final String CONFLICT_MODE = PREFIX + "conflict.mode";

  /** What happens to a partition that is there. */
  public enum ConflictMode {
    /** The new files join the old ones. */
    APPEND,
    /** The job fails before anything is visible. */
    FAIL,
    /** The new files take the place of the old ones. */
    REPLACE
  }

  /** Spark protocol: how often a driver shows in the store that it lives. */
  public static final String HEARTBEAT_INTERVAL = PREFIX + "heartbeat.interval";

  /** After what time without a sign of life a job counts as dead. */
  public static final String HEARTBEAT_TIMEOUT = PREFIX + "heartbeat.timeout";

  /** Spark protocol: how long a job waits for another one that replaces the same places. */
  public static final String REPLACE_WAIT = PREFIX + "replace.wait";

  /** Spark protocol: what to do about the unfinished commit of a driver that died. */
  public static final String UNFINISHED_JOBS = PREFIX + "unfinished.jobs";

  /** What a job does about the unfinished commits of dead drivers in its table. */
  public enum UnfinishedJobsMode {
    /** It rolls them back; those past their point of no return it completes. */
    ROLLBACK,
    /** It fails. */
    FAIL,
    /** It logs a warning. */
    WARN
  }

  /** Spark protocol: whether whole directories are renamed where that is safe. */
  public static final String DIRECTORY_RENAME = PREFIX + "directory.rename";

  /** Whether whole directories are renamed. */
  public enum DirectoryRename {
    /** Where the store does that atomically and the result is the same as of file renames. */
    AUTO,
    /** Never. */
    OFF
  }

  /** Spark protocol: where tasks write what goes to S3. */
  public static final String S3_WRITE_TO = PREFIX + "s3.write.to";

  /** Where tasks write what goes to S3. */
  public enum S3WriteTo {
    /** To the executor's disk, from where it is uploaded. */
    DISK,
    /** To S3A's magic paths, which upload what is written to them. */
    MAGIC
  }

  /** What to do about a file that a committed task named and the store does not have. */
  public enum MissingFiles {
    /** The job fails and publishes nothing. */
    FAIL,
    /** The file is left out, with a warning in the log and in the report. */
    WARN
  }

  /** What to do about a table on a store that is not served. */
  public enum UnsupportedScheme {
    /** The write fails before it starts. */
    FAIL,
    /** Spark's own commit protocol does the write. */
    DELEGATE
  }

  private static final String POSITIVE = "a whole number from 1 on";
  private static final String NOT_NEGATIVE = "a whole number from 0 on";
  private static final String FLAG = "true or false";
  private static final String DURATION = "a whole number and its unit: ms, s, m or h, such as 90s";
  private static final Pattern DURATION_TEXT = Pattern.compile("([0-9]{1,9})(ms|s|m|h)");
  private static final Map<String, TimeUnit> UNITS =
      Map.of(
          "ms", TimeUnit.MILLISECONDS,
          "s", TimeUnit.SECONDS,
          "m", TimeUnit.MINUTES,
          "h", TimeUnit.HOURS);
  private static final Pattern SCHEME = Pattern.compile("[a-z][a-z0-9+.-]*");
  private static final String SCHEMES = "schemes such as ofs, separated by commas, or nothing";
  private static final String DIRECTORY = "the URI of a directory, or nothing";
  private static final String STORE_CLASS =
      "nothing, or one of " + String.join(", ", Stores.classNames());

  private static final Map<String, CommitterOption> OPTIONS = new LinkedHashMap<>();

  static {
    option(
        IO_THREADS,
        "64",
        POSITIVE,
        Scope.BOTH,
        "Maximum requests at the same time in job commit. A commit begins with a quarter of them. The number grows while the store stays fast, and halves when the store throttles or fails.");
    option(
        IO_RATE,
        "0",
        NOT_NEGATIVE,
        Scope.BOTH,
        "Maximum requests per second of one committer, evenly spread; 0 for no limit. A driver with several jobs has one committer for each.");
    option(
        THROTTLE_TIMEOUT,
        "10m",
        DURATION,
        Scope.BOTH,
        "How long throttled requests (429, 503) are retried before the commit fails; `0s` for no retries. All requests slow down to the observed rate. The time includes the connector's own retries.");
    option(
        DELETE_TARGET_FILES,
        "false",
        FLAG,
        Scope.BOTH,
        "Let a new file replace one that exists at its destination. Without this, such a file fails the job. Spark's file names are unique, so only other writers need it.");
    option(
        VALIDATE_OUTPUT,
        "false",
        FLAG,
        Scope.BOTH,
        "Check every published file, with one request each: its length and, where the store has it, its identity.");
    option(
        SUMMARY_REPORT_DIRECTORY,
        "",
        DIRECTORY,
        Scope.BOTH,
        "Save the report of every job, failed ones too, as `summary-<jobId>.json` in this directory.");
    option(
        DIAGNOSTICS_MANIFEST_DIRECTORY,
        "",
        DIRECTORY,
        Scope.HADOOP,
        "Copy the manifests of every job, failed ones too, to `<jobId>/` in this directory.");
    option(
        MANIFEST_SAVE_ATTEMPTS,
        "5",
        POSITIVE,
        Scope.HADOOP,
        "How often a task commit tries to save its manifest, with pauses that grow by 500 ms.");
    option(
        WRITER_QUEUE_CAPACITY,
        "32",
        POSITIVE,
        Scope.HADOOP,
        "Accepted, and without effect: no loaded manifest waits in a queue.");
    option(
        CLEANUP_PARALLEL_DELETE,
        "true",
        FLAG,
        Scope.HADOOP,
        "Delete the task attempts in parallel before the job's directory. Switch it off on HDFS.");
    option(
        CLEANUP_PARALLEL_DELETE_BASE_FIRST,
        "false",
        FLAG,
        Scope.HADOOP,
        "Try to delete the job's directory in one request first, and the task attempts in parallel only if that fails.");
    option(
        STORE_OPERATIONS_CLASS,
        "",
        STORE_CLASS,
        Scope.HADOOP,
        "The class that makes the requests. Empty means the one for the scheme, and so do the two class names of Hadoop's committer.");
    option(
        MARK_SUCCESSFUL_JOBS,
        "true",
        FLAG,
        Scope.BOTH,
        "Write `_SUCCESS`, and the list of files next to it.");
    option(
        CLEANUP_SKIPPED,
        "false",
        FLAG,
        Scope.BOTH,
        "Keep the job's own directory. With the Spark protocol, later jobs and `recover` keep it too, and the job removes nothing that an ended job left. `clean` removes it.");
    option(
        CLEANUP_FAILURES_IGNORED,
        "false",
        FLAG,
        Scope.HADOOP,
        "A job whose cleanup fails is still successful. With the Spark protocol this is always so.");
    option(
        MISSING_FILES,
        "fail",
        choices(MissingFiles.class),
        Scope.SPARK,
        "What to do if a file that a committed task named is missing. `warn` leaves it out.");
    option(
        DIRECTORY_RENAME,
        "auto",
        choices(DirectoryRename.class),
        Scope.SPARK,
        "`auto` publishes and replaces a whole directory by one rename. This needs a store that renames directories atomically, and a directory that gets the same rights as one made in place. Everywhere else, and with `off`, files are renamed one by one.");
    option(
        CONFLICT_MODE,
        "append",
        choices(ConflictMode.class),
        Scope.SPARK,
        "What an append does with a partition that exists when the job commits. `append` adds to it. `fail` fails the job with nothing published, and names the partitions. `replace` replaces it. The directory of a table without partitions counts as a partition once it has a visible file. Can be set for one write: `df.write.option(...)`.");
    option(
        UNFINISHED_JOBS,
        "rollback",
        choices(UnfinishedJobsMode.class),
        Scope.SPARK,
        "What a job does if the table holds the unfinished commit of a driver that died. `rollback` recovers it as `manifest-committer recover` does: it rolls the commit back, or completes it if it is past its point of no return. `fail` fails the job. `warn` goes on. The job watches the heartbeats of other jobs from its setup on. If a heartbeat moves, that driver is alive, and the job leaves its commit alone. If it has stood still for `heartbeat.timeout`, the driver is dead. The job waits for that when it commits, and only if a commit has begun. A commit without a heartbeat is recovered at once. With `rollback`, the job also removes what drivers left that died before their commit.");
    option(
        HEARTBEAT_INTERVAL,
        "10s",
        DURATION,
        Scope.SPARK,
        "How often the driver of a running job writes the small file `heartbeat` in its staging directory.");
    option(
        HEARTBEAT_TIMEOUT,
        "45s",
        DURATION,
        Scope.SPARK,
        "How long another process has to see a heartbeat stand still before that job counts as dead, and may be recovered. It measures this by its own clock; no clocks are compared. A job, `recover` and `clean` wait about this long. Set the same value for all jobs that write to a table, several times the interval.");
    option(
        REPLACE_WAIT,
        "1h",
        DURATION,
        Scope.SPARK,
        "How long a job that replaces data waits, when it commits, for another running job that replaces some of the same places. After that the job fails and the old data stays. The error names the other job, its host, and since when it works there.");
    option(
        ATOMIC_RENAME_SCHEMES,
        "",
        SCHEMES,
        Scope.BOTH,
        "Schemes of further stores, such as `ofs`, for which you vouch: a rename of a file or a directory is one atomic change there, and keeps length and modification time. `verify-store` finds out. Where that is not so, a driver that dies may leave a part of a file, or double it.");
    option(
        GS_REQUESTS,
        "direct",
        choices(GcsRequests.class),
        Scope.BOTH,
        "How requests to Google Cloud Storage are made. `direct` uses the client of Google's connector, which renames a file with one request and shows hashes in listings. `filesystem` uses Hadoop's FileSystem calls, which take more requests. A connector without such a client always gets FileSystem calls.");
    option(
        S3_WRITE_TO,
        "disk",
        choices(S3WriteTo.class),
        Scope.SPARK,
        "Where tasks write what goes to S3. `disk` writes to the executor's disk and uploads from there. `magic` writes to S3A's magic paths, which upload while they are written to. `magic` needs hadoop-aws 3.4.1 or newer, with `fs.s3a.committer.magic.track.commits.in.memory.enabled` true before the session starts.");
    option(
        UNSUPPORTED_SCHEME,
        "fail",
        choices(UnsupportedScheme.class),
        Scope.SPARK,
        "What to do with a table on a store that is not served. `delegate` lets Spark's own protocol write it. That renames each file, which such stores do by copying.");
  }

  private final int ioThreads;
  private final int ioRate;
  private final long throttleTimeout;
  private final boolean deleteTargetFiles;
  private final boolean validateOutput;
  private final Path summaryReportDirectory;
  private final Path diagnosticsManifestDirectory;
  private final int manifestSaveAttempts;
  private final boolean parallelDelete;
  private final boolean parallelDeleteBaseFirst;
  private final String storeClass;
  private final boolean markSuccessfulJobs;
  private final boolean cleanupSkipped;
  private final boolean cleanupFailuresIgnored;
  private final MissingFiles missingFiles;
  private final ConflictMode conflictMode;
  private final UnfinishedJobsMode unfinishedJobs;
  private final long heartbeatInterval;
  private final long heartbeatTimeout;
  private final long replaceWait;
  private final DirectoryRename directoryRename;
  private final S3WriteTo s3WriteTo;
  private final UnsupportedScheme unsupportedScheme;

  /**
   * Reads all options.
   *
   * @throws IllegalArgumentException for a value that is not allowed; it names key, value and what
   *     is allowed
   */
  public CommitterConfig(Configuration conf) {
    this.ioThreads = number(conf, IO_THREADS, 1);
    this.ioRate = number(conf, IO_RATE, 0);
    this.throttleTimeout = duration(conf, THROTTLE_TIMEOUT);
    this.deleteTargetFiles = flag(conf, DELETE_TARGET_FILES);
    this.validateOutput = flag(conf, VALIDATE_OUTPUT);
    this.summaryReportDirectory = directory(conf, SUMMARY_REPORT_DIRECTORY);
    this.diagnosticsManifestDirectory = directory(conf, DIAGNOSTICS_MANIFEST_DIRECTORY);
    this.manifestSaveAttempts = number(conf, MANIFEST_SAVE_ATTEMPTS, 1);
    this.parallelDelete = flag(conf, CLEANUP_PARALLEL_DELETE);
    this.parallelDeleteBaseFirst = flag(conf, CLEANUP_PARALLEL_DELETE_BASE_FIRST);
    this.storeClass = storeClass(conf);
    this.markSuccessfulJobs = flag(conf, MARK_SUCCESSFUL_JOBS);
    this.cleanupSkipped = flag(conf, CLEANUP_SKIPPED);
    this.cleanupFailuresIgnored = flag(conf, CLEANUP_FAILURES_IGNORED);
    this.missingFiles = choice(conf, MISSING_FILES, MissingFiles.class);
    this.conflictMode = choice(conf, CONFLICT_MODE, ConflictMode.class);
    this.unfinishedJobs = choice(conf, UNFINISHED_JOBS, UnfinishedJobsMode.class);
    this.heartbeatInterval = duration(conf, HEARTBEAT_INTERVAL);
    this.heartbeatTimeout = duration(conf, HEARTBEAT_TIMEOUT);
    if (heartbeatInterval == 0 || heartbeatTimeout < 2 * heartbeatInterval) {
      throw new IllegalArgumentException(
          "The option "
              + HEARTBEAT_TIMEOUT
              + " is '"
              + conf.get(HEARTBEAT_TIMEOUT, "45s")
              + "' where a heartbeat comes every "
              + heartbeatInterval
              + " ms ("
              + HEARTBEAT_INTERVAL
              + "): it has to be at least twice as long, and neither may be 0");
    }
    this.replaceWait = duration(conf, REPLACE_WAIT);
    this.directoryRename = choice(conf, DIRECTORY_RENAME, DirectoryRename.class);
    if (conf.get(COPYING_RENAME) != null) {
      throw new IllegalArgumentException(
          "The option "
              + COPYING_RENAME
              + " is gone: a store whose rename is a copy is not served any more. Remove it; if a"
              + " rename is one atomic change there, add the scheme to "
              + ATOMIC_RENAME_SCHEMES);
    }
    for (String scheme : conf.getTrimmedStrings(ATOMIC_RENAME_SCHEMES)) {
      if (!SCHEME.matcher(scheme).matches()) {
        throw bad(ATOMIC_RENAME_SCHEMES, value(conf, ATOMIC_RENAME_SCHEMES), null);
      }
    }
    choice(conf, GS_REQUESTS, GcsRequests.class);
    this.s3WriteTo = choice(conf, S3_WRITE_TO, S3WriteTo.class);
    this.unsupportedScheme = choice(conf, UNSUPPORTED_SCHEME, UnsupportedScheme.class);
  }

  /** All options, in the order of the documentation. */
  public static List<CommitterOption> options() {
    return List.copyOf(OPTIONS.values());
  }

  /** {@link #IO_THREADS}. */
  public int ioThreads() {
    return ioThreads;
  }

  /** {@link #IO_RATE}. */
  public int ioRate() {
    return ioRate;
  }

  /** {@link #THROTTLE_TIMEOUT}, in milliseconds. */
  public long throttleTimeout() {
    return throttleTimeout;
  }

  /**
   * What all requests of one committer go through.
   *
   * @param progress called while they wait
   */
  public RequestGate requestGate(Runnable progress) {
    return new RequestGate(ioRate, ioThreads, throttleTimeout, progress);
  }

  /** {@link #DELETE_TARGET_FILES}. */
  public boolean deleteTargetFiles() {
    return deleteTargetFiles;
  }

  /** {@link #VALIDATE_OUTPUT}. */
  public boolean validateOutput() {
    return validateOutput;
  }

  /** {@link #SUMMARY_REPORT_DIRECTORY}. */
  public Optional<Path> summaryReportDirectory() {
    return Optional.ofNullable(summaryReportDirectory);
  }

  /** {@link #DIAGNOSTICS_MANIFEST_DIRECTORY}. */
  public Optional<Path> diagnosticsManifestDirectory() {
    return Optional.ofNullable(diagnosticsManifestDirectory);
  }

  /** {@link #MANIFEST_SAVE_ATTEMPTS}. */
  public int manifestSaveAttempts() {
    return manifestSaveAttempts;
  }

  /** {@link #CLEANUP_PARALLEL_DELETE}. */
  public boolean parallelDelete() {
    return parallelDelete;
  }

  /** {@link #CLEANUP_PARALLEL_DELETE_BASE_FIRST}. */
  public boolean parallelDeleteBaseFirst() {
    return parallelDeleteBaseFirst;
  }

  /** {@link #STORE_OPERATIONS_CLASS}; empty where the scheme decides. */
  public String storeClass() {
    return storeClass;
  }

  /** {@link #MARK_SUCCESSFUL_JOBS}. */
  public boolean markSuccessfulJobs() {
    return markSuccessfulJobs;
  }

  /** {@link #CLEANUP_SKIPPED}. */
  public boolean cleanupSkipped() {
    return cleanupSkipped;
  }

  /** {@link #CLEANUP_FAILURES_IGNORED}. */
  public boolean cleanupFailuresIgnored() {
    return cleanupFailuresIgnored;
  }

  /** {@link #MISSING_FILES}. */
  public MissingFiles missingFiles() {
    return missingFiles;
  }

  /** {@link #CONFLICT_MODE}. */
  public ConflictMode conflictMode() {
    return conflictMode;
  }

  /** {@link #HEARTBEAT_INTERVAL}, in milliseconds. */
  public long heartbeatInterval() {
    return heartbeatInterval;
  }

  /** {@link #UNFINISHED_JOBS}. */
  public UnfinishedJobsMode unfinishedJobs() {
    return unfinishedJobs;
  }

  /** {@link #HEARTBEAT_TIMEOUT}, in milliseconds. */
  public long heartbeatTimeout() {
    return heartbeatTimeout;
  }

  /** {@link #REPLACE_WAIT}, in milliseconds. */
  public long replaceWait() {
    return replaceWait;
  }

  /** {@link #DIRECTORY_RENAME}. */
  public DirectoryRename directoryRename() {
    return directoryRename;
  }

  /** {@link #S3_WRITE_TO}. */
  public S3WriteTo s3WriteTo() {
    return s3WriteTo;
  }

  /** {@link #UNSUPPORTED_SCHEME}. */
  public UnsupportedScheme unsupportedScheme() {
    return unsupportedScheme;
  }

  private static void option(
      String key, String fallback, String allowed, Scope scope, String meaning) {
    OPTIONS.put(key, new CommitterOption(key, fallback, allowed, scope, meaning));
  }

  private static String value(Configuration conf, String key) {
    return conf.getTrimmed(key, OPTIONS.get(key).fallback());
  }

  private static int number(Configuration conf, String key, int least) {
    String value = value(conf, key);
    try {
      int number = Integer.parseInt(value);
      if (number >= least) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Answered below, with the key.
    }
    throw bad(key, value, null);
  }

  /**
   * The length of time, in milliseconds, that a text such as {@code 90s} means; empty if it means
   * none.
   */
  public static Optional<Long> duration(String text) {
    Matcher parts = DURATION_TEXT.matcher(text);
    return parts.matches()
        ? Optional.of(UNITS.get(parts.group(2)).toMillis(Long.parseLong(parts.group(1))))
        : Optional.empty();
  }

  private static long duration(Configuration conf, String key) {
    String value = value(conf, key);
    return duration(value).orElseThrow(() -> bad(key, value, null));
  }

  private static boolean flag(Configuration conf, String key) {
    String value = value(conf, key);
    switch (value.toLowerCase(Locale.ROOT)) {
      case "true":
        return true;
      case "false":
        return false;
      default:
        throw bad(key, value, null);
    }
  }

  private static <E extends Enum<E>> E choice(Configuration conf, String key, Class<E> choices) {
    String value = value(conf, key);
    for (E choice : choices.getEnumConstants()) {
      if (choice.name().equalsIgnoreCase(value)) {
        return choice;
      }
    }
    throw bad(key, value, null);
  }

  private static <E extends Enum<E>> String choices(Class<E> choices) {
    return Arrays.stream(choices.getEnumConstants())
        .map(choice -> choice.name().toLowerCase(Locale.ROOT))
        .collect(Collectors.joining(" or "));
  }

  private static Path directory(Configuration conf, String key) {
    String value = value(conf, key);
    try {
      return value.isEmpty() ? null : StorePaths.plain(new Path(value));
    } catch (IllegalArgumentException e) {
      throw bad(key, value, e);
    }
  }

  private static String storeClass(Configuration conf) {
    String value = value(conf, STORE_OPERATIONS_CLASS);
    if (!value.isEmpty() && !Stores.classNames().contains(value)) {
      throw bad(STORE_OPERATIONS_CLASS, value, null);
    }
    return value;
  }

  private static IllegalArgumentException bad(String key, String value, Exception cause) {
    return new IllegalArgumentException(
        "The option " + key + " is '" + value + "'; it has to be " + OPTIONS.get(key).allowed(),
        cause);
  }
}
