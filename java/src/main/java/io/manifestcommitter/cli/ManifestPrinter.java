// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.FileList;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.manifest.TaskManifest;
import io.manifestcommitter.store.StorePaths;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.FunctionRaisingIOE;

/**
 * Prints the files that a committer leaves, for people or for machines: {@code _SUCCESS}, reports,
 * lists of files and task manifests, of this committer and of Hadoop's.
 *
 * <pre>
 * hadoop jar manifest-committer.jar io.manifestcommitter.cli.ManifestPrinter abfs://c@a.dfs.core.windows.net/table
 * spark-submit --class io.manifestcommitter.cli.ManifestPrinter manifest-committer.jar gs://bucket/table/_SUCCESS
 * </pre>
 */
public final class ManifestPrinter extends Program {
  ManifestPrinter(PrintStream out, PrintStream err) {
    super(
        out,
        err,
        "Usage: ManifestPrinter [--json] [--missing-ok] [--properties-file file] [-D key=value]...",
        "                       <path>...",
        "",
        "Prints what a committer wrote, from any filesystem that Hadoop knows. A path is one of",
        "  a table's directory, for its _SUCCESS",
        "  a _SUCCESS file or a job's summary report",
        "  a _SUCCESS.files file, the complete list of a job's files",
        "  a task manifest",
        "",
        "  --json                  one line of JSON for each path",
        "  --json-reports          the same for a job's report only",
        MISSING,
        SETTINGS,
        "Exit code: 0 all printed; 1 a path was not found, unreadable or damaged; 2 wrong usage.");
  }

  /** Runs the program and ends the JVM with its exit code. */
  public static void main(String[] args) {
    runAndExit(args, ManifestPrinter::new);
  }

  @Override
  protected FunctionRaisingIOE<String, Integer> action(CommandLine line) {
    return path -> {
      try {
        print(path, line.conf, line.has("--json"), line.has("--json-reports"));
        return OK;
      } catch (IOException | RuntimeException e) {
        if (line.has("--json")) {
          String message = explain(path, line.conf, e);
          out.println(Json.line(new Json.Fields().with("path", path).with("error", message)));
        }
        throw e;
      }
    };
  }

  private void print(String name, Configuration conf, boolean asJson, boolean reportAsJson)
      throws IOException {
    Path path = StorePaths.plain(new Path(name));
    FileSystem fs = path.getFileSystem(conf);
    FileStatus status =
        NothingThereException.unlessMissing(fs.makeQualified(path), () -> fs.getFileStatus(path));
    if (status.isDirectory()) {
      status = reportOf(fs, status.getPath());
    }
    Path file = status.getPath();
    String origin = file.toString();
    if (FileList.isOne(read(fs, file, Math.min(2, status.getLen())))) {
      printFileList(fs, file, asJson);
      return;
    }
    if (status.getLen() > TaskManifest.MAX_BYTES) {
      throw new CorruptManifestException(
          origin
              + " has "
              + Humane.bytes(status.getLen())
              + ", so it is no file of a committer."
              + " Give a table's directory or its _SUCCESS");
    }
    byte[] content = read(fs, file, status.getLen());
    // Names and directories are the user's to choose. Also of a damaged file, what it was makes the
    // message say more. An empty one is most likely a _SUCCESS.
    String text = new String(content, StandardCharsets.ISO_8859_1);
    String kind = "task_manifest";
    String title = "Task manifest " + origin;
    if (content.length == 0 || text.contains(SuccessReport.NAME)) {
      SuccessReport report = SuccessReport.parse(content, origin);
      String job = report.jobId().isEmpty() ? "(without id)" : report.jobId();
      String outcome = report.success() ? " succeeded" : " FAILED";
      kind = "success_report";
      title = "Job report " + origin + ": job " + job + outcome;
    } else if (text.contains(TaskManifest.TYPE)) {
      TaskManifest.parseForeign(content, origin);
    } else {
      throw new CorruptManifestException(
          origin
              + " is not a file of a manifest committer: it has neither the type of a task manifest"
              + " nor the name of a job report. Give a table's directory, its _SUCCESS, a job's"
              + " summary report, its list of files or a task manifest");
    }
    // As it stands in the file: so fields that only others know are not lost.
    JsonNode document = Json.read(content);
    if (asJson || (reportAsJson && kind.equals("success_report"))) {
      out.println(Json.line(head(origin, kind).with("content", document)));
    } else {
      printPlain(title, document);
    }
  }

