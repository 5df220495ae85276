// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.progress.Waiting;
import java.io.IOException;

/** What a job does between two looks at another one. */
@FunctionalInterface
public interface Pause {
  /**
   * Waits a while; fails if the job is to wait no more.
   *
   * @param forWhat for which job it waits, and why
   */
  void pause(Waiting forWhat) throws IOException;
}
