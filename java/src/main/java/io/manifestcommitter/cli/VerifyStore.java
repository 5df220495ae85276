// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import io.manifestcommitter.proofs.StoreProof;
import io.manifestcommitter.proofs.StoreProofs;
import java.io.IOException;
import java.io.PrintStream;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.FunctionRaisingIOE;

/**
 * Tries on a real store what the committer relies on there, and tells what held. For a bucket or
 * account that nobody has seen the committer with, before data is trusted to it.
 *
 * <pre>
 * hadoop jar manifest-committer.jar io.manifestcommitter.cli.VerifyStore gs://bucket/scratch
 * spark-submit --class io.manifestcommitter.cli.VerifyStore manifest-committer.jar abfs://c@a.dfs.core.windows.net/scratch
 * </pre>
 */
public final class VerifyStore extends Program {
  VerifyStore(PrintStream out, PrintStream err) {
    super(
        out,
        err,
        "Usage: VerifyStore [--json] [--verbose] [--properties-file file] [-D key=value]...",
        "                   <directory>...",
        "",
        "Tries on a real store (abfs, abfss, gs, or a scheme that the committer does not know) what",
        "the manifest committer relies on: renames, conditions, listings. Writes about a hundred",
        "small files into a fresh directory below the given one, and deletes it at the end. Prints",
        "a line for each: as needed, NOT as needed, no answer (a request failed), or not seen (the",
        "case did not come up).",
        "",
        "  --json                  one line of JSON for each answer",
        "  --verbose               also what the store did, for each",
        SETTINGS,
        "Exit code: 0 all is as needed; 1 something is not, or could not be tried; 2 wrong usage.");
  }

  /** Runs the program and ends the JVM with its exit code. */
  public static void main(String[] args) {
    runAndExit(args, VerifyStore::new);
  }

  @Override
  protected FunctionRaisingIOE<String, Integer> action(CommandLine line) {
    return directory -> verify(directory, line.conf, line.has("--json"), line.has("--verbose"));
  }

  private int verify(String directory, Configuration conf, boolean json, boolean verbose)
      throws IOException {
    AtomicInteger bad = new AtomicInteger();
    try {
      StoreProofs proofs = StoreProofs.of(new Path(directory), conf);
      String asked = Humane.count(proofs.count(), "question");
      if (!json) {
        String about = verbose ? ", " + proofs.about() : "";
        out.println(Humane.line(directory) + ": " + asked + about);
      }
      proofs.run(
          proof -> {
            bad.addAndGet(proof.isFine() ? 0 : 1);
            out.println(json ? json(directory, proof) : text(proof, verbose));
            out.flush();
          });
      if (!json) {
        out.println(
            bad.get() == 0
                ? "The store does what the committer relies on"
                : "Do not commit to this store: "
                    + bad
                    + " of "
                    + asked
                    + " are not as needed, or got no answer");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return FAILED;
    }
    return bad.get() == 0 ? OK : FAILED;
  }

  /** One line, with what the store did if that is not as needed. */
  private static String text(StoreProof proof, boolean verbose) {
    String line = String.format("  %-13s  %s", proof.verdict, proof.statement);
    String seen = Humane.line(proof.seen);
    if (verbose) {
      return String.format("%s (%s)%n  %-13s  %s", line, proof.name, "", seen);
    }
    return proof.isFine() ? line : line + ": " + seen;
  }

  private static String json(String directory, StoreProof proof) {
    return Json.line(
        new Json.Fields()
            .with("directory", directory)
            .with("name", proof.name)
            .with("statement", proof.statement)
            .with("verdict", proof.verdict.name())
            .with("seen", proof.seen));
  }
}
