// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.progress;

/** Hears of the commits of this JVM. What it throws is logged, and harms no commit. */
public interface CommitListener {
  /** A commit has begun; called by its thread. */
  void begun(CommitProgress commit);

  /** A commit has ended; called by its thread. */
  void ended(CommitSnapshot commit);
}
