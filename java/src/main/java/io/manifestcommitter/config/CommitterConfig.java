// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.config;

import static java.util.stream.Collectors.joining;

import io.manifestcommitter.store.GcsStore;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.StoreFamily;
import io.manifestcommitter.store.StorePaths;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.StringUtils;

/**
 * The committer's options, parsed and checked once. Keys and meanings are those of Hadoop's
 * manifest committer ("The Manifest Committer for Azure and Google Cloud Storage", "Configuration
 * options"). Keys with the prefix of Hadoop's FileOutputCommitter have its meanings. {@link
 * #options} tells which are ours alone.
 */
public final class CommitterConfig {
  /** The prefix of the committer's own options. */
  public static final String PREFIX = "mapreduce.manifest.committer.";

  // The keys; the table below says what each option does.
  public static final String IO_THREADS = PREFIX + "io.threads";
  public static final String IO_RATE = PREFIX + "io.rate";
  public static final String THROTTLE_TIMEOUT = PREFIX + "throttle.timeout";
  public static final String DELETE_TARGET_FILES = PREFIX + "delete.target.files";
  public static final String VALIDATE_OUTPUT = PREFIX + "validate.output";
  public static final String SUMMARY_REPORT_DIRECTORY = PREFIX + "summary.report.directory";
  public static final String DIAGNOSTICS_MANIFEST_DIRECTORY =
      PREFIX + "diagnostics.manifest.directory";
  public static final String MANIFEST_SAVE_ATTEMPTS = PREFIX + "manifest.save.attempts";
  public static final String WRITER_QUEUE_CAPACITY = PREFIX + "writer.queue.capacity";
  public static final String CLEANUP_PARALLEL_DELETE = PREFIX + "cleanup.parallel.delete";
  public static final String CLEANUP_PARALLEL_DELETE_BASE_FIRST =
      PREFIX + "cleanup.parallel.delete.base.first";
  public static final String STORE_OPERATIONS_CLASS = PREFIX + "store.operations.classname";
  public static final String MARK_SUCCESSFUL_JOBS =
      "mapreduce.fileoutputcommitter.marksuccessfuljobs";
  public static final String CLEANUP_SKIPPED = "mapreduce.fileoutputcommitter.cleanup.skipped";
  public static final String CLEANUP_FAILURES_IGNORED =
      "mapreduce.fileoutputcommitter.cleanup-failures.ignored";
  public static final String MISSING_FILES = PREFIX + "missing.files";
  public static final String UNSUPPORTED_SCHEME = PREFIX + "unsupported.scheme";
  public static final String ATOMIC_RENAME_SCHEMES = StoreFamily.ATOMIC_RENAME_SCHEMES;
  public static final String GS_REQUESTS = GcsStore.REQUESTS;
  public static final String COMMIT_ID = PREFIX + "commit.id";
  public static final String COMMIT_ID_COUNT = PREFIX + "commit.id.count";
  public static final String COMMIT_ID_AGE = PREFIX + "commit.id.age";
  public static final String CONFLICT_MODE = PREFIX + "conflict.mode";
  public static final String PUBLISH = PREFIX + "publish";
  public static final String HOLD_CONFLICT = PREFIX + "hold.conflict";
  public static final String HOLD_TIMEOUT = PREFIX + "hold.timeout";
  public static final String KEEP_REPLACED = PREFIX + "keep.replaced";
  public static final String HEARTBEAT_INTERVAL = PREFIX + "heartbeat.interval";
  public static final String HEARTBEAT_TIMEOUT = PREFIX + "heartbeat.timeout";
  public static final String REPLACE_WAIT = PREFIX + "replace.wait";
  public static final String UNFINISHED_JOBS = PREFIX + "unfinished.jobs";
  public static final String DIRECTORY_RENAME = PREFIX + "directory.rename";
  public static final String S3_WRITE_TO = PREFIX + "s3.write.to";

  public enum ConflictMode {
    APPEND,
    FAIL,
    REPLACE
  }

  public enum Publish {
    NOW,
    HOLD
  }

