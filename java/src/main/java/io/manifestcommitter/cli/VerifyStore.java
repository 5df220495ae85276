// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import io.manifestcommitter.proofs.StoreProof;
import io.manifestcommitter.proofs.StoreProofs;
import java.io.IOException;
import java.io.PrintStream;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

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
        "Usage: VerifyStore [--json] [--properties-file file] [-D key=value]... <directory>...",
        "",
        "Tries on a real store (abfs, abfss, gs, or a scheme that the committer does not know) what",
        "the manifest committer relies on: renames, conditions, listings. Writes about a hundred",
        "small files into a fresh directory below the given one, and deletes it at the end. Prints",
        "what held, and what did not.",
        "",
        "  --json                  one line of JSON for each answer",
        SETTINGS,
        "Exit code: 0 everything that is relied on held; 1 something did not, or could not be tried;",
        "2 wrong usage.");
  }

  /** Runs the program and ends the JVM with its exit code. */
  public static void main(String[] args) {
    runAndExit(args, VerifyStore::new);
  }

  @Override
  protected Action action(CommandLine line) {
    return directory -> verify(directory, line.conf(), line.has("--json"));
  }

  private int verify(String directory, Configuration conf, boolean json) throws IOException {
    AtomicBoolean isFine = new AtomicBoolean(true);
    try {
      StoreProofs proofs = StoreProofs.of(new Path(directory), conf);
      if (!json) {
        out.println(Humane.line(proofs.about()) + "; tried in " + proofs.directory().getName());
      }
      proofs.run(
          proof -> {
            isFine.compareAndSet(true, proof.isFine());
            out.println(json ? json(directory, proof) : text(proof));
            out.flush();
          });
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return FAILED;
    }
    return isFine.get() ? OK : FAILED;
  }

  private static String text(StoreProof proof) {
    return String.format(
        "%-9s %s (%s):%n          %s",
        proof.verdict(), proof.statement(), proof.name(), Humane.line(proof.seen()));
  }

  private static String json(String directory, StoreProof proof) {
    return Json.line(
        new Json.Fields()
            .with("directory", directory)
            .with("name", proof.name())
            .with("statement", proof.statement())
            .with("verdict", proof.verdict().name())
            .with("seen", proof.seen()));
  }
}
