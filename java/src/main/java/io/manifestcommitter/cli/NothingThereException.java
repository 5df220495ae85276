// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import java.io.FileNotFoundException;
import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.CallableRaisingIOE;

/** A path that a user named, and that does not exist. The Python package knows it by its name. */
final class NothingThereException extends FileNotFoundException {
  private static final long serialVersionUID = 1L;

  NothingThereException(Path path) {
    super("There is nothing at " + path + ": check the path");
  }

  /** What a look at a path finds, which fails by this where nothing is. */
  static <T> T unlessMissing(Path path, CallableRaisingIOE<T> look) throws IOException {
    try {
      return look.apply();
    } catch (FileNotFoundException e) {
      NothingThereException missing = new NothingThereException(path);
      missing.initCause(e);
      throw missing;
    }
  }
}
