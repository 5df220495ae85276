// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import java.io.PrintStream;
import java.util.Set;

/**
 * How a program of the command line is used: its name, its own options, and the text that explains
 * them. Runs it, and says what all of them say alike.
 */
public final class Usage {
  /** The exit code of a program that did what it was asked for. */
  public static final int OK = 0;

  /** That of one that could not, or found something wrong. */
  public static final int FAILED = 1;

  private static final int WRONG_USAGE = 2;

  private final String name;
  private final Set<String> flags;
  private final Set<String> named;
  private final String text;

  /**
   * Of a program.
   *
   * @param flags its own options that take no value, such as {@code --force}
   * @param named those that take one
   * @param lines what {@code --help} prints
   */
  public Usage(String name, Set<String> flags, Set<String> named, String... lines) {
    this.name = name;
    this.flags = flags;
    this.named = named;
    this.text = String.join(System.lineSeparator(), lines);
  }

  /** Of a program that has only the options of all. */
  public Usage(String name, String... lines) {
    this(name, Set.of(), Set.of(), lines);
  }

  /** What a program does with its arguments. */
  @FunctionalInterface
  public interface Body {
    /**
     * Does it.
     *
     * @return {@link #OK} or {@link #FAILED}
     * @throws CommandLine.UsageException if the arguments are wrong
     */
    int run(CommandLine line) throws CommandLine.UsageException;
  }

  /**
   * Runs a program, or tells how to use it: on request, or because its arguments are wrong.
   *
   * @return its exit code
   */
  public int run(String[] args, PrintStream out, PrintStream err, Body body) {
    try {
      CommandLine line = CommandLine.parse(flags, named, args);
      if (line.help()) {
        out.println(text);
        return OK;
      }
      return body.run(line);
    } catch (CommandLine.UsageException e) {
      err.println(name + ": " + e.getMessage() + ".");
      err.println(text);
      return WRONG_USAGE;
    } catch (Error e) {
      return failed(err, e + told(e));
    }
  }

  /** What to do about an error that is no failure of a request. */
  private static String told(Error e) {
    if (e instanceof LinkageError) {
      return ". Its classes do not fit together: use the jars of one release of Hadoop and of the"
          + " store's connector, and run this again";
    }
    return e instanceof VirtualMachineError
        ? ". Run this again with more memory, as by HADOOP_CLIENT_OPTS=-Xmx4g"
        : "";
  }

  /**
   * Says what went wrong.
   *
   * @return {@link #FAILED}
   */
  int failed(PrintStream err, String why) {
    err.println(name + ": " + Humane.line(why));
    return FAILED;
  }

  /** Says what went wrong with a path; as {@link #failed(PrintStream, String)}. */
  int failed(PrintStream err, String path, Exception why) {
    return failed(err, path + ": " + reason(why));
  }

  /** What an exception says, if it says anything. */
  static String reason(Exception why) {
    return why.getMessage() == null ? why.toString() : why.getMessage();
  }
}
