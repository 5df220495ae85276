package io.manifestcommitter;

import java.util.Locale;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * The committer's options, parsed and checked once. Keys and meanings are those of the usage seed
 * ("Configuration options"); the two that only the Spark protocol knows are marked so.
 */
public final class CommitterConfig {
  /** The prefix of the committer's own options. */
  public static final String PREFIX = "mapreduce.manifest.committer.";

  /** How many requests may be under way at once in job commit. */
  public static final String IO_THREADS = PREFIX + "io.threads";

  /** Hadoop protocol: whether a file at a destination is deleted before the rename. */
  public static final String DELETE_TARGET_FILES = PREFIX + "delete.target.files";

  /** Whether every published file is looked at again, one request each. */
  public static final String VALIDATE_OUTPUT = PREFIX + "validate.output";

  /** A directory, on any filesystem, for a report of every job, failed ones too. */
  public static final String SUMMARY_REPORT_DIRECTORY = PREFIX + "summary.report.directory";

  /**
   * Hadoop protocol: whether task attempts are deleted in parallel before the job's directory is.
   */
  public static final String CLEANUP_PARALLEL_DELETE = PREFIX + "cleanup.parallel.delete";

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

  private final int ioThreads;
  private final boolean deleteTargetFiles;
  private final boolean validateOutput;
  private final Path summaryReportDirectory;
  private final boolean parallelDelete;
  private final boolean markSuccessfulJobs;
  private final boolean cleanupSkipped;
  private final boolean cleanupFailuresIgnored;
  private final MissingFiles missingFiles;
  private final UnsupportedScheme unsupportedScheme;

  /**
   * Reads all options.
   *
   * @throws IllegalArgumentException for a value that is not allowed; it names key, value and what
   *     is allowed
   */
  public CommitterConfig(Configuration conf) {
    this.ioThreads = positive(conf, IO_THREADS, 64);
    this.deleteTargetFiles = flag(conf, DELETE_TARGET_FILES, "false");
    this.validateOutput = flag(conf, VALIDATE_OUTPUT, "false");
    String reports = conf.getTrimmed(SUMMARY_REPORT_DIRECTORY, "");
    this.summaryReportDirectory =
        reports.isEmpty() ? null : path(SUMMARY_REPORT_DIRECTORY, reports);
    this.parallelDelete = flag(conf, CLEANUP_PARALLEL_DELETE, "true");
    this.markSuccessfulJobs = flag(conf, MARK_SUCCESSFUL_JOBS, "true");
    this.cleanupSkipped = flag(conf, CLEANUP_SKIPPED, "false");
    this.cleanupFailuresIgnored = flag(conf, CLEANUP_FAILURES_IGNORED, "false");
    this.missingFiles = choice(conf, MISSING_FILES, MissingFiles.FAIL, MissingFiles.class);
    this.unsupportedScheme =
        choice(conf, UNSUPPORTED_SCHEME, UnsupportedScheme.FAIL, UnsupportedScheme.class);
  }

  /** {@link #IO_THREADS}. */
  public int ioThreads() {
    return ioThreads;
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

  /** {@link #CLEANUP_PARALLEL_DELETE}. */
  public boolean parallelDelete() {
    return parallelDelete;
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

  /** {@link #UNSUPPORTED_SCHEME}. */
  public UnsupportedScheme unsupportedScheme() {
    return unsupportedScheme;
  }

  private static int positive(Configuration conf, String key, int fallback) {
    String value = conf.getTrimmed(key, Integer.toString(fallback));
    try {
      int number = Integer.parseInt(value);
      if (number > 0) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Answered below, with the key.
    }
    throw bad(key, value, "a whole number from 1 on");
  }

  private static boolean flag(Configuration conf, String key, String fallback) {
    String value = conf.getTrimmed(key, fallback);
    switch (value.toLowerCase(Locale.ROOT)) {
      case "true":
        return true;
      case "false":
        return false;
      default:
        throw bad(key, value, "true or false");
    }
  }

  private static <E extends Enum<E>> E choice(
      Configuration conf, String key, E fallback, Class<E> choices) {
    String value = conf.getTrimmed(key, fallback.name());
    StringBuilder allowed = new StringBuilder();
    for (E choice : choices.getEnumConstants()) {
      if (choice.name().equalsIgnoreCase(value)) {
        return choice;
      }
      allowed
          .append(allowed.length() == 0 ? "" : " or ")
          .append(choice.name().toLowerCase(Locale.ROOT));
    }
    throw bad(key, value, allowed.toString());
  }

  private static Path path(String key, String value) {
    try {
      return new Path(value);
    } catch (IllegalArgumentException e) {
      IllegalArgumentException bad = bad(key, value, "the URI of a directory");
      bad.initCause(e);
      throw bad;
    }
  }

  private static IllegalArgumentException bad(String key, String value, String allowed) {
    return new IllegalArgumentException(
        "The option " + key + " is '" + value + "'; it has to be " + allowed);
  }
}
