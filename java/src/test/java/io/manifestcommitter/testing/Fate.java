// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.util.List;
import org.apache.hadoop.fs.FSError;

/** What happens to a request. */
public enum Fate {
  /** It is done and answered. */
  NORMAL,
  /** It is not done, and fails. */
  FAILS_BEFORE,
  /** It is done, and the answer is lost. */
  FAILS_AFTER,
  /** Of what answers whether it was done: not done, and answers false; any other fails before. */
  ANSWERS_FALSE,
  /** Of what answers whether it was done: done, and answers false; any other fails after. */
  DONE_ANSWERS_FALSE,
  /**
   * Fails in its middle: the deletion of a tree has deleted the first half of its files, the
   * creation of a file has written half of its content; any other request fails before. Only a
   * store in memory does so.
   */
  HALF_DONE,
  /**
   * As {@link #FAILS_BEFORE}, with the {@link Error} by which a local disk says that it is full.
   */
  DISK_FAILS_BEFORE,
  /** As {@link #FAILS_AFTER}, with that {@link Error}. */
  DISK_FAILS_AFTER,
  /** As {@link #FAILS_BEFORE}, with the {@link Error} of classes that do not fit together. */
  BREAKS_BEFORE,
  /** As {@link #FAILS_AFTER}, with that {@link Error}. */
  BREAKS_AFTER;

  /** Those that end in an {@link Error}. */
  public static final List<Fate> ERRORS =
      List.of(DISK_FAILS_BEFORE, DISK_FAILS_AFTER, BREAKS_BEFORE, BREAKS_AFTER);

  /** Of each of the {@link #ERRORS}, a sample takes one request in so many. */
  private static final int ONE_IN = 6;

  /** Whether the client meets an {@link Error} that it does not take for a failed request. */
  public boolean breaks() {
    return this == BREAKS_BEFORE || this == BREAKS_AFTER;
  }

  /**
   * Whether to try this at a request: one that ends in an {@link Error} at some, or at all with
   * {@code -Dcrashes.mode=full}; any other at each.
   *
   * @param draw a number that differs from request to request
   */
  public boolean isTriedAt(int draw) {
    return !ERRORS.contains(this)
        || Math.floorMod(draw + ERRORS.indexOf(this), ONE_IN) == 0
        || Cases.fromProperties("crashes").isFull();
  }

  /** What becomes of the request, whatever the client is told. */
  Fate effect() {
    return switch (this) {
      case DISK_FAILS_BEFORE, BREAKS_BEFORE -> FAILS_BEFORE;
      case DISK_FAILS_AFTER, BREAKS_AFTER -> FAILS_AFTER;
      default -> this;
    };
  }

  /**
   * What the client is told.
   *
   * @throws Error where that is one
   */
  IOException failure(String what) {
    IOException failure = new IOException(what);
    if (breaks()) {
      throw new NoSuchMethodError(what);
    }
    if (ERRORS.contains(this)) {
      throw diskFailure(failure);
    }
    return failure;
  }

  /** Only Hadoop can make one. */
  private static FSError diskFailure(IOException cause) {
    try {
      Constructor<FSError> constructor = FSError.class.getDeclaredConstructor(Throwable.class);
      constructor.setAccessible(true);
      return constructor.newInstance(cause);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("FSError", e);
    }
  }
}
