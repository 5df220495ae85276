// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.util.Locale;

/** What a store can be asked. A listing of any size is one request, and so is a content. */
enum RequestKind {
  MKDIRS,
  LIST,
  STATUS,
  OPEN,
  CREATE,
  /** The content of a file that was created, at its close; an empty file has none. */
  WRITE,
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
