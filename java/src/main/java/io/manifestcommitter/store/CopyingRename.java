// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

/** What to do about a store whose rename may show a file in part. */
public enum CopyingRename {
  /** It is refused before a job begins. */
  FAIL,
  /**
   * It is served: a reader may see a part of a file while the file is copied and, if the driver
   * dies, until recovery.
   */
  SERVE
}
