// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.util.Locale;

/** What a store can be asked. A listing of any size is one request, and so is reading a file. */
enum RequestKind {
  MKDIRS,
  LIST,
  STATUS,
  OPEN,
  CREATE,
  /** What ends a file that was created, with its content, if it has any. */
  CLOSE,
  RENAME,
  DELETE,
  INITIATE,
  PART,
  COMPLETE;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
