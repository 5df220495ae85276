// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.io.IOException;
import org.apache.hadoop.fs.Path;

/**
 * The upload of one file, which no reader sees until its job publishes it: by {@link
 * Store#completeUpload}, or in lakeFS by a merge. It may begin while the file is still written. Not
 * for use by several threads.
 */
public interface FileUpload {
  /** Where to write the file. */
  Path path();

  /** Whether anything was written there. */
  boolean isWritten() throws IOException;

  /**
   * Uploads what of the file is full parts already. For a file that its writer only appends to; of
   * one that it changes {@link #finish} uploads everything once more. Nothing where that uploads
   * all, or each write does.
   */
  default void follow() throws IOException {}

  /**
   * Uploads the rest of the file, which its writer has closed. If that fails nothing is left of the
   * upload, unless that fails too.
   *
   * @return where the file will be, its length, and in its etag the upload, or for lakeFS the
   *     checksum under which it is linked
   */
  StoreEntry finish() throws IOException;

  /** Gives up what was uploaded, also after {@link #finish}. No request if nothing was. */
  void abort() throws IOException;
}
