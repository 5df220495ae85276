// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import io.manifestcommitter.cli.CommandLine.UsageException;
import java.io.PrintStream;
import org.apache.hadoop.util.functional.FunctionRaisingIOE;

/** Answers a question of the Python package's command line, about each path. */
public final class Ask extends Program {
  Ask(PrintStream out, PrintStream err) {
    super(
        out,
        err,
        "Usage: Ask --question word [--given object] [--missing-ok] [--properties-file file]",
        "           [-D key=value]... <path>...",
        "",
        "Answers what the Python package asks: a line of JSON for each path.",
        "",
        "  --question word         what is asked, such as held",
        "  --given object          what the question needs more than a path, in JSON",
        MISSING,
        SETTINGS,
        "Exit code: 0 answered; 1 a path could not be looked at; 2 wrong usage.");
  }

  /** Runs the program and ends the JVM with its exit code. */
  public static void main(String[] args) {
    runAndExit(args, Ask::new);
  }

  @Override
  protected FunctionRaisingIOE<String, Integer> action(CommandLine line) throws UsageException {
    line.config();
    String question = line.value("--question").orElse("");
    String given = line.value("--given").orElse("{}");
    return path -> {
      out.println(Answers.value(line.conf, question, path, given));
      return OK;
    };
  }
}