  public enum HoldConflict {
    FAIL,
    WAIT
  }

  public enum UnfinishedJobsMode {
    ROLLBACK,
    FAIL,
    WARN
  }

  public enum DirectoryRename {
    AUTO,
    OFF
  }

  private enum GcsRequests {
    DIRECT,
    FILESYSTEM
  }

  public enum S3WriteTo {
    DISK,
    MAGIC
  }

  public enum MissingFiles {
    FAIL,
    WARN
  }

  public enum UnsupportedScheme {
    FAIL,
    DELEGATE
  }

  private static final Pattern DURATION_TEXT = Pattern.compile("([0-9]{1,9})(ms|s|m|h)");
  private static final Map<String, TimeUnit> UNITS =
      Map.of(
          "ms", TimeUnit.MILLISECONDS,
          "s", TimeUnit.SECONDS,
          "m", TimeUnit.MINUTES,
          "h", TimeUnit.HOURS);
  private static final Pattern SCHEME = Pattern.compile("[a-z][a-z0-9+.-]*");

  /** Of an identity, which is the name of a file. */
  private static final int MOST_OF_ID = 200;

  private static final Form POSITIVE =
      new Form("a whole number from 1 on", text -> number(text, 1));
  private static final Form NOT_NEGATIVE =
      new Form("a whole number from 0 on", text -> number(text, 0));
  private static final Form FLAG = new Form("true or false", CommitterConfig::flag);
  private static final Form DURATION =
      new Form(
          "a whole number and its unit: ms, s, m or h, such as 90s",
          text -> duration(text).orElse(null));
  private static final Form SCHEMES =
      new Form(
          "schemes such as ofs, separated by commas, or nothing",
          text ->
              StringUtils.getTrimmedStringCollection(text).stream()
                      .allMatch(scheme -> SCHEME.matcher(scheme).matches())
                  ? text
                  : null);
  private static final Form DIRECTORY =
      new Form(
          "the URI of a directory, or nothing",
          text ->
              Optional.of(text).filter(t -> !t.isEmpty()).map(t -> StorePaths.plain(new Path(t))));
  private static final Form IDENTITY =
      new Form(
          "nothing, or a text that has at most " + MOST_OF_ID + " characters in a URL",
          text ->
              URLEncoder.encode(text, StandardCharsets.UTF_8).length() > MOST_OF_ID
                  ? null
                  : Optional.of(text).filter(t -> !t.isEmpty()));
  private static final List<String> STORE_CLASSES =
      List.of(
          "org.apache.hadoop.mapreduce.lib.output.committer.manifest.impl"
              + ".ManifestStoreOperationsThroughFileSystem",
          "org.apache.hadoop.fs.azurebfs.commit.AbfsManifestStoreOperations");
  private static final Form STORE_CLASS =
      new Form(
          "nothing, or one of " + String.join(", ", STORE_CLASSES),
          text -> text.isEmpty() || STORE_CLASSES.contains(text) ? text : null);

  private static final Map<String, Option> OPTIONS = new LinkedHashMap<>();

