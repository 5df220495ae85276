// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many requests wait for one another. A request comes after those that its thread made, and
 * after those that this thread's threads made which it has started before; a thread comes after
 * what its starter had done by then. Right for threads that are joined by those who start them.
 */
public final class RequestDepth {
  private final AtomicInteger most = new AtomicInteger();

  @SuppressWarnings("ThreadLocalUsage")
  private final InheritableThreadLocal<Line> lines =
      new InheritableThreadLocal<>() {
        @Override
        protected Line initialValue() {
          return new Line(null);
        }

        @Override
        protected Line childValue(Line starter) {
          return new Line(starter);
        }
      };

  /** Counts what this thread does from here on, and all that it starts. */
  public RequestDepth() {
    lines.get();
  }

  /** Notes that this thread begins a request; its place in the sequence, from 1. */
  public int begin() {
    int depth = lines.get().next();
    most.accumulateAndGet(depth, Math::max);
    return depth;
  }

  /** Notes that it is answered: who waits for this thread goes on after it. */
  public void end() {
    lines.get().tellStarters();
  }

  /** The longest sequence so far. */
  public int longest() {
    return most.get();
  }

  /** What one thread has done, with all that it started. */
  private static final class Line {
    private final Line starter;
    private int depth;

    Line(Line starter) {
      this.starter = starter;
      this.depth = starter == null ? 0 : starter.depth();
    }

    synchronized int depth() {
      return depth;
    }

    synchronized int next() {
      return ++depth;
    }

    void tellStarters() {
      int now = depth();
      for (Line line = starter; line != null; line = line.starter) {
        line.atLeast(now);
      }
    }

    private synchronized void atLeast(int other) {
      depth = Math.max(depth, other);
    }
  }
}
