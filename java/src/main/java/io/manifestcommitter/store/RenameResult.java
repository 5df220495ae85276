// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.io.IOException;
import java.util.Objects;
import java.util.Optional;

/**
 * How a rename ended, as far as it is proven.
 *
 * <p>A store's own answer is not enough. A lost response that is retried answers "no" for a rename
 * that was done; ABFS and GCS drivers do this under load. So a "no" is always checked at both ends.
 */
public final class RenameResult {
  /** What is known about the rename. */
  public enum Outcome {
    /** The store said yes. */
    RENAMED,
    /** The store said no or failed, and both ends show that it was done. */
    RECOVERED,
    /** Proven not done: the source is where it was and the destination is not ours. */
    FAILED,
    /** Neither is proven, or both ends are there. Both paths have to be looked at. */
    UNKNOWN
  }

  private static final RenameResult RENAMED =
      new RenameResult(Outcome.RENAMED, "renamed", null, null);

  private final Outcome outcome;
  private final String explanation;
  private final IOException cause;
  private final StoreEntry inTheWay;

  private RenameResult(
      Outcome outcome, String explanation, IOException cause, StoreEntry inTheWay) {
    this.outcome = outcome;
    this.explanation = Objects.requireNonNull(explanation);
    this.cause = cause;
    this.inTheWay = inTheWay;
  }

  /** The store said yes. */
  public static RenameResult renamed() {
    return RENAMED;
  }

  /** The store said no, yet it was done. */
  public static RenameResult recovered(String explanation, IOException cause) {
    return new RenameResult(Outcome.RECOVERED, explanation, cause, null);
  }

  /** Proven not done. */
  public static RenameResult failed(String explanation, IOException cause) {
    return new RenameResult(Outcome.FAILED, explanation, cause, null);
  }

  /** Not proven either way. */
  public static RenameResult unknown(String explanation, IOException cause) {
    return new RenameResult(Outcome.UNKNOWN, explanation, cause, null);
  }

  /** As this, and the source is proven to be where it was while something stands at its goal. */
  public RenameResult inTheWay(StoreEntry entry) {
    return new RenameResult(outcome, explanation, cause, Objects.requireNonNull(entry));
  }

  /**
   * What stands at the destination, where the source is proven to be where it was. While it stands
   * there, trying again is useless, and nothing of the source's is lost if it goes.
   */
  public Optional<StoreEntry> inTheWay() {
    return Optional.ofNullable(inTheWay);
  }

  /** What is known. */
  public Outcome outcome() {
    return outcome;
  }

  /** Whether the source is now at the destination. */
  public boolean isDone() {
    return outcome == Outcome.RENAMED || outcome == Outcome.RECOVERED;
  }

  /** What was seen at both ends, for a message. */
  public String explanation() {
    return explanation;
  }

  /** What the store threw, where it threw. */
  public Optional<IOException> cause() {
    return Optional.ofNullable(cause);
  }

  /** The failure of a rename that had to be done: {@code what} was tried, and what was seen. */
  public IOException failure(String what) {
    return new IOException(what + ": " + explanation, cause);
  }

  /**
   * Requires that the source is now at the destination.
   *
   * @param what was tried, for the message
   * @throws IOException if it is not, or that is not proven
   */
  public void orThrow(String what) throws IOException {
    if (!isDone()) {
      throw failure(what);
    }
  }

  @Override
  public String toString() {
    return outcome + ": " + explanation;
  }
}
