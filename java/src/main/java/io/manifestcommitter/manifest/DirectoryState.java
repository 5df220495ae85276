// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

/**
 * What a task found at the destination of a directory. The codes are those of Hadoop's committer.
 */
public enum DirectoryState {
  /** Nobody looked. */
  UNKNOWN(0),
  /** Nothing was there. */
  NOT_FOUND(1),
  /** A file was there. */
  FILE(2),
  /** A directory was there. */
  DIRECTORY(3),
  /** The directory was made by this job. */
  CREATED(4);

  private final int code;

  DirectoryState(int code) {
    this.code = code;
  }

  /** The number in the manifest. */
  public int code() {
    return code;
  }

  /**
   * The state with a number.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static DirectoryState of(int code) {
    for (DirectoryState state : values()) {
      if (state.code == code) {
        return state;
      }
    }
    throw new IllegalArgumentException("there is no directory type " + code);
  }
}
