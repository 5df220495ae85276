// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Counts requests. Safe for use by many threads. */
final class RequestCounter {
  private final Map<RequestKind, LongAdder> counts = new EnumMap<>(RequestKind.class);

  RequestCounter() {
    for (RequestKind kind : RequestKind.values()) {
      counts.put(kind, new LongAdder());
    }
  }

  /** Counts one. */
  void count(RequestKind kind) {
    counts.get(kind).increment();
  }

  /** All requests so far. */
  RequestCounts counts() {
    Map<RequestKind, Long> now = new EnumMap<>(RequestKind.class);
    counts.forEach((kind, count) -> now.put(kind, count.sum()));
    return new RequestCounts(now);
  }
}
