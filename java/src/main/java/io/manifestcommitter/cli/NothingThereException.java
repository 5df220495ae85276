// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import java.io.FileNotFoundException;
import org.apache.hadoop.fs.Path;

/** A path that a user named, and that does not exist. The Python package knows it by its name. */
final class NothingThereException extends FileNotFoundException {
  private static final long serialVersionUID = 1L;

  NothingThereException(Path path, Throwable cause) {
    super("There is nothing at " + path + ": check the path");
    initCause(cause);
  }
}
