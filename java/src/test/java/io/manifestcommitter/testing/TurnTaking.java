// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * Lets the clients of a store make one request at a time, in an order that a seed decides: a
 * request begins when every client that still runs waits at the gate, and it is its turn.
 */
public final class TurnTaking implements MemoryStoreState.Gate {
  private final Random random;
  private final int longestRow;
  private final Observer observer;
  private final Map<String, Deque<Object>> waiting = new TreeMap<>();
  private Object turn;
  private String last = "";
  private int leftInRow;

  /**
   * An order of requests.
   *
   * @param observer looks at the store before each request, when nothing else happens
   * @param clients the names of those who take part, from the start
   */
  public TurnTaking(long seed, Observer observer, String... clients) {
    this(seed, 1, observer, clients);
  }

  /**
   * An order of requests in which a client may make several in a row, also while others wait.
   *
   * @param longestRow how many at most, before it is decided anew
   * @param observer looks at the store before each request, when nothing else happens
   * @param clients the names of those who take part, from the start
   */
  public TurnTaking(long seed, int longestRow, Observer observer, String... clients) {
    this.random = new Random(seed);
    this.longestRow = longestRow;
    this.observer = observer;
    for (String client : clients) {
      waiting.put(client, new ArrayDeque<>());
    }
  }

  @Override
  public synchronized void pass(String client, String operation, String path) {
    Deque<Object> own = waiting.get(client);
    if (own == null) {
      throw new IllegalStateException(client + " does not take part, or has left");
    }
    Object ticket = new Object();
    own.add(ticket);
    chooseIfAllWait();
    boolean interrupted = false;
    while (turn != ticket) {
      try {
        wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    turn = null;
    own.remove(ticket);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    observer.before(client, operation, path);
  }

  /** Another request of the same client may have waited for this one. */
  @Override
  public synchronized void done() {
    chooseIfAllWait();
  }

  /** A client makes no more requests; the others no longer wait for it. */
  public synchronized void leave(String client) {
    waiting.remove(client);
    chooseIfAllWait();
  }

  private void chooseIfAllWait() {
    if (turn != null || waiting.isEmpty() || waiting.values().stream().anyMatch(Deque::isEmpty)) {
      return;
    }
    if (leftInRow == 0 || !waiting.containsKey(last)) {
      last = new ArrayList<>(waiting.keySet()).get(random.nextInt(waiting.size()));
      leftInRow = longestRow == 1 ? 1 : 1 + random.nextInt(longestRow);
    }
    leftInRow--;
    turn = waiting.get(last).peek();
    notifyAll();
  }

  /** Sees each request before it begins. */
  @FunctionalInterface
  public interface Observer {
    /** Looks; nothing else happens in the store meanwhile. */
    void before(String client, String operation, String path);
  }
}