  static {
    option(IO_THREADS, "64", POSITIVE, Scope.BOTH)
        .means(
            "Maximum requests at the same time in job commit. A commit begins with a quarter of them. The number grows while the store stays fast, and halves when the store throttles or fails.");
    option(IO_RATE, "0", NOT_NEGATIVE, Scope.BOTH)
        .means(
            "Maximum requests per second of one committer, evenly spread; 0 for no limit. A driver with several jobs has one committer for each.");
    option(THROTTLE_TIMEOUT, "10m", DURATION, Scope.BOTH)
        .means(
            "How long throttled requests (429, 503) are retried before the commit fails; `0s` for no retries. All requests slow down to the observed rate. The time includes the connector's own retries.");
    option(DELETE_TARGET_FILES, "false", FLAG, Scope.BOTH)
        .means(
            "Let a new file replace one that exists at its destination. Without this, such a file fails the job. Spark's file names are unique, so only other writers need it.");
    option(VALIDATE_OUTPUT, "false", FLAG, Scope.BOTH)
        .means(
            "Check every published file, with one request each: its length and, where the store has it, its identity.");
    option(SUMMARY_REPORT_DIRECTORY, "", DIRECTORY, Scope.BOTH)
        .means(
            "Save the report of every job, failed ones too, as `summary-<jobId>.json` in this directory.");
    option(DIAGNOSTICS_MANIFEST_DIRECTORY, "", DIRECTORY, Scope.HADOOP)
        .means(
            "Copy the manifests of every job, failed ones too, to `<jobId>/` in this directory.");
    option(MANIFEST_SAVE_ATTEMPTS, "5", POSITIVE, Scope.HADOOP)
        .means(
            "How often a task commit tries to save its manifest, with pauses that grow by 500 ms.");
    option(WRITER_QUEUE_CAPACITY, "32", POSITIVE, Scope.HADOOP)
        .means("Accepted, and without effect: no loaded manifest waits in a queue.");
    option(CLEANUP_PARALLEL_DELETE, "true", FLAG, Scope.HADOOP)
        .means(
            "Delete the task attempts in parallel before the job's directory. Switch it off on HDFS.");
    option(CLEANUP_PARALLEL_DELETE_BASE_FIRST, "false", FLAG, Scope.HADOOP)
        .means(
            "Try to delete the job's directory in one request first, and the task attempts in parallel only if that fails.");
    option(STORE_OPERATIONS_CLASS, "", STORE_CLASS, Scope.HADOOP)
        .means("Accepted, and without effect: the scheme decides what makes the requests.");
    option(MARK_SUCCESSFUL_JOBS, "true", FLAG, Scope.BOTH)
        .means("Write `_SUCCESS`, and the list of files next to it.");
    option(CLEANUP_SKIPPED, "false", FLAG, Scope.BOTH)
        .means(
            "Keep the job's own directory. With the Spark protocol, later jobs and `recover` keep it too, and the job removes nothing that an ended job left. `clean` removes it.");
    option(CLEANUP_FAILURES_IGNORED, "false", FLAG, Scope.HADOOP)
        .means(
            "A job whose cleanup fails is still successful. With the Spark protocol this is always so.");
    option(MISSING_FILES, "fail", choice(MissingFiles.class), Scope.SPARK)
        .means(
            "What to do if a file that a committed task named is missing. `warn` leaves it out.");
    option(DIRECTORY_RENAME, "auto", choice(DirectoryRename.class), Scope.SPARK)
        .means(
            "`auto` publishes and replaces a whole directory by one rename. This needs a store that renames directories atomically, and a directory that gets the same rights as one made in place. Everywhere else, and with `off`, files are renamed one by one.");
    option(CONFLICT_MODE, "append", choice(ConflictMode.class), Scope.SPARK)
        .means(
            "What an append does with a partition that exists when the job commits. `append` adds to it. `fail` fails the job with nothing published, and names the partitions. `replace` replaces it. The directory of a table without partitions counts as a partition once it has a visible file. Can be set for one write: `df.write.option(...)`.");
    option(COMMIT_ID, "", IDENTITY, Scope.SPARK)
        .means(
            "The identity of the write. A table takes the data of one identity once: a job whose identity was committed there before publishes nothing, and succeeds. Set it for one write: `df.write.option(...)`. Set for a session, it covers one write for each table, and a second one fails.");
    option(COMMIT_ID_COUNT, "1000", POSITIVE, Scope.SPARK)
        .means("How many identities a table remembers. The oldest go first.");
    option(COMMIT_ID_AGE, "720h", DURATION, Scope.SPARK)
        .means("How long a table remembers an identity after its commit.");
    option(PUBLISH, "now", choice(Publish.class), Scope.SPARK)
        .means(
            "When the data becomes visible. `now` publishes it when the job commits. With `hold`, the job ends successfully with nothing visible. Somebody looks at its data, and publishes or discards it. Set it for one write: `df.write.option(...)`.");
    option(HOLD_CONFLICT, "fail", choice(HoldConflict.class), Scope.SPARK)
        .means(
            "What an overwrite does if a held job is to overwrite some of the same places. `fail` fails, and names that job. `wait` waits until that job is published or discarded, for `mapreduce.manifest.committer.replace.wait` at most.");
    option(HOLD_TIMEOUT, "168h", DURATION, Scope.SPARK)
        .means(
            "How old a held job has to be before `clean` discards it. It reads this option of its own settings, not of the job.");
    option(KEEP_REPLACED, "0s", DURATION, Scope.SPARK)
        .means(
            "How long the data that an overwrite replaces can still be read, by `mc.read(..., before=job)`. It stays in the staging directory, until `clean` removes that. `clean` reads this option of its own settings. A job is refused whose old data cannot move aside, as on `s3a`.");
    option(UNFINISHED_JOBS, "rollback", choice(UnfinishedJobsMode.class), Scope.SPARK)
        .means(
            "What a job does if the table holds the unfinished commit of a driver that died. `rollback` recovers it as `manifest-committer recover` does: it rolls the commit back, or completes it if it is past its point of no return. `fail` fails the job. `warn` goes on. The job watches the heartbeats of other jobs from its setup on. If a heartbeat moves, that driver is alive, and the job leaves its commit alone. If it has stood still for `mapreduce.manifest.committer.heartbeat.timeout`, the driver is dead. The job waits for that when it commits, and only if a commit has begun. A commit without a heartbeat is recovered at once. With `rollback`, the job also removes what drivers left that died before their commit.");
    option(HEARTBEAT_INTERVAL, "10s", DURATION, Scope.SPARK)
        .means(
            "How often the driver of a running job writes the small file `heartbeat` in its staging directory.");
    option(HEARTBEAT_TIMEOUT, "45s", DURATION, Scope.SPARK)
        .means(
            "How long another process has to see a heartbeat stand still before that job counts as dead, and may be recovered. It measures this by its own clock; no clocks are compared. A job, `recover` and `clean` wait about this long. Set the same value for all jobs that write to a table, several times the interval.");
    option(REPLACE_WAIT, "1h", DURATION, Scope.SPARK)
        .means(
            "How long a job that replaces data waits, when it commits, for another running job that replaces some of the same places. After that the job fails and the old data stays. The error names the other job, its host, and since when it works there.");
    option(ATOMIC_RENAME_SCHEMES, "", SCHEMES, Scope.BOTH)
        .means(
            "Schemes of further stores, such as `ofs`, for which you vouch: a rename of a file or a directory is one atomic change there, and keeps length and modification time. `verify-store` finds out. Where that is not so, a driver that dies may leave a part of a file, or double it.");
    option(GS_REQUESTS, "direct", choice(GcsRequests.class), Scope.BOTH)
        .means(
            "How requests to Google Cloud Storage are made. `direct` uses the client of Google's connector, which renames a file with one request and shows hashes in listings. `filesystem` uses Hadoop's FileSystem calls, which take more requests. A connector without such a client always gets FileSystem calls.");
    option(S3_WRITE_TO, "disk", choice(S3WriteTo.class), Scope.SPARK)
        .means(
            "Where tasks write what goes to S3. `disk` writes to the executor's disk and uploads from there. `magic` writes to S3A's magic paths, which upload while they are written to. `magic` needs hadoop-aws 3.4.1 or newer, with `fs.s3a.committer.magic.track.commits.in.memory.enabled` true before the session starts.");
    option(UNSUPPORTED_SCHEME, "fail", choice(UnsupportedScheme.class), Scope.SPARK)
        .means(
            "What to do with a table on a store that is not served. `delegate` lets Spark's own protocol write it. That renames each file, which such stores do by copying.");
  }

