// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** What one phase of one job cost. A line of text carries it from the JVM that measured it. */
final class Measurement {
  private static final String MARK = "measured";

  private final Phase phase;
  private final RequestCounts requests;
  private final long wallNanos;
  private final long cpuNanos;
  private final long heapBytes;

  /**
   * A measurement.
   *
   * @param cpuNanos of all threads of the process, those of the JVM itself too
   * @param heapBytes the most that was live beyond what was live before; 0 where not measured
   */
  Measurement(Phase phase, RequestCounts requests, long wallNanos, long cpuNanos, long heapBytes) {
    this.phase = phase;
    this.requests = requests;
    this.wallNanos = wallNanos;
    this.cpuNanos = cpuNanos;
    this.heapBytes = heapBytes;
  }

  Phase phase() {
    return phase;
  }

  RequestCounts requests() {
    return requests;
  }

  long wallNanos() {
    return wallNanos;
  }

  long cpuNanos() {
    return cpuNanos;
  }

  long heapBytes() {
    return heapBytes;
  }

  /** Both parts of one phase, one after the other. */
  Measurement plus(Measurement next) {
    return new Measurement(
        phase,
        requests.plus(next.requests),
        wallNanos + next.wallNanos,
        cpuNanos + next.cpuNanos,
        Math.max(heapBytes, next.heapBytes));
  }

  /** The measurement as a line. */
  String toLine() {
    StringBuilder line = new StringBuilder(MARK);
    line.append(" phase=").append(phase.name());
    line.append(" wall=").append(wallNanos);
    line.append(" cpu=").append(cpuNanos);
    line.append(" heap=").append(heapBytes);
    for (RequestKind kind : RequestKind.values()) {
      line.append(' ').append(kind).append('=').append(requests.of(kind));
    }
    return line.toString();
  }

  /** Reads a line that {@link #toLine} wrote; empty for any other. */
  static Optional<Measurement> parse(String line) {
    String[] words = line.split(" ", -1);
    if (!words[0].equals(MARK)) {
      return Optional.empty();
    }
    Map<String, String> values = new HashMap<>();
    for (int i = 1; i < words.length; i++) {
      int equals = words[i].indexOf('=');
      values.put(words[i].substring(0, equals), words[i].substring(equals + 1));
    }
    Map<RequestKind, Long> counts = new EnumMap<>(RequestKind.class);
    for (RequestKind kind : RequestKind.values()) {
      counts.put(kind, Long.valueOf(values.get(kind.toString())));
    }
    return Optional.of(
        new Measurement(
            Phase.valueOf(values.get("phase")),
            new RequestCounts(counts),
            Long.parseLong(values.get("wall")),
            Long.parseLong(values.get("cpu")),
            Long.parseLong(values.get("heap"))));
  }
}
