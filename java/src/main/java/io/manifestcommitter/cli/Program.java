// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import io.manifestcommitter.cli.CommandLine.UsageException;
import io.manifestcommitter.store.Stores;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.UnsupportedFileSystemException;
import org.apache.hadoop.util.functional.FunctionRaisingIOE;

/**
 * A program of the command line: its own options, the text that explains them, and what it does
 * with each of its paths. A path that fails does not keep it from the others.
 */
public abstract class Program {
  /** The exit code of a program that did what it was asked for. */
  public static final int OK = 0;

  /** The exit code of a program that could not do it, or found something wrong. */
  public static final int FAILED = 1;

  private static final int WRONG_USAGE = 2;

  /** How another program calls this one, whose users know that one's options instead of ours. */
  private static final String CALLED = "manifest.committer.called";

  private static final String MISSING_OK = "--missing-ok";

  /** Of programs that look at something that a job has left. */
  static final String MISSING =
      "  --missing-ok            a path where nothing is counts as done, and is told";

  /** The end of each table of options. */
  protected static final String SETTINGS =
      String.join(
          System.lineSeparator(),
          "  --properties-file file  settings, as in spark-defaults.conf",
          "  -D key=value            a setting of Hadoop, such as an account's key, or of Spark",
          "  --help                  this text",
          "");

  private static final Pattern OPTION = Pattern.compile("  (--[a-z-]+)( \\w+)?  .*");

  protected final PrintStream out;
  protected final PrintStream err;
  private final String usage;
  private final Set<String> flags = new HashSet<>();
  private final Set<String> named = new HashSet<>();

  /**
   * A program.
   *
   * @param usage the lines that {@code --help} prints. Those that begin with two spaces and two
   *     dashes are the program's own options; a word after the name stands for a value
   */
  protected Program(PrintStream out, PrintStream err, String... usage) {
    this.out = out;
    this.err = err;
    this.usage = String.join(System.lineSeparator(), usage);
    for (String line : usage) {
      Matcher option = OPTION.matcher(line);
      if (option.matches()) {
        (option.group(2) == null ? flags : named).add(option.group(1));
      }
    }
  }

  /**
   * What to do with each path, which ends as {@link #OK} or {@link #FAILED}.
   *
   * @throws UsageException if the options are wrong
   */
  protected abstract FunctionRaisingIOE<String, Integer> action(CommandLine line)
      throws UsageException;

  /**
   * Runs the program, or tells how to use it: on request, or because its arguments are wrong.
   *
   * @return its exit code
   */
  public final int run(String... args) {
    try {
      CommandLine line = CommandLine.parse(flags, named, args);
      if (line.help) {
        out.println(usage);
        return OK;
      }
      FunctionRaisingIOE<String, Integer> action = action(line);
      int code = OK;
      for (String path : line.paths) {
        code = Math.max(code, run(action, line, path));
      }
      return code;
    } catch (UsageException e) {
      failed(e.getMessage());
      if (System.getProperty(CALLED) == null) {
        err.println(usage);
      }
      return WRONG_USAGE;
    } catch (Error e) {
      return failed(e + told(e));
    }
  }

  private int run(FunctionRaisingIOE<String, Integer> action, CommandLine line, String path) {
    try {
      return action.apply(path);
    } catch (NothingThereException e) {
      if (line.has(MISSING_OK)) {
        (line.has("--json") ? err : out).println(Humane.line(e.getMessage()));
        return OK;
      }
      return failed(e.getMessage());
    } catch (IOException | RuntimeException e) {
      return failed(explain(path, line.conf, e));
    }
  }

  /** Why a path failed, and what to do; where its connector is missing, where that is. */
  protected final String explain(String path, Configuration conf, Exception e) {
    // A connector's problems reach us in both forms.
    boolean isMissing =
        e instanceof UnsupportedFileSystemException
            || (e instanceof RuntimeException && Stores.missingClass(e).isPresent());
    String how = System.getProperty(CALLED) == null ? "Put it" : "Put it, by --class-path,";
    return isMissing
        ? Stores.missingConnector(new Path(path), conf, e)
            + ". "
            + how
            + " on the class path, with all that it needs. 'manifest-committer info' names the"
            + " settings that it needs, too"
        : told(path, e);
  }

  /** What to do about an error that is no failure of a request. */
  private static String told(Error e) {
    if (e instanceof LinkageError) {
      return ". Its classes do not fit together: use the jars of one release of Hadoop and of the"
          + " store's connector, and run this again";
    }
    return e instanceof VirtualMachineError
        ? ". Run this again with more memory, as by JAVA_TOOL_OPTIONS=-Xmx4g"
        : "";
  }

  /**
   * Says what went wrong.
   *
   * @return {@link #FAILED}
   */
  protected final int failed(String why) {
    err.println(name() + ": " + Humane.line(why));
    return FAILED;
  }

  /** What messages begin with. */
  protected final String name() {
    return System.getProperty(CALLED, getClass().getSimpleName());
  }

  /** What an exception says of a path. */
  protected String told(String path, Exception why) {
    return path + ": " + (why.getMessage() == null ? why : why.getMessage());
  }

  /** Prints a document for people who do not have our Python package, which prints it better. */
  protected final void printPlain(String title, Object document) {
    out.println(Humane.line(title));
    Json.indented(document).lines().map(Humane::line).forEach(out::println);
  }

  /** Runs a program and ends the JVM with its exit code. */
  protected static void runAndExit(
      String[] args, BiFunction<PrintStream, PrintStream, Program> program) {
    PrintStream out = utf8(FileDescriptor.out);
    PrintStream err = utf8(FileDescriptor.err);
    // What libraries print, such as a log without settings, is no part of the answer.
    System.setOut(err);
    int code = program.apply(out, err).run(args);
    out.flush();
    err.flush();
    System.exit(code);
  }

  /** A stream to the process's own that writes names as they are, whatever the locale. */
  private static PrintStream utf8(FileDescriptor descriptor) {
    return new PrintStream(new FileOutputStream(descriptor), false, StandardCharsets.UTF_8);
  }
}
