// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import io.manifestcommitter.jobs.StagedJob;
import io.manifestcommitter.store.Stores;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * Multipart uploads below a table on S3 that no job completes any more: of task attempts that Spark
 * lost, of drivers that died before their job commit. Nobody knows their ids; hadoop-aws has a tool
 * that lists them, {@code hadoop s3guard uploads}, which tells on standard output what it does.
 */
final class OldUploads {
  private static final String TOOL = "org.apache.hadoop.fs.s3a.s3guard.S3GuardTool";

  private final Configuration conf;
  private final CleanedJob.Rule rule;
  private final PrintStream out;

  OldUploads(Configuration conf, CleanedJob.Rule rule, PrintStream out) {
    this.conf = conf;
    this.rule = rule;
    this.out = out;
  }

  /**
   * Aborts those that are older than the rule says, or lists them.
   *
   * @param name of the table
   * @param jobs what was in the table, and what became of it
   * @throws IOException if a job there may still need its uploads, and what the tool fails with
   */
  void run(String name, List<CleanedJob> jobs) throws IOException {
    Stores stores = new Stores(conf);
    Path table = stores.resolve(new Path(name));
    if (!stores.all().traits(table).completesUploads()) {
      throw new IOException("there are no uploads on its store: leave --uploads out");
    }
    for (CleanedJob cleaned : jobs) {
      StagedJob job = cleaned.job();
      if (!rule.dryRun() && !cleaned.isRemoved() && job.state() != StagedJob.State.ABANDONED) {
        throw new IOException(
            "the uploads are left as they are: "
                + job.root()
                + " is "
                + job.state().name().toLowerCase(Locale.ROOT)
                + " and may need some. Wait for it, or recover it");
      }
    }
    List<String> arguments = new ArrayList<>(List.of("uploads"));
    arguments.addAll(rule.dryRun() ? List.of("-list") : List.of("-abort", "-force"));
    arguments.add("-seconds");
    arguments.add(Long.toString(TimeUnit.MILLISECONDS.toSeconds(rule.olderThan() + 999)));
    // Without the slash Hadoop 3.3 takes those of tables whose names begin alike, too.
    arguments.add(table + "/");
    runTool(arguments.toArray(new String[0]));
  }

  private void runTool(String[] arguments) throws IOException {
    int code;
    PrintStream before = System.out;
    System.setOut(out);
    try {
      code =
          (int)
              conf.getClassByName(TOOL)
                  .getMethod("run", Configuration.class, String[].class)
                  .invoke(null, conf, arguments);
    } catch (InvocationTargetException e) {
      throw new IOException("the uploads could not be read: " + e.getCause(), e.getCause());
    } catch (ReflectiveOperationException | LinkageError e) {
      throw new IOException(
          "hadoop-aws, of the version of Hadoop, and its AWS SDK are not on the class path ("
              + e
              + "): give their jars with --class-path",
          e);
    } finally {
      System.setOut(before);
    }
    if (code != 0) {
      throw new IOException("'hadoop s3guard uploads' ended with " + code);
    }
  }
}
