// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.util.EnumMap;
import java.util.Map;

/** How many requests of each kind were made. Immutable. */
final class RequestCounts {
  private final Map<RequestKind, Long> counts;

  RequestCounts(Map<RequestKind, Long> counts) {
    this.counts = new EnumMap<>(RequestKind.class);
    for (RequestKind kind : RequestKind.values()) {
      this.counts.put(kind, counts.getOrDefault(kind, 0L));
    }
  }

  /** The requests of one kind. */
  long of(RequestKind kind) {
    return counts.get(kind);
  }

  /** The requests of all kinds. */
  long all() {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }

  /** The requests that were made since {@code earlier}. */
  RequestCounts since(RequestCounts earlier) {
    Map<RequestKind, Long> difference = new EnumMap<>(RequestKind.class);
    counts.forEach((kind, count) -> difference.put(kind, count - earlier.of(kind)));
    return new RequestCounts(difference);
  }

  /** Both together. */
  RequestCounts plus(RequestCounts other) {
    Map<RequestKind, Long> sum = new EnumMap<>(RequestKind.class);
    counts.forEach((kind, count) -> sum.put(kind, count + other.of(kind)));
    return new RequestCounts(sum);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    counts.forEach(
        (kind, count) -> {
          if (count > 0) {
            text.append(text.length() == 0 ? "" : ", ").append(kind).append(' ').append(count);
          }
        });
    return text.toString();
  }
}
