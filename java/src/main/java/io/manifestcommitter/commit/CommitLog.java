// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import java.io.IOException;

/**
 * What a commit that has begun writes down in the store while it goes, so that whoever finds it
 * knows how far it came. It begins with what makes one: the journal is there before the first
 * change.
 */
public interface CommitLog {
  /**
   * Notes that the new data is complete at its place, and that the old goes from here on: the
   * commit is not rolled back any more. If this fails, nobody here may say whether it was noted.
   */
  void pointOfNoReturn() throws IOException;

  /**
   * Requires that nobody else has taken the commit from this driver. One request.
   *
   * @throws IOException if somebody has
   */
  void requireHeld() throws IOException;

  /** Notes that nothing is left to do but to clean up. */
  void end() throws IOException;
}
