// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.store.RenameResult;
import java.io.IOException;

/** A file was proven not to have moved. */
public final class RenameFailedException extends IOException {
  private static final long serialVersionUID = 1L;

  RenameFailedException(FileEntry file, RenameResult result) {
    super(
        "Could not publish "
            + file.destination()
            + ": "
            + result.explanation()
            + ". Run the job again; if it fails in the same way, look at what stands at the destination"
            + " and at the rights there.",
        result.cause().orElse(null));
  }
}
