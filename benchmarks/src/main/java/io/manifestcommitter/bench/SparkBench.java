// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The writes of Spark SQL, by this committer, by Spark's default committers and by Hadoop's: what
 * each asks of the store, what that costs the driver, and how long it takes on stores of two
 * speeds. Printed as Markdown.
 */
final class SparkBench {
  private static final double NONE = 0;

  /** How many jobs one JVM commits until it counts as warm. */
  private static final int WARM = 3;

  private static final List<SparkContender> MANY_THREADS =
      List.of(SparkContender.OURS, SparkContender.HADOOP);

  /** In milliseconds. */
  private static final double WIDE_LATENCY = 10;

  private final String heap;
  private final int rounds;
  private final double[] latencies;

  /**
   * A benchmark.
   *
   * @param heap of each JVM
   * @param rounds on the first of the stores; one on the others, where all takes long
   * @param latencies milliseconds a request
   */
  SparkBench(String heap, int rounds, double... latencies) {
    this.heap = heap;
    this.rounds = rounds;
    this.latencies = latencies;
  }

  /** Requests, CPU and heap of a wide job. */
  void requests() throws IOException {
    SparkBenchShape shape = SparkBenchShape.WIDE;
    for (SparkWriteKind kind : SparkWriteKind.values()) {
      System.out.printf(Locale.ROOT, "%n### %s: %s%n%n", kind.title(), shape.job());
      Map<SparkContender, SparkCosts> all = costs();
      for (BenchRun.Subject subject : BenchRun.Subject.values()) {
        for (SparkContender contender : SparkContender.values()) {
          measure(all.get(contender), contender, kind, shape, NONE, subject);
        }
      }
      System.out.print(SparkTables.requests(all));
      System.out.println();
      System.out.print(SparkTables.kinds(all));
      System.out.flush();
    }
  }

  /**
   * CPU of the same wide job commit again and again in one JVM, by the two committers that know
   * their files.
   */
  void cpu() throws IOException {
    SparkBenchShape shape = SparkBenchShape.WIDE;
    for (SparkWriteKind kind : SparkWriteKind.values()) {
      Map<SparkContender, SparkWarmCosts> all = new EnumMap<>(SparkContender.class);
      for (int round = 0; round < rounds; round++) {
        for (SparkContender contender : MANY_THREADS) {
          measureWarm(
              all.computeIfAbsent(contender, unused -> new SparkWarmCosts(WARM)),
              contender,
              kind,
              shape);
        }
      }
      System.out.printf(
          Locale.ROOT, "%n### %s: %s, again in the same JVM%n%n", kind.title(), shape.job());
      System.out.print(SparkTables.cpu(all));
      System.out.flush();
    }
  }

  /** Requests that wait for one another, in a job of one file. */
  void oneFile() throws IOException {
    double latency = latencies[latencies.length - 1];
    for (SparkWriteKind kind : SparkWriteKind.values()) {
      Map<SparkContender, SparkCosts> all = costs();
      for (int round = 0; round < rounds; round++) {
        for (SparkContender contender : SparkContender.values()) {
          measure(
              all.get(contender),
              contender,
              kind,
              SparkBenchShape.ONE,
              latency,
              BenchRun.Subject.TIME);
        }
      }
      System.out.printf(
          Locale.ROOT, "%n### %s: one file, %s ms a request%n%n", kind.title(), latency);
      System.out.print(SparkTables.oneFile(all, latency));
      System.out.flush();
    }
  }

  /** Times of a small job. */
  void times() throws IOException {
    SparkBenchShape shape = SparkBenchShape.SMALL;
    for (SparkWriteKind kind : SparkWriteKind.values()) {
      System.out.printf(Locale.ROOT, "%n### %s: %s%n", kind.title(), shape.job());
      for (int i = 0; i < latencies.length; i++) {
        Map<SparkContender, SparkCosts> all = costs();
        for (int round = 0; round < (i == 0 ? rounds : 1); round++) {
          for (SparkContender contender : SparkContender.values()) {
            measure(
                all.get(contender), contender, kind, shape, latencies[i], BenchRun.Subject.TIME);
          }
        }
        System.out.printf(Locale.ROOT, "%n%s ms a request:%n%n", latencies[i]);
        System.out.print(SparkTables.times(all));
        System.out.flush();
      }
    }
  }

  /** Times of a wide job, by the two committers that rename with many threads. */
  void wide() throws IOException {
    for (SparkWriteKind kind : List.of(SparkWriteKind.NEW, SparkWriteKind.APPEND)) {
      Map<SparkContender, SparkCosts> all = costs();
      all.keySet().retainAll(MANY_THREADS);
      for (int round = 0; round < rounds; round++) {
        for (SparkContender contender : MANY_THREADS) {
          measure(
              all.get(contender),
              contender,
              kind,
              SparkBenchShape.WIDE,
              WIDE_LATENCY,
              BenchRun.Subject.TIME);
        }
      }
      System.out.printf(
          Locale.ROOT,
          "%n### %s: %s, %s ms a request%n%n",
          kind.title(),
          SparkBenchShape.WIDE.job(),
          WIDE_LATENCY);
      System.out.print(SparkTables.times(all));
      System.out.flush();
    }
  }

  private void measureWarm(
      SparkWarmCosts costs, SparkContender contender, SparkWriteKind kind, SparkBenchShape shape)
      throws IOException {
    System.err.printf(Locale.ROOT, "%s: %s, again%n", kind.title(), contender.title());
    costs.begin();
    new ChildJvm("-Xms" + heap, "-Xmx" + heap)
        .run(
            SparkWarmRun.class,
            costs::read,
            contender.name(),
            kind.name(),
            shape.name(),
            Integer.toString(WARM));
    requireRight(contender, kind, costs.verdict());
  }

  private static void requireRight(SparkContender contender, SparkWriteKind kind, String verdict)
      throws IOException {
    if (contender == SparkContender.OURS && !verdict.isEmpty()) {
      throw new IOException(kind.title() + " by this committer: " + verdict);
    }
  }

  private static Map<SparkContender, SparkCosts> costs() {
    Map<SparkContender, SparkCosts> all = new EnumMap<>(SparkContender.class);
    for (SparkContender contender : SparkContender.values()) {
      all.put(contender, new SparkCosts());
    }
    return all;
  }

  private void measure(
      SparkCosts costs,
      SparkContender contender,
      SparkWriteKind kind,
      SparkBenchShape shape,
      double latency,
      BenchRun.Subject subject)
      throws IOException {
    System.err.printf(
        Locale.ROOT, "%s: %s, %s ms, %s%n", kind.title(), contender.title(), latency, subject);
    List<String> jvm =
        subject == BenchRun.Subject.TIME
            ? List.of("-Xms" + heap, "-Xmx" + heap)
            : List.of("-Xmx" + heap, "-XX:+UseSerialGC");
    new ChildJvm(jvm.toArray(new String[0]))
        .run(
            SparkBenchRun.class,
            line -> costs.read(subject, line),
            contender.name(),
            kind.name(),
            shape.name(),
            Double.toString(latency),
            subject.name());
    requireRight(contender, kind, costs.verdict());
  }
}
