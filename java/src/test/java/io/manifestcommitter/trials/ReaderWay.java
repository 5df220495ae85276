// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import java.util.List;

/** How a store's tables are published. */
enum ReaderWay {
  WHOLE_DIRECTORIES("whole directories"),
  /** Where a file can go to a directory that was taken away, no old file moves aside. */
  OLD_FILES_LAST("whole directories, old files last"),
  FILE_BY_FILE("file by file");

  /** The schemes of the page, and one that stands for all others. */
  static final List<String> SCHEMES =
      List.of("abfs", "abfss", "hdfs", "file", "gs", "gs-folders", "s3a", "mem");

  private static final List<String> ATOMIC =
      List.of("abfs", "abfss", "hdfs", "file", "gs-folders", "mem");

  private final String label;

  ReaderWay(String label) {
    this.label = label;
  }

  /**
   * The way of a store.
   *
   * @param directoryRename the value of {@code mapreduce.manifest.committer.directory.rename}
   */
  static ReaderWay of(String scheme, String directoryRename) {
    if (!directoryRename.equals("auto") || !ATOMIC.contains(scheme)) {
      return FILE_BY_FILE;
    }
    return scheme.equals("gs-folders") ? OLD_FILES_LAST : WHOLE_DIRECTORIES;
  }

  /** As the page has it. */
  String label() {
    return label;
  }
}
