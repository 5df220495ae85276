// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.io.IOException;
import org.apache.hadoop.fs.Path;

/** A file has more bytes than one of its kind can have, so it is none. */
public final class FileTooLongException extends IOException {
  private static final long serialVersionUID = 1L;

  FileTooLongException(Path file, int limit) {
    super(file + " has more than the " + limit + " bytes that such a file can have");
  }
}
