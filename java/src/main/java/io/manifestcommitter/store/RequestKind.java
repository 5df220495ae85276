// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.manifest.StatisticNames;

/** What a request asks of the store: the words for it in an error, and what it is counted as. */
public enum RequestKind {
  LOOK("a look at", StatisticNames.OP_GET_FILE_STATUS),
  LIST("the listing of", StatisticNames.OP_LIST_STATUS),
  FIND_RENAMES("a look for renames below", StatisticNames.OP_LIST_STATUS),
  MAKE_DIRECTORIES("mkdirs of", StatisticNames.OP_MKDIRS),
  RENAME("rename of", StatisticNames.OP_RENAME),
  READ("reading", StatisticNames.OP_OPEN),
  WRITE("writing", StatisticNames.OP_CREATE),
  DELETE("deletion of", StatisticNames.OP_DELETE),
  CHECKSUM("the checksum of", StatisticNames.OP_GET_FILE_CHECKSUM),
  ACCESS("the access to", StatisticNames.OP_ACCESS),
  UPLOAD("the upload of", StatisticNames.MULTIPART_UPLOAD_PART_PUT),
  COMPLETE_UPLOAD("the completion of", StatisticNames.MULTIPART_UPLOAD_COMPLETED),
  ABANDON_UPLOAD("giving up the upload of", StatisticNames.MULTIPART_UPLOAD_ABORTED);

  private final String words;

  /** The counter of such requests. */
  final String statistic;

  RequestKind(String words, String statistic) {
    this.words = words;
    this.statistic = statistic;
  }

  /** Names such a request in an error. */
  String of(Object subject) {
    return words + " " + subject;
  }
}
