// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.Upload;
import io.manifestcommitter.store.RenameResult;
import java.io.IOException;

/**
 * Nothing could be proven about a rename: the file may be at either end. Or about the completion of
 * an upload: the file may be at its place, or wait. Not the same as a failure.
 */
public final class RenameOutcomeUnknownException extends IOException {
  private static final long serialVersionUID = 1L;

  RenameOutcomeUnknownException(FileEntry file, RenameResult result) {
    super(
        Upload.in(file.etag()).isPresent()
            ? told("the upload of " + file.destination() + " was completed", result)
                + ("that path: a file of " + file.size() + " bytes there was published.")
            : told(file.source() + " was renamed to " + file.destination(), result)
                + ("both paths: a file of " + file.size() + " bytes at the destination was")
                + " published, one at the source was not.",
        result.cause().orElse(null));
  }

  private static String told(String what, RenameResult result) {
    return "It is not known whether " + what + ": " + result.explanation() + ". Check ";
  }
}
