// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.Workers;
import java.io.IOException;
import org.apache.hadoop.fs.Path;

/**
 * What one task attempt writes to stores whose output becomes visible by the completion of uploads.
 */
interface TaskUploads {
  /**
   * A place for a file.
   *
   * @param location {@link TaskOutput#TABLE}, or the path of a custom location
   * @param directory relative to the location
   * @param destination where the file will be visible
   * @return the path to write to
   */
  String newFile(String location, String directory, String fileName, Path destination)
      throws IOException;

  /** Whether the attempt writes nothing here. */
  boolean isEmpty();

  /**
   * Ends the uploads of what was written. A file that was not is left out: the driver says whether
   * that may be.
   *
   * @param to is told what was uploaded
   */
  void upload(TaskOutput.Builder to, Workers workers) throws IOException;

  /** Removes what was written here, and gives up what was uploaded. */
  void delete(Workers workers) throws IOException;
}
