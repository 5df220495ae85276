// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.hdfs.protocol.NSQuotaExceededException;
import org.apache.hadoop.security.AccessControlException;

/**
 * What a store has no room for, or its user no right to. In all of them files and directories are
 * read, renamed and deleted as ever. Each refuses as the store does that is the least kind about
 * it.
 */
public enum Shortage {
  /** There is room for everything. */
  NONE,
  /**
   * A full disk: a new file is there, and stays empty; one that is written again is empty, too. No
   * directory is made.
   */
  FULL_DISK,
  /** No file or directory is made; one that is there may be written again. */
  NO_INODES,
  /** The same on HDFS, where one that is written again is deleted first. */
  QUOTA,
  /** Nothing is made or written. */
  NO_RIGHT;

  private static final String FULL = "No space left on device";

  /** Those that a store may have, by its scheme; a rename there is no copy, which needs room. */
  public static List<Shortage> of(String scheme) {
    if (scheme.equals("s3a")) {
      return List.of(NO_RIGHT);
    }
    if (scheme.equals("gs")) {
      // It does not run full, and who may not create there may not move either.
      return List.of();
    }
    List<Shortage> all = new ArrayList<>(List.of(FULL_DISK, NO_INODES, NO_RIGHT));
    if (scheme.equals("hdfs")) {
      all.add(QUOTA);
    }
    return all;
  }

  /** Fails if there may be no new file of this name. */
  void requireNewFile(String path) throws IOException {
    if (this == NO_INODES) {
      // As Java tells it of a local disk.
      throw new FileNotFoundException(path + " (" + FULL + ")");
    }
    requireNew(path);
  }

  /** Fails if there may be no new directory of this name. */
  void requireNewDirectory(String path) throws IOException {
    if (isFull() || this == NO_INODES) {
      throw new IOException(path + ": " + FULL);
    }
    requireNew(path);
  }

  private void requireNew(String path) throws IOException {
    requireRight(path);
    if (this == QUOTA) {
      throw new NSQuotaExceededException("The NameSpace quota is exceeded, for " + path);
    }
  }

  /** Fails if nothing may be written at this path, whether or not there is something. */
  void requireRight(String path) throws IOException {
    if (this == NO_RIGHT) {
      throw new AccessControlException("Permission denied: CREATE of " + path);
    }
  }

  /** Fails if there is no room for the content of a file. */
  void requireRoom(String path) throws IOException {
    requireRight(path);
    if (isFull()) {
      throw new IOException(FULL + ": " + path);
    }
  }

  private boolean isFull() {
    return this == FULL_DISK;
  }

  /** Whether the old file is gone when there is no room for the new one. */
  boolean deletesFirst() {
    return this == QUOTA;
  }

  /** How it is called in the name of a case. */
  public String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
