// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Runs the same jobs with our committer and with Hadoop's, side by side on a simulated store, and
 * prints what each cost as Markdown.
 *
 * <p>Every job has a JVM of its own with the same heap. Rounds go through all committers before the
 * next begins, so that a machine that is busy for a while is busy for all of them; ratios are taken
 * within a round. The heap is measured in one more run.
 *
 * <pre>
 * --protocol hadoop,spark
 * --spark requests,cpu,one,times   of the Spark protocol, which tables; also: wide
 * --shape a         of the Hadoop protocol, which jobs: a, b, c or all
 * --latency-ms      there, of every request; without it each shape has its own
 * --rounds 3        how often
 * --heap 1g         of each JVM
 * </pre>
 */
public final class Bench {
  /** The heap is measured on a faster store: what is held does not depend on how long it takes. */
  private static final int HEAP_SPEED = 10;

  private final CommandLine options;

  private Bench(CommandLine options) {
    this.options = options;
  }

  /** Runs the benchmarks. */
  public static void main(String[] args) throws IOException {
    new Bench(
            new CommandLine(
                args,
                Map.of(
                    "protocol", "hadoop,spark",
                    "spark", "requests,cpu,one,times",
                    "shape", "a",
                    "latency-ms", "",
                    "rounds", "3",
                    "heap", "1g")))
        .run();
  }

  private void run() throws IOException {
    System.out.printf(
        Locale.ROOT,
        "Java %s, %d cores, heap %s a committer, %d rounds: median (smallest–largest); ratios to"
            + " the first row, within a round.%n",
        Runtime.version().feature(),
        Runtime.getRuntime().availableProcessors(),
        options.text("heap"),
        options.count("rounds"));
    if (asks("hadoop")) {
      hadoop();
    }
    if (asks("spark")) {
      SparkBench spark = new SparkBench(options.text("heap"), options.count("rounds"), 5, 50);
      System.out.printf("%n## The Spark protocol%n");
      List<String> parts = List.of(options.text("spark").split(",", -1));
      if (parts.contains("requests")) {
        spark.requests();
      }
      if (parts.contains("cpu")) {
        spark.cpu();
      }
      if (parts.contains("one")) {
        spark.oneFile();
      }
      if (parts.contains("times")) {
        spark.times();
      }
      if (parts.contains("wide")) {
        spark.wide();
      }
    }
  }

  private boolean asks(String protocol) {
    return List.of(options.text("protocol").split(",", -1)).contains(protocol);
  }

  private void hadoop() throws IOException {
    System.out.printf("%n## The Hadoop protocol%n");
    for (BenchShape shape : shapes()) {
      double latency = latency(shape);
      System.out.printf(
          Locale.ROOT,
          "%n### %s: %s, %s ms a request%n",
          shape.name().toLowerCase(Locale.ROOT),
          shape.job(),
          latency);
      System.out.print(measure(shape, latency).toMarkdown());
      System.out.flush();
    }
  }

  private Results measure(BenchShape shape, double latency) throws IOException {
    Results results = new Results();
    int rounds = options.count("rounds");
    for (int round = 1; round <= rounds; round++) {
      for (Contender contender : Contender.values()) {
        note(shape, contender, "round " + round + " of " + rounds);
        measure(results, contender, shape, latency, BenchRun.Subject.TIME);
      }
    }
    for (Contender contender : Contender.values()) {
      note(shape, contender, "heap");
      measure(results, contender, shape, latency / HEAP_SPEED, BenchRun.Subject.HEAP);
    }
    return results;
  }

  private void measure(
      Results results,
      Contender contender,
      BenchShape shape,
      double latency,
      BenchRun.Subject subject)
      throws IOException {
    String heap = options.text("heap");
    ChildJvm jvm =
        subject == BenchRun.Subject.TIME
            ? new ChildJvm("-Xms" + heap, "-Xmx" + heap)
            // Counts what is left of the heap to the byte, not to the region.
            : new ChildJvm("-Xmx" + heap, "-XX:+UseSerialGC");
    jvm.run(
        BenchRun.class,
        line ->
            Measurement.parse(line)
                .ifPresent(measurement -> results.add(contender, subject, measurement)),
        contender.name(),
        shape.name(),
        Double.toString(latency),
        subject.name());
  }

  private double latency(BenchShape shape) {
    String latency = options.text("latency-ms");
    return latency.isEmpty() ? shape.latencyMillis() : Double.parseDouble(latency);
  }

  private List<BenchShape> shapes() {
    String names = options.text("shape");
    if (names.equals("all")) {
      return List.of(BenchShape.values());
    }
    List<BenchShape> shapes = new ArrayList<>();
    for (String name : names.split(",", -1)) {
      shapes.add(BenchShape.valueOf(name.toUpperCase(Locale.ROOT)));
    }
    return shapes;
  }

  /** Progress goes where the tables do not. */
  private static void note(BenchShape shape, Contender contender, String what) {
    System.err.printf(
        Locale.ROOT,
        "%s: %s, io.threads %s, %s%n",
        shape.name().toLowerCase(Locale.ROOT),
        contender.title(),
        contender.threads(),
        what);
  }
}
