// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import io.manifestcommitter.cli.CommandLine.UsageException;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.FileList;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.store.StorePaths;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Prints the data for a picture of one job, or of many, as one line of JSON. For a table that is
 * the report of its last job, with how large its files are. For a directory of reports it is their
 * jobs. Called by {@code manifest-committer report}.
 */
public final class ReportData extends Program {
  private static final String LIST_SUFFIX =
      JobPaths.FILE_LIST.substring(JobPaths.SUCCESS_MARKER.length());

  ReportData(PrintStream out, PrintStream err) {
    super(
        out,
        err,
        Set.of(),
        Set.of(),
        "Usage: ReportData [--properties-file file] [-D key=value]... <path>");
  }

  /** Runs the program and ends the JVM with its exit code. */
  public static void main(String[] args) {
    runAndExit(args, ReportData::new);
  }

  @Override
  protected Action action(CommandLine line) throws UsageException {
    if (line.paths().size() != 1) {
      throw new UsageException("give one path");
    }
    return path -> {
      out.println(of(path, line.conf()));
      return OK;
    };
  }

  private String of(String name, Configuration conf) throws IOException {
    Path path = StorePaths.plain(new Path(name));
    FileSystem fs = path.getFileSystem(conf);
    FileStatus status;
    try {
      status = fs.getFileStatus(path);
    } catch (FileNotFoundException e) {
      throw new FileNotFoundException("There is nothing there: check the path");
    }
    if (!status.isDirectory()) {
      return ofJob(fs, status.getPath());
    }
    Path marker = new Path(status.getPath(), JobPaths.SUCCESS_MARKER);
    if (fs.exists(marker)) {
      return ofJob(fs, marker);
    }
    String directory = status.getPath().toString();
    return Json.line(
        new Json.Fields().with("path", directory).with("history", History.found(conf, directory)));
  }

  private String ofJob(FileSystem fs, Path file) throws IOException {
    byte[] report;
    try (FSDataInputStream in = fs.open(file)) {
      report = in.readNBytes(SuccessReport.MAX_BYTES + 1);
    }
    SuccessReport parsed = SuccessReport.parse(report, file.toString());
    Sizes sizes = sizes(fs, file, parsed);
    return Json.line(
        new Json.Fields()
            .with("path", file.toString())
            .with("report", Json.read(report))
            .with("histogram", sizes.histogram())
            .with("partitions", sizes.partitions()));
  }

  /** Empty where there is no list, or it is another job's by now. */
  private Sizes sizes(FileSystem fs, Path file, SuccessReport report) throws IOException {
    Sizes sizes = new Sizes();
    String hidden = file.getName().startsWith("_") ? "" : "_";
    Path path = new Path(file.getParent(), hidden + file.getName() + LIST_SUFFIX);
    try (FileList list = FileList.read(fs.open(path), path.toString())) {
      if (!list.jobId().equals(report.jobId())) {
        return sizes;
      }
      for (Optional<FileList.Entry> e = list.next(); e.isPresent(); e = list.next()) {
        sizes.add(e.get());
      }
    } catch (FileNotFoundException e) {
      return sizes;
    } catch (CorruptManifestException e) {
      return new Sizes();
    }
    return sizes;
  }

  /** How large files are, and partitions. */
  private static final class Sizes {
    /** Files by the number of bits of their length. */
    private final Map<Integer, Long> histogram = new TreeMap<>();

    private final Map<String, long[]> partitions = new HashMap<>();

    void add(FileList.Entry file) {
      int bits = Long.SIZE - Long.numberOfLeadingZeros(Math.max(0, file.size()));
      histogram.merge(bits, 1L, Long::sum);
      int slash = file.path().lastIndexOf('/');
      String partition = slash < 0 ? "." : file.path().substring(0, slash);
      long[] total = partitions.computeIfAbsent(partition, name -> new long[2]);
      total[0]++;
      total[1] += file.size();
    }

    /** Of [bits, files], where a file of n bits has fewer than 2^n bytes. */
    List<List<Object>> histogram() {
      return histogram.entrySet().stream()
          .map(bucket -> List.<Object>of(bucket.getKey(), bucket.getValue()))
          .collect(Collectors.toList());
    }

    /** Of [name, files, bytes]. */
    List<List<Object>> partitions() {
      return partitions.entrySet().stream()
          .map(one -> List.<Object>of(one.getKey(), one.getValue()[0], one.getValue()[1]))
          .collect(Collectors.toList());
    }
  }
}
