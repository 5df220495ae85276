// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import io.manifestcommitter.emulator.Protocol.Operation;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * The requests that were answered, or dropped, in that order. An entry is made before the first
 * byte of its response is sent: who has the response finds the entry.
 */
public final class RequestLog {
  /** So many entries are kept; of more, the last ones. Counts are of all. */
  public static final int CAPACITY = 200_000;

  private final Deque<Entry> entries = new ArrayDeque<>();
  private final Map<String, Long> counts = new TreeMap<>();

  RequestLog() {}

  synchronized void add(Entry entry) {
    if (entries.size() == CAPACITY) {
      entries.removeFirst();
    }
    entries.addLast(entry);
    counts.merge(entry.operation(), 1L, Long::sum);
  }

  /** The last {@link #CAPACITY} requests, the oldest first. */
  public synchronized List<Entry> entries() {
    return List.copyOf(entries);
  }

  /** Requests by operation, those included that were refused or dropped. */
  public synchronized Map<String, Long> counts() {
    return Collections.unmodifiableMap(new TreeMap<>(counts));
  }

  /** Forgets entries and counts. */
  public synchronized void clear() {
    entries.clear();
    counts.clear();
  }

  /**
   * One request and what became of it.
   *
   * @param number from 1, in the order in which requests arrived
   * @param method the HTTP method as sent
   * @param status the HTTP status sent; 0 where the connection was dropped
   */
  public record Entry(long number, String method, Operation asked, int status, Cause decider) {
    /** What was asked for: "rename", "list", "append". */
    public String operation() {
      return asked.name();
    }

    /** Decoded, from the root of the container or bucket; of a rename the destination. */
    public String path() {
      return asked.path();
    }

    /** Whether the connection was closed without a response. */
    public boolean dropped() {
      return status == 0;
    }

    /** Whether the account's request rate refused it. */
    public boolean refusedByLimit() {
      return decider == Cause.LIMIT;
    }

    /** Whether a fault rule decided the answer, or when it came. */
    public boolean faulted() {
      return decider == Cause.FAULT;
    }

    /** "store", "limit" or "fault": who decided the answer. */
    public String cause() {
      return decider.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public String toString() {
      return number
          + " "
          + method
          + " "
          + asked
          + " "
          + (dropped() ? "dropped" : Integer.toString(status))
          + (decider == Cause.STORE ? "" : " by " + cause());
    }
  }

  /** Who decided the answer. */
  enum Cause {
    STORE,
    LIMIT,
    FAULT
  }
}
