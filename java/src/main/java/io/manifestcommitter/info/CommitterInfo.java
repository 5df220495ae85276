// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import io.manifestcommitter.cli.CommandLine;
import io.manifestcommitter.cli.CommandLine.Setting;
import io.manifestcommitter.cli.Json;
import io.manifestcommitter.cli.Program;
import io.manifestcommitter.info.JobSettings.Origin;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URISyntaxException;
import java.nio.file.Paths;
import java.security.CodeSource;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.functional.FunctionRaisingIOE;

/**
 * Tells which committer the jobs that write to a path get, from which setting, and what is wrong
 * with it. The committer is made as jobs make theirs; nothing is written.
 *
 * <pre>
 * hadoop jar manifest-committer.jar io.manifestcommitter.info.CommitterInfo abfs://c@a.dfs.core.windows.net/table
 * spark-submit --class io.manifestcommitter.info.CommitterInfo manifest-committer.jar gs://bucket/table
 * </pre>
 */
public final class CommitterInfo extends Program {
  CommitterInfo(PrintStream out, PrintStream err) {
    super(
        out,
        err,
        "Usage: CommitterInfo [--json] [--properties-file file] [-D key=value]... <path>...",
        "",
        "Shows which committer a job that writes to a path gets, which setting chose it, and what is",
        "wrong with it. MapReduce jobs and Spark's RDD writers get one from Hadoop's committer",
        "factories, Spark SQL and DataFrames from Spark's commit protocol. Writes nothing.",
        "",
        "  --json                  one line of JSON for each path",
        SETTINGS,
        "Without any setting of Spark, it says nothing about the commit protocol.",
        "",
        "Exit code: 0 the manifest committer commits what is written to every path, and nothing is",
        "wrong; 1 it does not, or something is wrong; 2 wrong usage.");
  }

  /** Runs the program and ends the JVM with its exit code. */
  public static void main(String[] args) {
    runAndExit(args, CommitterInfo::new);
  }

  /**
   * Looks at a path as a running Spark session sees it. Called by the Python package, through the
   * class loader that has this class.
   *
   * @param jobs Hadoop's configuration of the SparkContext, which RDD writers use
   * @param sql Hadoop's configuration of the session
   * @param loader the session's class loader
   * @param spark the session's settings, see {@link SparkSettings#parse}
   * @param jar the package's jar
   * @return an object, see {@link CommitterReport#toMap}
   */
  public static String ofSession(
      Configuration jobs,
      Configuration sql,
      ClassLoader loader,
      String spark,
      String path,
      String jar)
      throws IOException {
    JobSettings settings =
        new JobSettings(jobs, sql, SparkSettings.parse(spark), loader, Origin.SESSION);
    return Json.line(CommitterReport.of(path, settings, Probe.PATIENCE, jar).toMap());
  }

  /**
   * Looks at a path on a Spark Connect server. Called by the Python package through SQL's {@code
   * java_method}, so in a task. It knows what the client can see of the session, and the server's
   * own Hadoop files; no store is opened.
   *
   * @param spark all settings of the session, those of Hadoop among them
   * @return as {@link #ofSession}
   */
  public static String ofConnect(String spark, String path, String jar) throws IOException {
    SparkSettings session = SparkSettings.parse(spark);
    Configuration conf = session.hadoopConfiguration();
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    conf.setClassLoader(loader);
    JobSettings settings = new JobSettings(conf, conf, session, loader, Origin.CONNECT_SERVER);
    return Json.line(CommitterReport.of(path, settings, Probe.PATIENCE, jar).toMap());
  }

  @Override
  protected FunctionRaisingIOE<String, Integer> action(CommandLine line) {
    JobSettings settings = settings(line);
    return path -> {
      CommitterReport report = CommitterReport.of(path, settings, Probe.PATIENCE, jar());
      if (line.has("--json")) {
        out.println(Json.line(report.toMap()));
      } else {
        printPlain(path + ": " + (report.ok() ? "ok" : "not ok"), report.toMap());
      }
      return report.ok() ? OK : FAILED;
    };
  }

  private static JobSettings settings(CommandLine line) {
    Map<String, Setting> spark = line.spark;
    boolean known = line.submitted() || !spark.isEmpty();
    if (known && !line.sets(SparkSettings.ALGORITHM)) {
      SparkSettings.setDefaults(line.conf);
    }
    return new JobSettings(
        line.conf,
        line.conf,
        known ? SparkSettings.of(spark) : SparkSettings.unknown(),
        line.conf.getClassLoader(),
        line.submitted() ? Origin.SPARK_SUBMIT : Origin.FILES);
  }

  /** Where this class comes from. */
  private static String jar() {
    CodeSource source = CommitterInfo.class.getProtectionDomain().getCodeSource();
    try {
      return source == null
          ? "manifest-committer-" + ClassNames.version() + ".jar"
          : Paths.get(source.getLocation().toURI()).toString();
    } catch (URISyntaxException e) {
      return source.getLocation().toString();
    }
  }
}
