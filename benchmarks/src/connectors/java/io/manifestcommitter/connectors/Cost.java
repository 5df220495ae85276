// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * How many requests a step takes, of each kind, as a sum of what it takes in any case, and for each
 * file, directory and task: found by measuring jobs of several shapes, and checked with one more.
 */
final class Cost {
  private static final String[] UNITS = {
    "", " a file", " a directory", " a task", " a task's directory"
  };

  /** Files of the small jobs. */
  private static final int SMALL = 16;

  /** How far the sum may be from what is counted, as a part of that. */
  private static final double TOLERANCE = 0.03;

  private final List<Map<String, Double>> parts;

  private Cost(List<Map<String, Double>> parts) {
    this.parts = parts;
  }

  /** The cost of a step of a job of several tasks. */
  static Cost ofJob(Measurement measurement) throws IOException {
    return fit(measurement, 2, 4, 3);
  }

  /** The cost of a step of one task. */
  static Cost ofTask(Measurement measurement) throws IOException {
    return fit(measurement, 1, 1, 1);
  }

  /**
   * Solves for the parts.
   *
   * @param few the tasks of the small jobs
   * @param many those of the jobs that tell what a task costs
   * @param between those of the job that the result is checked with
   */
  private static Cost fit(Measurement measurement, int few, int many, int between)
      throws IOException {
    Map<String, Long> base = measurement.of(new Shape(few, SMALL, 2));
    Map<String, Long> files = measurement.of(new Shape(few, 2 * SMALL, 2));
    Map<String, Long> directories = measurement.of(new Shape(few, SMALL, 4));
    Map<String, Long> tasks = measurement.of(new Shape(many, SMALL, 2));
    Map<String, Long> both = measurement.of(new Shape(many, SMALL, 4));
    Shape other = new Shape(between, SMALL + 8, 3);
    Map<String, Long> check = measurement.of(other);

    List<Map<String, Double>> parts = new ArrayList<>();
    for (int i = 0; i < UNITS.length; i++) {
      parts.add(new TreeMap<>());
    }
    TreeSet<String> kinds = new TreeSet<>();
    List.of(base, files, directories, tasks, both, check).forEach(m -> kinds.addAll(m.keySet()));
    double predicted = 0;
    for (String kind : kinds) {
      double atBase = of(base, kind);
      double perFile = (of(files, kind) - atBase) / SMALL;
      double perPair = 0;
      double perTask = 0;
      double more = many - few;
      if (more > 0) {
        double mixed = of(both, kind) - of(tasks, kind) - of(directories, kind) + atBase;
        perPair = mixed / (more * 2);
        perTask = (of(tasks, kind) - atBase) / more - 2 * perPair;
      }
      double perDirectory = (of(directories, kind) - atBase) / 2 - few * perPair;
      double fixed = atBase - SMALL * perFile - 2 * perDirectory - few * (perTask + 2 * perPair);
      double[] solution = {fixed, perFile, perDirectory, perTask, perPair};
      predicted += sum(solution, other);
      for (int i = 0; i < solution.length; i++) {
        if (Math.abs(solution[i]) >= 0.05) {
          parts.get(i).put(kind, solution[i]);
        }
      }
    }
    long measured = total(check);
    if (Math.abs(predicted - measured) > TOLERANCE * measured) {
      throw new IllegalStateException(
          "The requests are no sum of parts: " + predicted + " expected, " + measured + " counted");
    }
    return new Cost(parts);
  }

  private static double sum(double[] solution, Shape shape) {
    return solution[0]
        + solution[1] * shape.files()
        + solution[2] * shape.directories()
        + solution[3] * shape.tasks()
        + solution[4] * shape.tasks() * shape.directories();
  }

  private static long of(Map<String, Long> counts, String kind) {
    return counts.getOrDefault(kind, 0L);
  }

  /** As "5 (get 4, list) + 1 a file (rename)". */
  @Override
  public String toString() {
    List<String> terms = new ArrayList<>();
    for (int i = 0; i < UNITS.length; i++) {
      Map<String, Double> part = parts.get(i);
      if (!part.isEmpty()) {
        double total = part.values().stream().mapToDouble(Double::doubleValue).sum();
        terms.add(text(total) + UNITS[i] + " (" + kinds(part) + ")");
      }
    }
    return terms.isEmpty() ? "0" : String.join(" + ", terms);
  }

  static long total(Map<String, Long> counts) {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }

  /** As "get 4, list". */
  static String kinds(Map<String, ? extends Number> counts) {
    return counts.entrySet().stream()
        .map(count -> (count.getKey() + " " + text(count.getValue().doubleValue())))
        .map(text -> text.endsWith(" 1") ? text.substring(0, text.length() - 2) : text)
        .collect(Collectors.joining(", "));
  }

  private static String text(double count) {
    return Math.abs(count - Math.rint(count)) < 0.05
        ? Long.toString(Math.round(count))
        : String.format(Locale.ROOT, "%.1f", count);
  }

  /** Does a step of a job of some shape and counts its requests by kind. */
  @FunctionalInterface
  interface Measurement {
    Map<String, Long> of(Shape shape) throws IOException;
  }
}