  /**
   * Reads the list twice: nothing of a damaged one is printed, and not more than a line is held.
   */
  private void printFileList(FileSystem fs, Path file, boolean asJson) throws IOException {
    String origin = file.toString();
    long bytes = 0;
    try (FileList list = FileList.read(fs.open(file), origin)) {
      for (Optional<FileList.Entry> e = list.next(); e.isPresent(); e = list.next()) {
        bytes += e.get().size;
      }
    }
    try (FileList list = FileList.read(fs.open(file), origin)) {
      Json.Fields content =
          new Json.Fields()
              .with("jobId", list.jobId)
              .with("table", list.table.toUri().toString())
              .with("files", list.count)
              .with("bytes", bytes);
      if (!asJson) {
        printPlain("List of files " + origin, content);
        for (Optional<FileList.Entry> e = list.next(); e.isPresent(); e = list.next()) {
          String size = Humane.size(e.get().size);
          out.println("    " + Humane.line(e.get().path) + " (" + size + ")");
        }
        return;
      }
      String before = Json.line(head(origin, "file_list").with("content", content));
      out.print(before.substring(0, before.length() - 2) + ",\"entries\":[");
      String comma = "";
      for (Optional<FileList.Entry> e = list.next(); e.isPresent(); e = list.next()) {
        Json.Fields entry = new Json.Fields().with("path", e.get().path).with("size", e.get().size);
        if (!e.get().etag.isEmpty()) {
          entry.with("etag", e.get().etag);
        }
        out.print(comma + Json.line(entry));
        comma = ",";
      }
      out.println("]}}");
    }
  }

  private static Json.Fields head(String origin, String kind) {
    return new Json.Fields().with("path", origin).with("kind", kind);
  }

  private static FileStatus reportOf(FileSystem fs, Path directory) throws IOException {
    FileStatus report;
    try {
      report = fs.getFileStatus(new Path(directory, JobPaths.SUCCESS_MARKER));
    } catch (FileNotFoundException e) {
      throw new CorruptManifestException(
          "There is no "
              + JobPaths.SUCCESS_MARKER
              + " in "
              + directory
              + ": no job has finished there, or the last"
              + " one ran with mapreduce.fileoutputcommitter.marksuccessfuljobs=false. Look for the"
              + " job's report in mapreduce.manifest.committer.summary.report.directory if that is"
              + " set",
          e);
    }
    if (report.isDirectory()) {
      throw new CorruptManifestException(
          report.getPath()
              + " is a directory, and so no report: no job has left one in "
              + directory
              + ". Move it away, so that a job can");
    }
    return report;
  }

  private static byte[] read(FileSystem fs, Path file, long length) throws IOException {
    try (FSDataInputStream in = fs.open(file)) {
      return in.readNBytes(Math.toIntExact(length));
    }
  }

  @Override
  protected String told(String path, Exception e) {
    if (e instanceof CorruptManifestException || e instanceof NothingThereException) {
      return e.getMessage();
    }
    if (e instanceof IllegalArgumentException) {
      return path
          + " cannot be used as a path ("
          + e.getMessage()
          + "). Write it as a full URI, such as"
          + " hdfs://host/table/_SUCCESS, or for a name with a colon as ./name";
    }
    return path
        + " cannot be read ("
        + e
        + "). Check that the store can be reached with the settings in HADOOP_CONF_DIR and those that"
        + " you give, and that you may read there";
  }
}
