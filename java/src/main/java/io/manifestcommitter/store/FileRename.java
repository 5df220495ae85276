// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

/** How a store renames one file. */
public enum FileRename {
  /** In one step: the file is at one end, and whole, at every moment. */
  ATOMIC,
  /**
   * In one step within a volume. To another volume it is copied to a hidden name, which then takes
   * the destination's, and deleted: both ends may exist.
   */
  ATOMIC_WITHIN_VOLUME,
  /** A whole copy appears at the destination, then the source is deleted: both ends may exist. */
  COPIES_OBJECTS,
  /** As {@link #COPIES_OBJECTS}, and while it is copied the destination may be seen in part. */
  COPIES_BYTES;

  /** Whether both ends may exist after a rename that failed, or whose process died. */
  public boolean mayLeaveBothEnds() {
    return this != ATOMIC;
  }

  /** As {@link #mayLeaveBothEnds}, also of a rename within one directory. */
  public boolean mayLeaveBothEndsInPlace() {
    return this == COPIES_OBJECTS || this == COPIES_BYTES;
  }

  /** Whether the destination may be seen in part. */
  public boolean mayShowParts() {
    return this == COPIES_BYTES;
  }
}
