// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import io.manifestcommitter.commit.Audit;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.FileList;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StorePaths;
import io.manifestcommitter.store.Stores;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** What reports tell, for {@code manifest-committer report} and {@code history}. */
final class ReportData {
  private static final String LIST_SUFFIX =
      JobPaths.FILE_LIST.substring(JobPaths.SUCCESS_MARKER.length());

  private ReportData() {}

  /**
   * What is at a path: of a table the report of its last job, with how large its files are, and of
   * a directory of reports {@code history}.
   *
   * @throws NothingThereException if nothing is there
   */
  static Json.Fields report(Configuration conf, String name) throws IOException {
    Path path = StorePaths.plain(new Path(name));
    FileSystem fs = path.getFileSystem(conf);
    FileStatus status =
        NothingThereException.unlessMissing(fs.makeQualified(path), () -> fs.getFileStatus(path));
    if (!status.isDirectory()) {
      return ofJob(fs, status.getPath());
    }
    Path marker = new Path(status.getPath(), JobPaths.SUCCESS_MARKER);
    if (fs.exists(marker)) {
      return ofJob(fs, marker);
    }
    Json.Fields history = history(conf, name);
    return new Json.Fields().with("path", history.get("path")).with("history", history);
  }

  /**
   * The jobs whose reports a directory has: what {@code
   * mapreduce.manifest.committer.summary.report.directory} gathers, of this committer and of
   * Hadoop's.
   *
   * @return {@code path}, {@code jobs}, an array with an object for each, the oldest first, and
   *     {@code problems}, texts about reports that could not be read
   * @throws NothingThereException if there is no directory
   * @throws IOException also if it cannot be listed
   */
  static Json.Fields history(Configuration conf, String directory) throws IOException {
    CommitterConfig config = new CommitterConfig(conf);
    Stores stores = new Stores(conf, config.requestGate(() -> {}));
    Store store = stores.all();
    List<Path> files = new ArrayList<>();
    Path resolved = stores.resolve(new Path(directory));
    boolean isThere =
        store.listIfThere(
            resolved,
            entry -> {
              // Not what is hidden: a list of files, or a report that is being written.
              String name = entry.name();
              if (!entry.isDirectory() && name.endsWith(".json") && !name.matches("[_.].*")) {
                files.add(entry.path());
              }
            });
    if (!isThere) {
      throw new NothingThereException(resolved);
    }
    Queue<Json.Fields> jobs = new ConcurrentLinkedQueue<>();
    Queue<String> problems = new ConcurrentLinkedQueue<>();
    new Workers(config.ioThreads, () -> {}, Audit.job("history"), CommitProgress.unwatched())
        .forEach(
            files,
            file -> {
              try {
                byte[] content = store.read(file, SuccessReport.MAX_BYTES);
                jobs.add(job(file, SuccessReport.parse(content, file.toString())));
              } catch (CorruptManifestException e) {
                problems.add(e.getMessage());
              } catch (IOException e) {
                problems.add(file + " could not be read: " + e);
              }
            });
    Comparator<Json.Fields> byEnd = Comparator.comparing(job -> (long) job.get("ended"));
    return new Json.Fields()
        .with("path", resolved.toString())
        .with(
            "jobs",
            jobs.stream()
                .sorted(byEnd.thenComparing(job -> (String) job.get("report")))
                .collect(Collectors.toList()))
        .with("problems", problems.stream().sorted().collect(Collectors.toList()));
  }