  public final int ioThreads;
  public final int ioRate;

  /** {@link #THROTTLE_TIMEOUT}, in milliseconds. */
  public final long throttleTimeout;

  public final boolean deleteTargetFiles;
  public final boolean validateOutput;
  public final Optional<Path> summaryReportDirectory;
  public final Optional<Path> diagnosticsManifestDirectory;
  public final int manifestSaveAttempts;
  public final boolean parallelDelete;
  public final boolean parallelDeleteBaseFirst;
  public final boolean markSuccessfulJobs;
  public final boolean cleanupSkipped;
  public final boolean cleanupFailuresIgnored;
  public final MissingFiles missingFiles;
  public final ConflictMode conflictMode;
  public final Publish publish;

  public final HoldConflict holdConflict;

  /** {@link #HOLD_TIMEOUT}, in milliseconds. */
  public final long holdTimeout;

  /** {@link #KEEP_REPLACED}, in milliseconds; 0 if nothing is kept. */
  public final long keepReplaced;

  public final Optional<String> commitId;

  public final int commitIdCount;

  /** {@link #COMMIT_ID_AGE}, in milliseconds. */
  public final long commitIdAge;

  /** {@link #HEARTBEAT_INTERVAL}, in milliseconds. */
  public final long heartbeatInterval;

