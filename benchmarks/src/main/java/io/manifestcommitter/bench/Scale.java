package io.manifestcommitter.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Commits a job of a million files in a small heap, and checks every one of them. The manifests are
 * made first, here; the commit then has a JVM of its own.
 *
 * <pre>
 * --tasks 10000 --files-per-task 100 --partitions 500
 * --heap 256m       of the JVM that commits
 * --jvm ""          more options of that JVM, with spaces between them
 * </pre>
 *
 * <p>Ends with an exit code other than 0 if the commit fails, or leaves anything wrong.
 */
public final class Scale {
  private Scale() {}

  /** Runs it. */
  public static void main(String[] args) throws IOException {
    CommandLine options =
        new CommandLine(
            args,
            Map.of(
                "tasks", "10000",
                "files-per-task", "100",
                "partitions", "500",
                "heap", "256m",
                "jvm", ""));
    ScaleJob job =
        new ScaleJob(
            options.count("tasks"), options.count("files-per-task"), options.count("partitions"));
    Path work = Files.createTempDirectory("manifest-committer-scale");
    try {
      run(job, options, work);
    } finally {
      ScratchStore.deleteTree(work);
    }
  }

  private static void run(ScaleJob job, CommandLine options, Path work) throws IOException {
    long bytes = ManifestArchive.write(job, work);
    System.out.printf(
        Locale.ROOT,
        "%,d manifests of %,d bytes in all; heap of the commit: %s%n",
        job.shape().tasks(),
        bytes,
        options.text("heap"));
    List<String> jvm = new ArrayList<>();
    jvm.add("-Xmx" + options.text("heap"));
    for (String option : options.text("jvm").split(" ", -1)) {
      if (!option.isEmpty()) {
        jvm.add(option);
      }
    }
    new ChildJvm(jvm.toArray(new String[0]))
        .run(
            ScaleCommit.class,
            System.out::println,
            options.text("tasks"),
            options.text("files-per-task"),
            options.text("partitions"),
            work.toString(),
            Files.createDirectory(work.resolve("scratch")).toString());
  }
}