  private static Json.Fields job(Path file, SuccessReport report) {
    Map<String, String> texts = report.diagnostics();
    Map<String, Long> counters = report.statistics().counters();
    ToLongFunction<String> counter = name -> counters.getOrDefault(name, 0L);
    String outcome = report.success() ? "committed" : "failed";
    return new Json.Fields()
        .with("report", file.toString())
        .with("jobId", report.jobId())
        .with("table", texts.getOrDefault("table", ""))
        .with("description", report.description())
        .with("outcome", report.state().isEmpty() ? outcome : report.state())
        .with("success", report.success())
        .with("write", texts.getOrDefault("write", ""))
        .with("started", texts.getOrDefault("started", ""))
        .with("ended", report.timestamp())
        .with("millis", StatisticsRecorder.commitMillis(report.statistics()))
        .with("files", counter.applyAsLong(StatisticNames.COMMITTER_FILES_COMMITTED))
        .with("bytes", counter.applyAsLong(StatisticNames.COMMITTER_BYTES_COMMITTED))
        .with("tasks", counter.applyAsLong(StatisticNames.COMMITTER_TASKS_COMPLETED))
        .with("partitionsCreated", counter.applyAsLong(StatisticNames.COMMITTER_PARTITIONS_CREATED))
        .with(
            "partitionsReplaced", counter.applyAsLong(StatisticNames.COMMITTER_PARTITIONS_REPLACED))
        .with(
            "partitionsAppended", counter.applyAsLong(StatisticNames.COMMITTER_PARTITIONS_APPENDED))
        .with("requests", StatisticsRecorder.requests(report.statistics()))
        .with("throttled", counter.applyAsLong(StatisticNames.STORE_IO_THROTTLED))
        .with("stage", report.stage())
        .with("error", texts.getOrDefault("exception", ""))
        .with("host", report.hostname())
        .with("user", texts.getOrDefault("principal", ""))
        .with("applicationId", texts.getOrDefault("application.id", ""))
        .with("applicationName", texts.getOrDefault("application.name", ""))
        .with("committer", report.committer());
  }

  private static Json.Fields ofJob(FileSystem fs, Path file) throws IOException {
    byte[] report;
    try (FSDataInputStream in = fs.open(file)) {
      report = in.readNBytes(SuccessReport.MAX_BYTES + 1);
    }
    SuccessReport parsed = SuccessReport.parse(report, file.toString());
    Map<Integer, Long> histogram = new TreeMap<>();
    Map<String, long[]> partitions = new HashMap<>();
    try {
      forEachFile(
          fs,
          file,
          parsed.jobId(),
          one -> {
            int bits = Long.SIZE - Long.numberOfLeadingZeros(Math.max(0, one.size));
            histogram.merge(bits, 1L, Long::sum);
            int slash = one.path.lastIndexOf('/');
            String partition = slash < 0 ? "." : one.path.substring(0, slash);
            long[] total = partitions.computeIfAbsent(partition, name -> new long[2]);
            total[0]++;
            total[1] += one.size;
          });
    } catch (FileNotFoundException | CorruptManifestException e) {
      histogram.clear();
      partitions.clear();
    }
    // [bits, files], where a file of n bits has fewer than 2^n bytes; and [name, files, bytes].
    List<List<Object>> sizes = new ArrayList<>();
    histogram.forEach((bits, files) -> sizes.add(List.of(bits, files)));
    List<List<Object>> totals = new ArrayList<>();
    partitions.forEach((name, total) -> totals.add(List.of(name, total[0], total[1])));
    return new Json.Fields()
        .with("path", file.toString())
        .with("report", Json.read(report))
        .with("histogram", sizes)
        .with("partitions", totals);
  }

  /** Shows the files of a report; none where its list is another job's by now. */
  private static void forEachFile(
      FileSystem fs, Path report, String jobId, Consumer<FileList.Entry> visitor)
      throws IOException {
    String hidden = report.getName().startsWith("_") ? "" : "_";
    Path path = new Path(report.getParent(), hidden + report.getName() + LIST_SUFFIX);
    try (FileList list = FileList.read(fs.open(path), path.toString())) {
      boolean isOwn = list.jobId.equals(jobId);
      for (Optional<FileList.Entry> e = list.next(); isOwn && e.isPresent(); e = list.next()) {
        visitor.accept(e.get());
      }
    }
  }
}
