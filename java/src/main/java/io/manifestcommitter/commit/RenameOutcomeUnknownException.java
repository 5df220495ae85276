// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.store.RenameResult;
import java.io.IOException;

/**
 * Nothing could be proven about a rename: the file may be at either end. Not the same as a failure.
 */
public final class RenameOutcomeUnknownException extends IOException {
  private static final long serialVersionUID = 1L;

  RenameOutcomeUnknownException(FileEntry file, RenameResult result) {
    super(
        "It is not known whether "
            + file.source()
            + " was renamed to "
            + file.destination()
            + ": "
            + result.explanation()
            + ". Check both paths: a file of "
            + file.size()
            + " bytes at the destination was published,"
            + " one at the source was not.",
        result.cause().orElse(null));
  }
}