  public final UnfinishedJobsMode unfinishedJobs;

  /** {@link #HEARTBEAT_TIMEOUT}, in milliseconds. */
  public final long heartbeatTimeout;

  /** {@link #REPLACE_WAIT}, in milliseconds. */
  public final long replaceWait;

  public final DirectoryRename directoryRename;
  public final S3WriteTo s3WriteTo;
  public final UnsupportedScheme unsupportedScheme;

  /**
   * Reads all options.
   *
   * @throws IllegalArgumentException for a value that is not allowed; it names key, value and what
   *     is allowed
   */
  public CommitterConfig(Configuration conf) {
    Map<String, Object> values = new HashMap<>();
    OPTIONS.values().forEach(option -> values.put(option.key, option.read(conf)));
    ioThreads = get(values, IO_THREADS);
    ioRate = get(values, IO_RATE);
    throttleTimeout = get(values, THROTTLE_TIMEOUT);
    deleteTargetFiles = get(values, DELETE_TARGET_FILES);
    validateOutput = get(values, VALIDATE_OUTPUT);
    summaryReportDirectory = get(values, SUMMARY_REPORT_DIRECTORY);
    diagnosticsManifestDirectory = get(values, DIAGNOSTICS_MANIFEST_DIRECTORY);
    manifestSaveAttempts = get(values, MANIFEST_SAVE_ATTEMPTS);
    parallelDelete = get(values, CLEANUP_PARALLEL_DELETE);
    parallelDeleteBaseFirst = get(values, CLEANUP_PARALLEL_DELETE_BASE_FIRST);
    markSuccessfulJobs = get(values, MARK_SUCCESSFUL_JOBS);
    cleanupSkipped = get(values, CLEANUP_SKIPPED);
    cleanupFailuresIgnored = get(values, CLEANUP_FAILURES_IGNORED);
    missingFiles = get(values, MISSING_FILES);
    conflictMode = get(values, CONFLICT_MODE);
    publish = get(values, PUBLISH);
    holdConflict = get(values, HOLD_CONFLICT);
    holdTimeout = get(values, HOLD_TIMEOUT);
    keepReplaced = get(values, KEEP_REPLACED);
    commitId = get(values, COMMIT_ID);
    commitIdCount = get(values, COMMIT_ID_COUNT);
    commitIdAge = get(values, COMMIT_ID_AGE);
    heartbeatInterval = get(values, HEARTBEAT_INTERVAL);
    unfinishedJobs = get(values, UNFINISHED_JOBS);
    heartbeatTimeout = get(values, HEARTBEAT_TIMEOUT);
    replaceWait = get(values, REPLACE_WAIT);
    directoryRename = get(values, DIRECTORY_RENAME);
    s3WriteTo = get(values, S3_WRITE_TO);
    unsupportedScheme = get(values, UNSUPPORTED_SCHEME);
    if (heartbeatInterval == 0 || heartbeatTimeout < 2 * heartbeatInterval) {
      throw new IllegalArgumentException(
          "The option "
              + HEARTBEAT_TIMEOUT
              + " is '"
              + conf.get(HEARTBEAT_TIMEOUT, OPTIONS.get(HEARTBEAT_TIMEOUT).fallback)
              + "' where a heartbeat comes every "
              + heartbeatInterval
              + " ms ("
              + HEARTBEAT_INTERVAL
              + "): it has to be at least twice as long, and neither may be 0");
    }
    if (commitId.isPresent() && unfinishedJobs == UnfinishedJobsMode.WARN) {
      throw new IllegalArgumentException(
          "The option "
              + COMMIT_ID
              + " is set where "
              + UNFINISHED_JOBS
              + " is warn: a job that goes on past an unfinished commit of its own identity would write"
              + " the data twice. Set that to rollback or fail");
    }
  }

