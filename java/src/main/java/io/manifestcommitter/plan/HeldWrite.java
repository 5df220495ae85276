// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.plan;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/**
 * What the plan of a held job says besides. The job has ended with nothing visible, and somebody
 * who publishes it later has to know what it took for granted.
 */
public final class HeldWrite {
  private final List<Path> only;
  private final Optional<String> name;

  /**
   * Of one job.
   *
   * @param only the places where no other data may be than what the plan replaces
   * @param name which the writer gave the job, if it did
   */
  public HeldWrite(Collection<Path> only, Optional<String> name) {
    this.only = List.copyOf(only);
    this.name = name;
  }

  /**
   * The places where the job may be published only over the state that it saw. Whatever the plan
   * replaces is in one of them. Empty for a write that adds to what is there.
   */
  public List<Path> only() {
    return only;
  }

  /** Which the writer gave the job. */
  public Optional<String> name() {
    return name;
  }
}
