// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.net.NetUtils;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.VersionInfo;
import org.apache.hadoop.util.functional.ConsumerRaisingIOE;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the report of a job, and saves it to the directory for reports, if there is one, however
 * the job ended ("Manifest Committer Protocol", "Job Commit").
 */
public final class SaveSummary {
  private static final Logger LOG = LoggerFactory.getLogger(SaveSummary.class);

  /** Hidden by its underscore, so that the reports of a directory can be read as data. */
  private static final String LIST_SUFFIX = ".files";

  /** How many partitions a report names. */
  private static final int LARGEST = 40;

  private static final int SMALLEST = 10;

  private static final String REPLACED = "replaced";
  private static final String RECOVERED = "-recovered";

  /** What becomes of a partition, and what counts that. */
  private static final Map<String, String> FATES =
      Map.of(
          "created",
          StatisticNames.COMMITTER_PARTITIONS_CREATED,
          REPLACED,
          StatisticNames.COMMITTER_PARTITIONS_REPLACED,
          "appended to",
          StatisticNames.COMMITTER_PARTITIONS_APPENDED);

  private final Store store;
  private final JobDescription job;
  private final CommitterConfig config;
  private final StatisticsRecorder statistics;
  private final CommitProgress commit;

  /**
   * The reports of {@code job}.
   *
   * @param commit how far it has come
   */
  public SaveSummary(
      Store store,
      JobDescription job,
      CommitterConfig config,
      StatisticsRecorder statistics,
      CommitProgress commit) {
    this.store = store;
    this.job = job;
    this.config = config;
    this.statistics = statistics;
    this.commit = commit;
  }

  /** The report of a job that committed. */
  SuccessReport success(JobPlan plan) {
    List<Map<String, Object>> partitions = partitions(plan);
    SuccessReport.Builder report =
        report()
            .filenames(
                plan.files.stream().map(file -> new Path(file.destination().toUri().getPath())))
            .description(plan.toString())
            .ended("committed", StatisticNames.JOB_STAGE_SAVE_SUCCESS_MARKER)
            .diagnostic("partitions", partitions);
    for (int i = 0; i < plan.warnings.size(); i++) {
      report.diagnostic("warning." + (i + 1), plan.warnings.get(i));
    }
    return report.build();
  }

  /**
   * Counts what the job did to each partition: whether it created, replaced or appended to it. A
   * custom location is a partition, too, and so is a table without partitions.
   *
   * @return an object for each of the largest and smallest, by name, with {@code path}, {@code
   *     outcome}, {@code files} and {@code bytes}; a table without partitions is {@code .}
   */
  private List<Map<String, Object>> partitions(JobPlan plan) {
    Set<Path> replaced = new HashSet<>();
    plan.replaced.forEach(old -> replaced.add(old.path));
    Function<Path, String> fate =
        directory -> {
          if (replaced.contains(directory) || plan.swaps.movesAside(directory)) {
            return REPLACED;
          }
          boolean isNew =
              plan.missingDirectories.contains(directory)
                  || (directory.equals(plan.table) && plan.makesTable);
          return isNew ? "created" : "appended to";
        };
    Map<Path, LongSummaryStatistics> totals = plan.files.totals();
    totals.keySet().forEach(directory -> statistics.increment(FATES.get(fate.apply(directory))));
    Comparator<Map.Entry<Path, LongSummaryStatistics>> byBytes =
        Comparator.comparingLong(entry -> -entry.getValue().getSum());
    Map<String, Map<String, Object>> named = new TreeMap<>();
    List<Map.Entry<Path, LongSummaryStatistics>> sorted = new ArrayList<>(totals.entrySet());
    sorted.sort(byBytes.thenComparing(Map.Entry::getKey));
    if (sorted.size() > LARGEST + SMALLEST) {
      sorted.subList(LARGEST, sorted.size() - SMALLEST).clear();
    }
    sorted.forEach(
        one -> {
          Map<String, Object> told = new LinkedHashMap<>();
          told.put("path", name(plan.table, one.getKey()));
          told.put("outcome", fate.apply(one.getKey()));
          told.put("files", one.getValue().getCount());
          told.put("bytes", one.getValue().getSum());
          named.put(name(plan.table, one.getKey()), told);
        });
    return List.copyOf(named.values());
  }

  private static String name(Path table, Path directory) {
    if (directory.equals(table)) {
      return ".";
    }
    return StorePaths.isBelow(table, directory)
        ? StorePaths.relative(table, directory)
        : directory.toString();
  }