  /** Whether the job is to end with nothing visible. */
  public boolean holds() {
    return publish == Publish.HOLD;
  }

  /** All options, in the order of the documentation. */
  public static List<Option> options() {
    return List.copyOf(OPTIONS.values());
  }

  /**
   * What all requests of one committer go through.
   *
   * @param progress called while they wait
   */
  public RequestGate requestGate(Runnable progress) {
    return new RequestGate(ioRate, ioThreads, throttleTimeout, progress);
  }

  // Each field has the type that the form of its option reads.
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <T> T get(Map<String, Object> values, String key) {
    return (T) values.get(key);
  }

  private static Option option(String key, String fallback, Form form, Scope scope) {
    Option option = new Option(key, fallback, form, scope);
    OPTIONS.put(key, option);
    return option;
  }

  private static Integer number(String text, int least) {
    int number = Integer.parseInt(text);
    return number >= least ? number : null;
  }

  private static Boolean flag(String text) {
    boolean isTrue = text.equalsIgnoreCase("true");
    return (isTrue || text.equalsIgnoreCase("false")) ? isTrue : null;
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

  private static <E extends Enum<E>> Form choice(Class<E> choices) {
    List<E> all = List.of(choices.getEnumConstants());
    return new Form(
        all.stream().map(one -> one.name().toLowerCase(Locale.ROOT)).collect(joining(" or ")),
        text ->
            all.stream().filter(one -> one.name().equalsIgnoreCase(text)).findAny().orElse(null));
  }

  /** What values an option takes. */
  private static final class Form {
    private final String allowed;
    private final Function<String, Object> reading;

    /**
     * A form.
     *
     * @param allowed the values, for people
     * @param reading gives null, or throws {@link IllegalArgumentException}, for other values
     */
    Form(String allowed, Function<String, Object> reading) {
      this.allowed = allowed;
      this.reading = reading;
    }
  }

  /** Which protocols read an option. */
  public enum Scope {
    BOTH,
    /** MapReduce, RDD writers and the stock Spark bindings. */
    HADOOP,
    SPARK
  }

  /** One option, as the documentation lists it. */
  public static final class Option {
    /** The key in Hadoop's configuration. */
    public final String key;

    /** The value where none is set; empty for none. */
    public final String fallback;

    /** Which protocols read it. */
    public final Scope scope;

    private final Form form;
    private String meaning = "";

    private Option(String key, String fallback, Form form, Scope scope) {
      this.key = key;
      this.fallback = fallback;
      this.form = form;
      this.scope = scope;
    }

    private void means(String text) {
      meaning = text;
    }

    /**
     * Reads its value alone.
     *
     * @throws IllegalArgumentException if that is not allowed
     */
    public Object read(Configuration conf) {
      String value = conf.getTrimmed(key, fallback);
      IllegalArgumentException cause = null;
      try {
        Object read = form.reading.apply(value);
        if (read != null) {
          return read;
        }
      } catch (IllegalArgumentException e) {
        cause = e;
      }
      throw new IllegalArgumentException(
          "The option " + key + " is '" + value + "'; it has to be " + form.allowed, cause);
    }

    /** Which values are allowed, for people. */
    public String allowed() {
      return form.allowed;
    }

    public String meaning() {
      return meaning;
    }
  }
}
