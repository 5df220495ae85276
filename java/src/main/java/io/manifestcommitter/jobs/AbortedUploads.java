// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import java.util.Optional;

/** What became of the uploads of a job whose staging directory was removed. */
public final class AbortedUploads {
  private final int aborted;
  private final String unknown;

  private AbortedUploads(int aborted, String unknown) {
    this.aborted = aborted;
    this.unknown = unknown;
  }

  static AbortedUploads none() {
    return aborted(0);
  }

  static AbortedUploads aborted(int count) {
    return new AbortedUploads(count, null);
  }

  static AbortedUploads unknown(String why) {
    return new AbortedUploads(0, why);
  }

  /** How many its plan named: they are aborted, whether or not they waited. */
  public int aborted() {
    return aborted;
  }

  /** Why they may still wait: its plan cannot be used. Empty if none does that it named. */
  public Optional<String> unknown() {
    return Optional.ofNullable(unknown);
  }
}