  /**
   * Saves the report of a job that was aborted before it was asked to commit.
   *
   * @param why what is known of the cause, or where to look; the stack trace would be that of the
   *     abort
   */
  public void saveAborted(String why) {
    String stage = StatisticNames.JOB_STAGE_ABORT;
    save(
        "",
        report()
            .unsuccessful()
            .ended("aborted", stage)
            .diagnostic("stage", stage)
            .diagnostic("exception", "The job was aborted before its commit. " + why));
  }

  /**
   * Saves the report of a job that failed.
   *
   * @param item the path or file that the stage worked on, where it is known
   */
  void saveFailed(String stage, Optional<String> item, Throwable cause) {
    SuccessReport.Builder report =
        report().ended("failed", stage).diagnostic("stage", stage).failed(cause);
    item.ifPresent(text -> report.diagnostic("path", text));
    save("", report);
  }

  /**
   * Saves the report of a job that published nothing, though it did not fail.
   *
   * @param key of the job that has the data, among the diagnostics
   */
  void saveUnpublished(String outcome, String stage, String key, String by) {
    save("", report().ended(outcome, stage).diagnostic(key, by));
  }

  /** Saves the report of a recovery that rolled a job back, beside what the job reported before. */
  public void saveRolledBack(JobPlan plan) {
    save(
        RECOVERED,
        report()
            .description(plan.toString())
            .unsuccessful()
            .ended("rolled_back", StatisticNames.JOB_STAGE_ROLL_BACK));
  }

  /** Saves the report of a recovery that completed a job. */
  public void saveCompleted(JobPlan plan) {
    statistics.count(StatisticNames.COMMITTER_FILES_COMMITTED, plan.files.size());
    statistics.count(StatisticNames.COMMITTER_BYTES_COMMITTED, plan.files.bytes());
    save(
        RECOVERED,
        report()
            .description(plan.toString())
            .ended("completed", StatisticNames.JOB_STAGE_SAVE_SUCCESS_MARKER));
  }

  private void save(String suffix, SuccessReport.Builder report) {
    save(suffix, report.build(), Optional.empty());
  }

  /** Saves the report of a job that committed, and the list of its files beside it. */
  void save(SuccessReport report, ConsumerRaisingIOE<OutputStream> list) {
    save("", report, Optional.of(list));
  }

  /**
   * Saves a report as {@code summary-$jobId.json}, and its list, where a directory for reports is
   * set. What goes wrong is logged: the job's outcome does not hang on it.
   */
  private void save(
      String suffix, SuccessReport report, Optional<ConsumerRaisingIOE<OutputStream>> list) {
    if (!config.summaryReportDirectory.isPresent()) {
      return;
    }
    Path directory = config.summaryReportDirectory.get();
    String name = "summary-" + job.jobId + suffix + ".json";
    try {
      store.mkdirs(directory);
      if (list.isPresent()) {
        store.write(new Path(directory, "_" + name + LIST_SUFFIX), list.get());
      }
      byte[] json = report.toJson();
      FileEntry written =
          Store.writeNew(
              store,
              new Path(directory, "_" + name + ".tmp"),
              new Path(directory, name),
              out -> out.write(json));
      Retries.renameOver(store, written).orThrow("It stayed at " + written.source());
    } catch (IOException | RuntimeException | Error e) {
      LOG.warn("The report of job {} could not be saved in {}", job.jobId, directory, e);
    }
  }

  /**
   * Hadoop's printer shows the diagnostics as they are; what is not text is among the statistics.
   */
  private SuccessReport.Builder report() {
    SuccessReport.Builder report =
        SuccessReport.builder()
            .at(Instant.now())
            .hostname(NetUtils.getLocalHostname())
            .committer(job.committer)
            .job(job.jobId, job.jobIdSource)
            .statistics(commit.report(statistics.snapshot()))
            .diagnostic("principal", principal())
            .diagnostic("table", job.table.toString())
            .diagnostic("started", Instant.ofEpochMilli(commit.startedAt).toString())
            .diagnostic("hadoop.version", VersionInfo.getVersion());
    List<Map<String, Object>> steps = commit.steps();
    if (!steps.isEmpty()) {
      report.diagnostic("steps", steps);
    }
    job.facts.forEach(report::diagnostic);
    return report;
  }

  private static String principal() {
    try {
      return UserGroupInformation.getCurrentUser().getShortUserName();
    } catch (IOException e) {
      return "unknown (" + e + ")";
    }
  }
}
