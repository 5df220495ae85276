// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.io.IOException;

/**
 * A manifest, report or file list that cannot be trusted: damaged, cut short, or not what it was
 * taken for. The message names the file, what is wrong with it and what to do.
 */
public class CorruptManifestException extends IOException {
  private static final long serialVersionUID = 1L;

  private boolean isCutShort;

  /** A complete message. */
  public CorruptManifestException(String message) {
    super(message);
  }

  /** A complete message, and what was thrown when the file was read. */
  public CorruptManifestException(String message, Throwable cause) {
    super(message, cause);
  }

  /** The same, of a file that ends before its end. */
  CorruptManifestException cutShort() {
    isCutShort = true;
    return this;
  }

  /** Whether the file ends before its end: its writer died, or has not finished. */
  public boolean isCutShort() {
    return isCutShort;
  }
}
