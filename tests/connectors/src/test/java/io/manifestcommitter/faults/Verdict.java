// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.faults;

/** How a run ended, where nothing was wrong with that. */
final class Verdict {
  /** The kinds of ends. */
  enum End {
    /** The faulty call succeeded, and the table is exactly the one it should be. */
    OK,
    /** It failed, with the table exactly as it was before. */
    FAILED_CLEANLY,
    /** It failed with something of the job in the table, which the documented repair sorted out. */
    REPAIRED
  }

  private final End end;
  private final long recovered;

  /**
   * An end.
   *
   * @param recovered renames that the job's report counts as recovered
   */
  Verdict(End end, long recovered) {
    this.end = end;
    this.recovered = recovered;
  }

  End end() {
    return end;
  }

  long recovered() {
    return recovered;
  }
}
