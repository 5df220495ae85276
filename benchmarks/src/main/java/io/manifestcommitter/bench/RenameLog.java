// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.nio.ByteBuffer;

/** Which files were renamed, a byte a file outside the heap. Safe for use by many threads. */
final class RenameLog {
  private final ByteBuffer renamed;
  private final Faults faults;

  /** A log of files that are numbered from 0. */
  RenameLog(int files, Faults faults) {
    this.faults = faults;
    this.renamed = ByteBuffer.allocateDirect(files);
  }

  /** Notes a rename to the right place; says whether it is the file's first. */
  synchronized boolean rename(int file) {
    if (renamed.get(file) != 0) {
      faults.add("file " + file + " was renamed again");
      return false;
    }
    renamed.put(file, (byte) 1);
    return true;
  }

  synchronized boolean isRenamed(int file) {
    return renamed.get(file) != 0;
  }

  synchronized long renamedFiles() {
    long count = 0;
    for (int file = 0; file < renamed.capacity(); file++) {
      count += renamed.get(file);
    }
    return count;
  }
}
