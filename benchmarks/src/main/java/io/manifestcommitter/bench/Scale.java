// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Commits jobs of a million files in a small heap, and checks every one of them: with the Hadoop
 * protocol, whose manifests are made first, here; and with the Spark protocol into new partitions,
 * into one, into a table that has none, into partitions that exist, and on S3. Each commit has a
 * JVM of its own.
 *
 * <pre>
 * --job hadoop,spark-new,spark-one,spark-root,spark-append,spark-s3
 * --tasks 10000 --files-per-task 100
 * --partitions ""    500 in the Hadoop protocol, 2000 in the Spark protocol
 * --heap ""          of the JVM that commits: 256m in the Hadoop protocol, 512m in the Spark protocol, 1g on S3
 * --jvm ""           more options of that JVM, with spaces between them
 * </pre>
 *
 * <p>Ends with an exit code other than 0 if a commit fails, or leaves anything wrong.
 */
public final class Scale {
  private static final String HADOOP = "hadoop";

  private final CommandLine options;

  private Scale(CommandLine options) {
    this.options = options;
  }

  /** Runs them. */
  public static void main(String[] args) throws IOException {
    new Scale(
            new CommandLine(
                args,
                Map.of(
                    "job", "hadoop,spark-new,spark-one,spark-root,spark-append,spark-s3",
                    "tasks", "10000",
                    "files-per-task", "100",
                    "partitions", "",
                    "heap", "",
                    "jvm", "")))
        .run();
  }

  private void run() throws IOException {
    for (String job : options.text("job").split(",", -1)) {
      Path work = Files.createTempDirectory("manifest-committer-scale");
      try {
        if (job.equals(HADOOP)) {
          hadoop(work);
        } else {
          spark(SparkScaleJob.of(job), work);
        }
      } finally {
        ScratchStore.deleteTree(work);
      }
    }
  }

  private void hadoop(Path work) throws IOException {
    String partitions = option("partitions", "500");
    ScaleJob job =
        new ScaleJob(
            options.count("tasks"), options.count("files-per-task"), Integer.parseInt(partitions));
    long bytes = ManifestArchive.write(job, work);
    System.out.printf(
        Locale.ROOT,
        "%s: %,d manifests of %,d bytes in all.%n",
        HADOOP,
        job.shape().tasks(),
        bytes);
    jvm("256m")
        .run(
            ScaleCommit.class,
            System.out::println,
            options.text("tasks"),
            options.text("files-per-task"),
            partitions,
            work.toString(),
            Files.createDirectory(work.resolve("scratch")).toString());
  }

  private void spark(SparkScaleJob job, Path work) throws IOException {
    jvm(job == SparkScaleJob.S3 ? "1g" : "512m")
        .run(
            SparkScaleCommit.class,
            System.out::println,
            job.name(),
            options.text("tasks"),
            options.text("files-per-task"),
            option("partitions", "2000"),
            work.toString());
  }

  private ChildJvm jvm(String heap) {
    List<String> jvm = new ArrayList<>();
    jvm.add("-Xmx" + option("heap", heap));
    for (String option : options.text("jvm").split(" ", -1)) {
      if (!option.isEmpty()) {
        jvm.add(option);
      }
    }
    return new ChildJvm(jvm.toArray(new String[0]));
  }

  private String option(String name, String otherwise) {
    return options.text(name).isEmpty() ? otherwise : options.text(name);
  }
}
