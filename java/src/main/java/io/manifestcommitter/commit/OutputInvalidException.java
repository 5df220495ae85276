// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.manifest.FileEntry;
import java.io.IOException;

/** A published file is not what the task committed. */
public final class OutputInvalidException extends IOException {
  private static final long serialVersionUID = 1L;

  OutputInvalidException(FileEntry file, String found) {
    super(
        "The published file "
            + file.destination()
            + " should have "
            + file.size()
            + " bytes"
            + (file.etag().isEmpty() ? "" : " and etag " + file.etag())
            + ", but "
            + found
            + ". Something else writes to the table, or the store lost a rename: run the job again.");
  }
}
