package io.manifestcommitter.cli;

import io.manifestcommitter.CommitterConfig;
import io.manifestcommitter.StagingRoot;
import io.manifestcommitter.journal.Recovery;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.Stores;
import java.io.FileDescriptor;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * Recovers the jobs that died while they committed into a table: takes them back, or finishes those
 * that were past their point of no return. Running it twice changes nothing more.
 *
 * <pre>
 * hadoop jar manifest-committer.jar io.manifestcommitter.cli.Recover abfs://c@a.dfs.core.windows.net/table
 * spark-submit --class io.manifestcommitter.cli.Recover manifest-committer.jar gs://bucket/table
 * </pre>
 */
public final class Recover {
  private static final int OK = 0;
  private static final int FAILED = 1;
  private static final int WRONG_USAGE = 2;

  private static final String FORCE = "--force";

  private static final String USAGE =
      String.join(
          System.lineSeparator(),
          "Usage: Recover [--force] [--properties-file file] [-D key=value]... <table>...",
          "",
          "Recovers the jobs of the manifest committer that died while they committed into a table:",
          "a job that had not come to its point of no return is taken back, one that had is finished.",
          "A job that shows signs of life is left alone.",
          "",
          "  --force                 also a job that shows signs of life: only if you know it is dead",
          "  --properties-file file  settings as in spark-defaults.conf; those of Hadoop are used",
          "  -D key=value            an option of Hadoop, such as an account's key",
          "  --help                  this text",
          "",
          "Exit code: 0 no unfinished commit is left; 1 one is, or a table could not be read; 2 wrong",
          "usage.");

  private final PrintStream out;
  private final PrintStream err;

  Recover(PrintStream out, PrintStream err) {
    this.out = out;
    this.err = err;
  }

  /** Runs the program and ends the JVM with its exit code. */
  public static void main(String[] args) {
    PrintStream out = CommandLine.utf8(FileDescriptor.out);
    PrintStream err = CommandLine.utf8(FileDescriptor.err);
    int code = new Recover(out, err).run(args);
    out.flush();
    err.flush();
    System.exit(code);
  }

  /**
   * Runs the program.
   *
   * @return its exit code
   */
  int run(String... args) {
    CommandLine line;
    CommitterConfig config;
    try {
      line = CommandLine.parse(Set.of(FORCE), args);
      config = new CommitterConfig(line.conf());
    } catch (CommandLine.UsageException | IllegalArgumentException e) {
      err.println("Recover: " + e.getMessage() + ".");
      err.println(USAGE);
      return WRONG_USAGE;
    }
    if (line.help()) {
      out.println(USAGE);
      return OK;
    }
    int code = OK;
    for (String table : line.paths()) {
      code = Math.max(code, recover(table, line.conf(), config, line.has(FORCE)));
    }
    return code;
  }

  private int recover(String table, Configuration conf, CommitterConfig config, boolean force) {
    int code = OK;
    try {
      Stores stores = new Stores(conf, config.requestGate(() -> {}));
      Path resolved = stores.resolve(new Path(table));
      Store store = stores.all();
      Recovery recovery = new Recovery(store, config, force);
      List<StagingRoot> unfinished = recovery.find(resolved);
      if (unfinished.isEmpty()) {
        out.println(Humane.line(table) + ": no unfinished commit");
      }
      for (StagingRoot root : unfinished) {
        code = Math.max(code, recover(recovery, root));
      }
    } catch (IOException | IllegalArgumentException e) {
      err.println("Recover: " + Humane.line(table) + ": " + e.getMessage());
      code = FAILED;
    }
    return code;
  }

  private int recover(Recovery recovery, StagingRoot root) {
    try {
      out.println(root.root() + ": " + told(recovery.run(root)));
      return OK;
    } catch (IOException e) {
      err.println("Recover: " + root.root() + ": " + e.getMessage());
      for (Throwable suppressed : e.getSuppressed()) {
        err.println("  " + suppressed.getMessage());
      }
      return FAILED;
    }
  }

  private static String told(Recovery.Outcome outcome) {
    switch (outcome) {
      case TAKEN_BACK:
        return "taken back; the table is as it was before the job";
      case FINISHED:
        return "finished; the table has the job's data";
      default:
        return "was finished; what it left was removed";
    }
  }
}
