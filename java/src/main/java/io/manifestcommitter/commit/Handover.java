// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;

/**
 * Hands things from many threads to one, a bounded number at a time. Neither side can be
 * interrupted while it waits: an interrupt is remembered for when the wait is over.
 */
final class Handover<T> {
  private final int capacity;
  private final Queue<T> waiting = new ArrayDeque<>();
  private boolean complete;
  private boolean abandoned;

  Handover(int capacity) {
    this.capacity = capacity;
  }

  /**
   * Hands one over, waiting while there are too many.
   *
   * @throws AbandonedException if nobody takes any more
   */
  synchronized void put(T item) throws AbandonedException {
    Objects.requireNonNull(item);
    waitWhile(() -> waiting.size() >= capacity && !abandoned);
    if (abandoned) {
      throw new AbandonedException();
    }
    waiting.add(item);
    notifyAll();
  }

  /** Takes one, waiting for it; null once all were taken and no more will come. */
  synchronized T take() {
    waitWhile(() -> waiting.isEmpty() && !complete);
    T item = waiting.poll();
    notifyAll();
    return item;
  }

  /** Nothing more will be handed over. */
  synchronized void complete() {
    complete = true;
    notifyAll();
  }

  /** Nothing more will be taken. */
  synchronized void abandon() {
    abandoned = true;
    notifyAll();
  }

  private void waitWhile(Condition condition) {
    boolean interrupted = false;
    while (condition.holds()) {
      try {
        wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private interface Condition {
    boolean holds();
  }

  /** The taker gave up. */
  static final class AbandonedException extends IOException {
    private static final long serialVersionUID = 1L;

    AbandonedException() {
      super("The consumer has stopped");
    }
  }
}
