// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

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
  HALF_DONE
}
