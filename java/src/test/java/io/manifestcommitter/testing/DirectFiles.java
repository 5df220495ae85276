// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.io.IOException;
import java.util.NavigableMap;
import java.util.NavigableSet;

/**
 * What lies below one directory, seen and changed past the committer: without requests, without
 * faults. Paths are relative to the directory, with {@code /} between components.
 */
public interface DirectFiles {
  /** The content of all files. */
  NavigableMap<String, String> files() throws IOException;

  /** All directories, of all levels. */
  NavigableSet<String> directories() throws IOException;

  /** The content of a file. */
  byte[] bytes(String relative) throws IOException;

  /** Writes or replaces a file and makes its parents. */
  void write(String relative, byte[] content) throws IOException;

  /** Makes a directory and its parents. */
  void mkdirs(String relative) throws IOException;

  /** Deletes a file or a tree, if it is there. */
  void delete(String relative) throws IOException;
}
