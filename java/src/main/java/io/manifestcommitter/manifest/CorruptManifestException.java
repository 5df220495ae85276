// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.io.IOException;

/**
 * A manifest, report or file list that cannot be trusted: damaged, cut short, or not what it was
 * taken for. The message names the file, what is wrong with it and what to do.
 */
public class CorruptManifestException extends IOException {
  private static final long serialVersionUID = 1L;

  /** A complete message. */
  public CorruptManifestException(String message) {
    super(message);
  }

  /** A complete message, and what was thrown when the file was read. */
  public CorruptManifestException(String message, Throwable cause) {
    super(message, cause);
  }
}
