// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.function.Supplier;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The rename of a directory, which may be asked for again after the store refused it: from the
 * second time on it looks first, because most stores would put a directory that was renamed, and
 * made again since, inside itself.
 */
final class DirectoryRename implements RequestGate.Request<Boolean> {
  private final Supplier<FileSystem> fs;
  private final Path source;
  private final Path destination;
  private final RequestGate.Request<Boolean> rename;
  private boolean asked;

  /**
   * A rename.
   *
   * @param rename asks the store for it
   */
  DirectoryRename(
      Supplier<FileSystem> fs, Path source, Path destination, RequestGate.Request<Boolean> rename) {
    this.fs = fs;
    this.source = source;
    this.destination = destination;
    this.rename = rename;
  }

  /** Whether the store said yes; no also if there is nothing left to be asked for. */
  @Override
  public Boolean run() throws IOException {
    if (asked && (exists(destination) || !exists(source))) {
      return false;
    }
    asked = true;
    return rename.run();
  }

  private boolean exists(Path path) throws IOException {
    try {
      fs.get().getFileStatus(path);
      return true;
    } catch (FileNotFoundException e) {
      return false;
    }
  }
}
