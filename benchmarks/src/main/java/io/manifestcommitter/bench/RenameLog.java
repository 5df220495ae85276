package io.manifestcommitter.bench;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Which files were renamed, a byte a file outside the heap, and what was asked for that no commit
 * of this job should ask for. Safe for use by many threads.
 */
final class RenameLog {
  private static final int SHOWN = 10;

  private final ByteBuffer renamed;
  private final List<String> firstFaults = new ArrayList<>();
  private long faults;

  /** A log of files that are numbered from 0. */
  RenameLog(int files) {
    this.renamed = ByteBuffer.allocateDirect(files);
  }

  /** Notes a rename to the right place; says whether it is the file's first. */
  synchronized boolean rename(int file) {
    if (renamed.get(file) != 0) {
      fault("file " + file + " was renamed again");
      return false;
    }
    renamed.put(file, (byte) 1);
    return true;
  }

  synchronized boolean isRenamed(int file) {
    return renamed.get(file) != 0;
  }

  /** Notes what should not have been asked for. */
  synchronized void fault(String what) {
    faults++;
    if (firstFaults.size() < SHOWN) {
      firstFaults.add(what);
    }
  }

  synchronized long renamedFiles() {
    long count = 0;
    for (int file = 0; file < renamed.capacity(); file++) {
      count += renamed.get(file);
    }
    return count;
  }

  synchronized long faults() {
    return faults;
  }

  /** The first of the faults. */
  synchronized List<String> firstFaults() {
    return new ArrayList<>(firstFaults);
  }
}
